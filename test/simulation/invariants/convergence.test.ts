import { expect, test } from '@jest/globals';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { networkRig } from '../../unit/simulator/cloud/network-rig.ts';
import { idleOf } from './convergence.ts';

const primaryAddress = '10.0.0.48';
const other = '10.0.0.99';
const idle = {
  deviceIndex: 1,
  addresses: [primaryAddress],
  prefixes: [] as string[],
  ipv6Prefixes: [] as string[],
};

test.each([
  ['has only its primary address', idle, undefined, true],
  ['has an address for pods', { ...idle, addresses: [primaryAddress, other] }, undefined, false],
  ['has a prefix', { ...idle, prefixes: ['10.0.0.64/28'] }, undefined, false],
  ['has an IPv6 prefix', { ...idle, ipv6Prefixes: ['2600:1f14:1:1:a::/80'] }, undefined, false],
  ['is not for pods', { ...idle, deviceIndex: 0 }, undefined, false],
  ['is idle while a pod uses another address', idle, other, true],
  ['has a pod on its primary address, which that pod lost before', idle, primaryAddress, false],
])('an interface that %s', (_, parts, used, expected) => {
  const { network } = networkRig();
  const item = {
    ...createInterface(network, plainInterface('subnet-0000000a', [])),
    ...parts,
    primaryAddress,
  };
  const addressesInUse = new Map(used === undefined ? [] : [[used, 'default/pod']]);

  const found = idleOf([item], { facts: {} as NodeFacts, addressesInUse });

  expect(found).toEqual(expected ? [item] : []);
});
