import { describe, expect, test } from '@jest/globals';
import {
  type PlannedStep,
  podAddressesGained,
  subnetAddressesUsed,
} from '../../../../src/node/allocate/planned-step.ts';
import { requirements } from '../allocation-facts.ts';

const created: PlannedStep = {
  kind: 'createInterface',
  subnetId: 'subnet-1',
  securityGroupIds: [],
  deviceIndex: 1,
  count: 4,
  prefixCount: 0,
};
const createdWithPrefixes: PlannedStep = { ...created, count: 0, prefixCount: 2 };
const delegated: PlannedStep = {
  kind: 'allocatePrefixes',
  interfaceId: 'eni-0',
  subnetId: 'subnet-1',
  count: 3,
};
const filled: PlannedStep = { kind: 'allocateIPs', interfaceId: 'eni-0', subnetId: 'subnet-1', count: 5 };

describe('the addresses that a step brings', () => {
  test.each([
    ['addresses on an interface', filled, false, 5, 5],
    ['addresses on an interface, the node using primary ones', filled, true, 5, 5],
    ['a new interface', created, false, 4, 5],
    ['a new interface whose primary address counts', created, true, 5, 5],
    ['prefixes on an interface', delegated, false, 48, 48],
    ['prefixes on an interface, the node using primary ones', delegated, true, 48, 48],
    ['a new interface with prefixes', createdWithPrefixes, false, 32, 33],
    ['a new interface with prefixes whose primary address counts', createdWithPrefixes, true, 33, 33],
  ])('are counted for %s', (_, step, usePrimaryAddress, gained, taken) => {
    expect(podAddressesGained(step, requirements({ usePrimaryAddress }))).toBe(gained);
    expect(subnetAddressesUsed(step)).toBe(taken);
  });
});
