import { expect, test } from '@jest/globals';
import { OwnUnassignments } from './own-unassignments.ts';

test('an address that was unassigned alone returns in a prefix', () => {
  const unassignments = new OwnUnassignments();
  unassignments.unassigned('one', ['10.0.0.20', '10.0.0.40']);
  unassignments.forget(['10.0.0.16/28']);
  expect(['10.0.0.20', '10.0.0.40'].map((address) => unassignments.has('one', address))).toEqual([
    false,
    true,
  ]);
});

test('a prefix that was unassigned returns one address at a time', () => {
  const unassignments = new OwnUnassignments();
  unassignments.unassigned('one', ['10.0.0.16/28']);
  unassignments.forget(['10.0.0.20']);
  expect(['10.0.0.20', '10.0.0.21'].map((address) => unassignments.has('one', address))).toEqual([
    false,
    true,
  ]);
});

test('an answered call counts only for what no interface has', () => {
  const unassignments = new OwnUnassignments();
  const input = { PrivateIpAddresses: ['10.0.0.20', '10.0.0.40'] };
  unassignments.onAnswer('one', input, (holding) => holding === '10.0.0.40');
  expect(['10.0.0.20', '10.0.0.40'].map((address) => unassignments.has('one', address))).toEqual([
    true,
    false,
  ]);
  expect(unassignments.has('another', '10.0.0.20')).toBe(false);
});
