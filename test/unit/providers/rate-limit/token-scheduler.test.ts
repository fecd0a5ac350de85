import { describe, expect, test } from '@jest/globals';
import { fullBucket } from '../../../../src/providers/rate-limit/token-bucket.ts';
import {
  type Asking,
  type GrantedBucket,
  grantsFor,
  type KnownBuckets,
  type SharedCosts,
  untilAlone,
} from '../../../../src/providers/rate-limit/token-scheduler.ts';
import type { Priority } from '../../../../src/providers/contract/priority.ts';

interface Named extends Asking {
  readonly name: string;
}

const read = costsOf('read');
const both = costsOf('create', 'attach');
const attach = costsOf('attach');

/** One token of each limit, for one call each. */
function costsOf(first: string, ...later: readonly string[]): SharedCosts {
  return { tokens: new Map([first, ...later].map((name) => [name, 1])), later: new Set(later) };
}

function asking(name: string, priority: Priority, costs = read, inFlight = false): Named {
  return { name, costs, perThing: new Map(), caller: { priority }, inFlight };
}

/** A read of one thing. */
function askingOf(thing: string, name: string, priority: Priority = 'high'): Named {
  return { ...asking(name, priority), perThing: new Map([[thing, 1]]) };
}

/** `tokens` of `capacity`; one token a second is refilled. */
function bucket(tokens: number, capacity = 10, change: Partial<GrantedBucket> = {}): GrantedBucket {
  const full = fullBucket({ capacity, refill: 1 }, 0);
  return { bucket: { ...full, tokens }, notBefore: -Infinity, followDelay: 0, skipped: {}, ...change };
}

/** Buckets named vm are those of things. */
function bucketsOf(buckets: Readonly<Record<string, GrantedBucket>>): KnownBuckets {
  const shared = Object.entries(buckets).filter(([name]) => !name.startsWith('vm'));
  return { shared: new Map(shared), ofThing: (name) => buckets[name] };
}

function granted(
  waiters: readonly Named[],
  buckets: Readonly<Record<string, GrantedBucket>>,
): { readonly names: readonly string[]; readonly wait: number } {
  const { granted: chosen, wait } = grantsFor(waiters, bucketsOf(buckets), 0);
  return { names: chosen.map(({ name }) => name), wait };
}

