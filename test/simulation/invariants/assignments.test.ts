import { expect, test } from '@jest/globals';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { networkRig } from '../../unit/simulator/cloud/network-rig.ts';
import { Assignments } from './assignments.ts';

const lost = '10.0.0.48';
const other = '10.0.0.99';
const [node, stranger] = ['i-00000001', 'i-00000002'];

/** An interface, attached or not, with these addresses, the primary one first, and these prefixes. */
function interfaceWith(
  id: string,
  instanceId: string | undefined,
  addresses: readonly string[],
  prefixes: readonly string[] = [],
): NetworkInterface {
  const { network } = networkRig();
  const made = createInterface(network, plainInterface('subnet-0000000a', []));
  const [primaryAddress = ''] = addresses;
  return {
    ...made,
    id,
    primaryAddress,
    addresses,
    prefixes,
    ...(instanceId !== undefined && { instanceId }),
  };
}

test('an instance has the addresses of its interface for its pods, except the primary one', () => {
  const assignments = new Assignments(() => 0);

  assignments.change(undefined, interfaceWith('eni-1', node, [other, lost], ['10.0.0.64/28']));

  expect([other, lost, '10.0.0.70', '10.0.0.80'].map((each) => assignments.has(node, each))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test.each([
  ['is on no interface', undefined, 1000],
  ['is the primary address of a new interface', interfaceWith('eni-2', node, [lost, other]), 1000],
  ['is a secondary address of a new interface', interfaceWith('eni-2', node, [other, lost]), Infinity],
  ['is in a prefix of a new interface', interfaceWith('eni-2', node, [other], ['10.0.0.48/28']), Infinity],
  ['is on another instance', interfaceWith('eni-2', stranger, [other, lost]), 1000],
])('an address that was lost at 1000 ms and now %s was last held at the right time', (_, next, lastHad) => {
  let now = 0;
  const assignments = new Assignments(() => now);
  const [attached, detached] = [node, undefined].map((at) => interfaceWith('eni-1', at, ['10.0.0.11', lost]));
  assignments.change(undefined, attached);
  now = 1000;
  assignments.change(attached, detached);

  now = 2000;
  assignments.change(detached, undefined);
  assignments.change(undefined, next);

  expect(assignments.lastHad(node, lost)).toBe(lastHad);
});
