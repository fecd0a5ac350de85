import { describe, expect, test } from '@jest/globals';
import { fullBucket } from '../../../src/providers/token-bucket.ts';
import { type GrantedBucket, grantsFor, untilAlone } from '../../../src/providers/token-grants.ts';
import type { Urgency } from '../../../src/providers/urgency.ts';

interface Named {
  readonly name: string;
  readonly costs: ReadonlyMap<string, number>;
  readonly urgency: Urgency;
  readonly begun: boolean;
}

const read = new Map([['read', 1]]);
const both = new Map([
  ['create', 1],
  ['attach', 1],
]);
const attach = new Map([['attach', 1]]);

function asking(name: string, urgency: Urgency, costs = read, begun = false): Named {
  return { name, costs, urgency, begun };
}

/** `tokens` of `capacity`; a token a second. */
function bucket(tokens: number, capacity = 10, change: Partial<GrantedBucket> = {}): GrantedBucket {
  const full = fullBucket({ capacity, refill: 1 }, 0);
  return { bucket: { ...full, tokens }, notBefore: -Infinity, lead: 0, passedOver: {}, ...change };
}

function granted(
  waiters: readonly Named[],
  buckets: Readonly<Record<string, GrantedBucket>>,
): { readonly names: readonly string[]; readonly wait: number } {
  const { granted: chosen, wait } = grantsFor(waiters, new Map(Object.entries(buckets)), 0);
  return { names: chosen.map(({ name }) => name), wait };
}

describe('who gets the tokens', () => {
  test.each<{
    readonly what: string;
    readonly waiters: readonly Named[];
    readonly buckets: Readonly<Record<string, GrantedBucket>>;
    readonly names: readonly string[];
    readonly wait: number;
  }>([
    {
      what: 'nobody where nobody asks',
      waiters: [],
      buckets: { read: bucket(1) },
      names: [],
      wait: Infinity,
    },
    {
      what: 'the most urgent first',
      waiters: [asking('a', 'housekeeping'), asking('b', 'waiting'), asking('c', 'starving')],
      buckets: { read: bucket(2) },
      names: ['c', 'b'],
      // Its own token, and the fifth of the bucket that is not for it.
      wait: 3000,
    },
    {
      what: 'in order of arrival among the equally urgent',
      waiters: [asking('a', 'waiting'), asking('b', 'waiting'), asking('c', 'waiting')],
      buckets: { read: bucket(2) },
      names: ['a', 'b'],
      wait: 1000,
    },
    {
      what: 'what was begun before everything else',
      waiters: [asking('a', 'starving'), asking('b', 'housekeeping', read, true)],
      buckets: { read: bucket(1) },
      names: ['b'],
      wait: 1000,
    },
    {
      what: 'the last fifth only those whom pods wait for',
      waiters: ['a', 'b', 'c'].map((name) => asking(name, 'toppingUp')),
      buckets: { read: bucket(4) },
      names: ['a', 'b'],
      wait: 1000,
    },
    {
      what: 'the last fifth of it too',
      waiters: [asking('a', 'release'), asking('b', 'waiting'), asking('c', 'starving')],
      buckets: { read: bucket(2) },
      names: ['c', 'b'],
      wait: 3000,
    },
    {
      what: 'all of a bucket so small that a fifth is less than a call',
      waiters: [asking('a', 'housekeeping')],
      buckets: { read: bucket(1, 1) },
      names: ['a'],
      wait: Infinity,
    },
    {
      what: 'whose class was passed over by 19 tokens, the last fifth or not',
      waiters: [asking('a', 'starving'), asking('b', 'housekeeping')],
      buckets: { read: bucket(1, 10, { passedOver: { housekeeping: 19 } }) },
      names: ['b'],
      wait: 1000,
    },
    {
      what: 'not whose class was passed over by less',
      waiters: [asking('a', 'starving'), asking('b', 'housekeeping')],
      buckets: { read: bucket(1, 10, { passedOver: { housekeeping: 17 } }) },
      names: ['a'],
      wait: 3000,
    },
    {
      what: 'tokens of two buckets at once, kept from those who come later',
      waiters: [asking('pair', 'waiting', both), asking('later', 'waiting', attach)],
      buckets: { create: bucket(0), attach: bucket(1) },
      names: [],
      wait: 1000,
    },
    {
      what: 'what is there beyond what is kept',
      waiters: [asking('pair', 'waiting', both), asking('later', 'waiting', attach)],
      buckets: { create: bucket(0), attach: bucket(2) },
      names: ['later'],
      wait: 1000,
    },
    {
      what: 'what will be there when its call is sent, if another goes before it',
      waiters: [asking('pair', 'waiting', both), asking('later', 'waiting', attach)],
      buckets: { create: bucket(1), attach: bucket(0, 10, { lead: 2000 }) },
      names: ['pair'],
      wait: 2000,
    },
    {
      what: 'nobody before the cloud wants to be asked again',
      waiters: [asking('a', 'starving')],
      buckets: { read: bucket(10, 10, { notBefore: 5000 }) },
      names: [],
      wait: 5000,
    },
  ])('$what', ({ waiters, buckets, names, wait }) => {
    expect(granted(waiters, buckets)).toEqual({ names, wait });
  });

  test('of 20 tokens each class that waits gets one, whoever else waits', () => {
    const urgent = Array.from({ length: 100 }, (_, index) => asking(`starving${index}`, 'starving'));
    const lower = (['toppingUp', 'release', 'housekeeping'] as const).map((urgency) =>
      asking(urgency, urgency),
    );

    const { names } = granted([...urgent, ...lower], { read: bucket(25, 1000) });

    expect(names.slice(0, 19).every((name) => name.startsWith('starving'))).toBe(true);
    expect(names.filter((name) => !name.startsWith('starving')).toSorted()).toEqual([
      'housekeeping',
      'release',
      'toppingUp',
    ]);
  });

  test('what was not passed over any more is forgotten', () => {
    const buckets = new Map([['read', bucket(5, 10, { passedOver: { housekeeping: 18 } })]]);

    const { buckets: after } = grantsFor([asking('a', 'starving')], buckets, 0);

    expect(after.get('read')?.passedOver).toEqual({});
    expect(after.get('read')?.bucket.tokens).toBe(4);
  });
});

describe('the wait of somebody alone', () => {
  test.each([
    ['waiting', 1, 0],
    ['toppingUp', 1, 2000],
    ['waiting', 0, 1000],
  ] as const)('who is %s, with %i tokens there: %i ms', (urgency, tokens, wait) => {
    expect(untilAlone(asking('a', urgency), new Map([['read', bucket(tokens)]]), 0)).toBe(wait);
  });
});