describe('the next grant of tokens', () => {
  test.each<{
    readonly what: string;
    readonly waiters: readonly Named[];
    readonly buckets: Readonly<Record<string, GrantedBucket>>;
    readonly names: readonly string[];
    readonly wait: number;
  }>([
    {
      what: 'goes to no call when none waits',
      waiters: [],
      buckets: { read: bucket(1) },
      names: [],
      wait: Infinity,
    },
    {
      what: 'goes to the highest priority first',
      waiters: [asking('a', 'housekeeping'), asking('b', 'high'), asking('c', 'critical')],
      buckets: { read: bucket(2) },
      names: ['c', 'b'],
      // Its own token, and the fifth of the bucket that is reserved.
      wait: 3000,
    },
    {
      what: 'goes in order of arrival among equal priorities',
      waiters: [asking('a', 'high'), asking('b', 'high'), asking('c', 'high')],
      buckets: { read: bucket(2) },
      names: ['a', 'b'],
      wait: 1000,
    },
    {
      what: 'goes past a call that only its own thing holds up, and takes nothing for it',
      waiters: [askingOf('vm1', 'a'), askingOf('vm2', 'b'), askingOf('vm2', 'c'), askingOf('vm3', 'd')],
      buckets: { read: bucket(2), vm1: bucket(0, 4), vm2: bucket(1, 4), vm3: bucket(4, 4) },
      names: ['b', 'd'],
      wait: 1000,
    },
    {
      what: 'leaves the tokens of a thing to the first that waits for them',
      waiters: [askingOf('vm', 'a'), askingOf('vm', 'b', 'housekeeping')],
      buckets: { read: bucket(10), vm: bucket(0, 4, { notBefore: 3000 }) },
      names: [],
      wait: 3000,
    },
    {
      what: 'goes to operations in flight before everything else',
      waiters: [asking('a', 'critical'), asking('b', 'housekeeping', read, true)],
      buckets: { read: bucket(1) },
      names: ['b'],
      wait: 1000,
    },
    {
      what: 'the last fifth only those whom pods wait for',
      waiters: ['a', 'b', 'c'].map((name) => asking(name, 'normal')),
      buckets: { read: bucket(4) },
      names: ['a', 'b'],
      wait: 1000,
    },
    {
      what: 'the last fifth of it too',
      waiters: [asking('a', 'release'), asking('b', 'high'), asking('c', 'critical')],
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
      waiters: [asking('a', 'critical'), asking('b', 'housekeeping')],
      buckets: { read: bucket(1, 10, { skipped: { housekeeping: 19 } }) },
      names: ['b'],
      wait: 1000,
    },
    {
      what: 'not whose class was passed over by less',
      waiters: [asking('a', 'critical'), asking('b', 'housekeeping')],
      buckets: { read: bucket(1, 10, { skipped: { housekeeping: 17 } }) },
      names: ['a'],
      wait: 3000,
    },
    {
      what: 'tokens of two buckets at once, kept from those who come later',
      waiters: [asking('pair', 'high', both), asking('later', 'high', attach)],
      buckets: { create: bucket(0), attach: bucket(1) },
      names: [],
      wait: 1000,
    },
    {
      what: 'includes what is there beyond the reserve',
      waiters: [asking('pair', 'high', both), asking('later', 'high', attach)],
      buckets: { create: bucket(0), attach: bucket(2) },
      names: ['later'],
      wait: 1000,
    },
    {
      what: 'what will be there when its call is sent, if another goes before it',
      waiters: [asking('pair', 'high', both), asking('later', 'high', attach)],
      buckets: { create: bucket(1), attach: bucket(0, 10, { followDelay: 2000 }) },
      names: ['pair'],
      wait: 2000,
    },
    {
      what: 'goes to no call before the retry time of the cloud',
      waiters: [asking('a', 'critical')],
      buckets: { read: bucket(10, 10, { notBefore: 5000 }) },
      names: [],
      wait: 5000,
    },
  ])('$what', ({ waiters, buckets, names, wait }) => {
    expect(granted(waiters, buckets)).toEqual({ names, wait });
  });

  test('gives one of 20 tokens to each class that waits, whatever else waits', () => {
    const critical = Array.from({ length: 100 }, (_, index) => asking(`critical${index}`, 'critical'));
    const lower = (['normal', 'release', 'housekeeping'] as const).map((priority) =>
      asking(priority, priority),
    );

    const { names } = granted([...critical, ...lower], { read: bucket(25, 1000) });

    expect(names.slice(0, 19).every((name) => name.startsWith('critical'))).toBe(true);
    expect(names.filter((name) => !name.startsWith('critical')).toSorted()).toEqual([
      'housekeeping',
      'normal',
      'release',
    ]);
  });

  test('forgets calls that are no longer skipped', () => {
    const buckets = bucketsOf({ read: bucket(5, 10, { skipped: { housekeeping: 18 } }) });

    const { buckets: after } = grantsFor([asking('a', 'critical')], buckets, 0);

    expect(after.get('read')?.skipped).toEqual({});
    expect(after.get('read')?.bucket.tokens).toBe(4);
  });
});

describe('the wait of a single call', () => {
  test.each([
    ['high', 1, 0],
    ['normal', 1, 2000],
    ['high', 0, 1000],
  ] as const)('is, with priority %s and %i tokens in the bucket, %i ms', (priority, tokens, wait) => {
    expect(untilAlone(asking('a', priority), new Map([['read', bucket(tokens)]]), 0)).toBe(wait);
  });
});
