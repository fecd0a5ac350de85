import { expect, test } from '@jest/globals';
import { GivenBack } from './own-unassignments.ts';

test('an address that was taken away alone comes back in a prefix', () => {
  const given = new GivenBack();
  given.took('one', ['10.0.0.20', '10.0.0.40']);
  given.forget(['10.0.0.16/28']);
  expect(['10.0.0.20', '10.0.0.40'].map((address) => given.has('one', address))).toEqual([false, true]);
});

test('a prefix that was taken away comes back one address at a time', () => {
  const given = new GivenBack();
  given.took('one', ['10.0.0.16/28']);
  given.forget(['10.0.0.20']);
  expect(['10.0.0.20', '10.0.0.21'].map((address) => given.has('one', address))).toEqual([false, true]);
});

test('what a call was answered for counts only where no interface has it', () => {
  const given = new GivenBack();
  const input = { PrivateIpAddresses: ['10.0.0.20', '10.0.0.40'] };
  given.answered('one', input, (holding) => holding === '10.0.0.40');
  expect(['10.0.0.20', '10.0.0.40'].map((address) => given.has('one', address))).toEqual([true, false]);
  expect(given.has('another', '10.0.0.20')).toBe(false);
});
