import { describe, expect, test } from '@jest/globals';
import { awaitsFirstAddress } from '../../../../src/node/publish/first-write.ts';
import type { Offer } from '../../../../src/node/publish/next-write.ts';
import { nodeOf } from '../cilium-nodes.ts';

function offer(pool: readonly (readonly [string, string])[]): Offer {
  return {
    provider: { key: 'eni', layout: { interfaces: ['enis'] } as never, value: {} },
    interfaces: new Set(['eni-0']),
    pool: new Map(pool),
    staticIp: undefined,
    preAllocate: 8,
  };
}

const nothing = { offer: offer([]), handshake: new Map(), operatorError: '' };
const entry = { resource: 'eni-0' };

describe('the first write to a CiliumNode', () => {
  test.each<[string, Parameters<typeof awaitsFirstAddress>, boolean]>([
    ['waits while its first addresses are on their way', [nodeOf({}), nothing, true], true],
    ['is made if none are', [nodeOf({}), nothing, false], false],
    [
      'is made once there is one',
      [nodeOf({}), { ...nothing, offer: offer([['10.0.0.1', 'eni-0']]) }, true],
      false,
    ],
    ['is made to say what is wrong', [nodeOf({}), { ...nothing, operatorError: 'no subnet' }, true], false],
    ['removes what the pool has', [nodeOf({ pool: { '10.0.0.1': entry } }), nothing, true], false],
    ['removes what the status has', [nodeOf({ enis: { 'eni-9': [] } }), nothing, true], false],
    ['waits for nothing while nothing is known', [nodeOf({}), { ...nothing, offer: undefined }, true], false],
  ])('%s', (_, facts, expected) => {
    expect(awaitsFirstAddress(...facts)).toBe(expected);
  });
});
