import { describe, expect, test } from '@jest/globals';
import {
  agentRests,
  awaitsFirstAddress,
  poolMayLag,
  requestDue,
  waitBefore,
} from '../../../../src/node/publish/write-moment.ts';
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

describe('a write to a CiliumNode', () => {
  const now = 100_000;
  const idle = { seenAt: 0, agentWroteAt: 0, writtenAt: -Infinity };
  const joined = { enis: { 'eni-0': ['10.0.0.1'] } };
  const onlyPool = { isOnlyPool: true } as const;

  test.each<[string, Parameters<typeof waitBefore>, number]>([
    [
      'waits for the first request of a new node',
      [{}, nodeOf({}), { ...idle, seenAt: now - 500 }, now],
      1500,
    ],
    ['waits for it only for a while', [{}, nodeOf({}), { ...idle, seenAt: now - requestDue }, now], 0],
    [
      'is made once the node requests something',
      [{}, nodeOf({ allocated: [] }), { ...idle, seenAt: now }, now],
      0,
    ],
    ['is made to a node that was served before', [{}, nodeOf(joined), { ...idle, seenAt: now }, now], 0],
    ['to the status is made at any time later', [{}, nodeOf({ allocated: [] }), idle, now], 0],
    [
      'to the pool is made while the agent rests',
      [
        onlyPool,
        nodeOf({ allocated: [], ...joined }),
        { ...idle, agentWroteAt: now - agentRests + 1, writtenAt: now },
        now,
      ],
      0,
    ],
    [
      'to the pool waits while an agent that is shown addresses may write that it gave them to pods',
      [onlyPool, nodeOf({ allocated: [], ...joined }), { ...idle, writtenAt: now - 1000 }, now],
      poolMayLag - 1000,
    ],
    [
      'to the pool is made once that is long ago',
      [onlyPool, nodeOf({ allocated: [], ...joined }), { ...idle, writtenAt: now - poolMayLag }, now],
      0,
    ],
    [
      'to the pool of an agent that reads it is made at once',
      [onlyPool, nodeOf({ used: { '10.0.0.1': {} }, ...joined }), { ...idle, writtenAt: now }, now],
      0,
    ],
  ])('%s', (_, facts, expected) => {
    expect(waitBefore(...facts)).toBe(expected);
  });
});
