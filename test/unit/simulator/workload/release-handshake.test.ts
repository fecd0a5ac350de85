import { describe, expect, test } from '@jest/globals';
import type { AddressPool } from '../../../../src/simulator/workload/address-pool.ts';
import {
  answerHandshake,
  mayBeAllocated,
  releaseStatesOf,
} from '../../../../src/simulator/workload/release-handshake.ts';

const address = '10.0.0.5';
const inPool: AddressPool = new Map([[address, { resource: 'eni-1', owner: '' }]]);
const emptyPool: AddressPool = new Map();

describe('answerHandshake', () => {
  test.each([
    ['in', 'marked-for-release', 'free', 'ready-for-release'],
    ['in', 'marked-for-release', 'allocated', 'do-not-release'],
    ['not in', 'marked-for-release', 'free', 'do-not-release'],
    ['not in', 'marked-for-release', 'allocated', 'do-not-release'],
    ['in', 'ready-for-release', 'free', 'ready-for-release'],
    ['in', 'ready-for-release', 'allocated', 'ready-for-release'],
    ['not in', 'ready-for-release', 'free', 'ready-for-release'],
    ['in', 'do-not-release', 'free', 'do-not-release'],
    ['not in', 'do-not-release', 'allocated', 'do-not-release'],
    ['in', 'released', 'free', 'released'],
    ['not in', 'released', 'free', undefined],
  ])('answers, %s the pool, %s, %s: %s', (place, state, use, answer) => {
    const pool = place === 'in' ? inPool : emptyPool;

    const result = answerHandshake(new Map([[address, state]]), pool, () => use === 'allocated');

    expect(result.states.get(address)).toBe(answer);
    expect(result.changed).toEqual(answer === state ? [] : [address]);
  });

  test('answers nothing while there is no pool', () => {
    const states = new Map([[address, 'marked-for-release']]);

    const result = answerHandshake(states, undefined, () => false);

    expect(result).toEqual({ states, changed: [] });
  });

  test('leaves its input as it is', () => {
    const states = new Map([[address, 'marked-for-release']]);

    answerHandshake(states, inPool, () => false);

    expect(states).toEqual(new Map([[address, 'marked-for-release']]));
  });
});

describe('mayBeAllocated', () => {
  test.each([
    ['marked-for-release', false],
    ['ready-for-release', false],
    ['released', false],
    ['do-not-release', true],
  ])('answers for the state %s: %s', (state, allowed) => {
    expect(mayBeAllocated(address, new Map([[address, state]]))).toBe(allowed);
  });

  test('allows an address without an entry', () => {
    expect(mayBeAllocated(address, new Map())).toBe(true);
  });
});

describe('releaseStatesOf', () => {
  test.each([
    [{}, []],
    [{ status: { ipam: { 'release-ips': null } } }, []],
    [{ status: { ipam: { 'release-ips': { [address]: 'released' } } } }, [[address, 'released']]],
  ])('reads %j', (node, entries) => {
    expect([...releaseStatesOf(node)]).toEqual(entries);
  });
});
