import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { priorities } from '../../../../src/providers/contract/priority.ts';
import type { BucketSize } from '../../../../src/providers/rate-limit/token-bucket.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { rateLimiterRig } from '../rate-limiter-rig.ts';

const size = fc.record({ capacity: fc.integer({ min: 1, max: 8 }), refill: fc.integer({ min: 1, max: 10 }) });
const sizes = fc.record({ a: size, b: size, overall: fc.option(size, { nil: undefined }) });
const asked = fc.array(
  fc.record({
    actions: fc.constantFrom<string[][]>(['a'], ['b'], ['a', 'b'], ['a', 'a'], ['c']),
    priority: fc.constantFrom(...priorities),
    gap: fc.nat(400),
    patience: fc.option(fc.nat(3000), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 60 },
);

interface Take {
  readonly at: number;
  readonly count: number;
}

/** The most tokens by which any period exceeds a bucket of this size, without groups that are larger than it. */
function overdraft(takes: readonly Take[], { capacity, refill }: BucketSize): number {
  let worst = -Infinity;
  for (const [from, first] of takes.entries()) {
    let sum = 0;
    for (const take of takes.slice(from)) {
      sum += take.count;
      worst = Math.max(worst, sum - Math.max(capacity, take.count) - (refill * (take.at - first.at)) / 1000);
    }
  }
  return worst;
}

describe('a rate limiter, whatever the calls,', () => {
  test('takes from no bucket more than there is, and serves every caller', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, asked, async ({ a, b, overall }, requests) => {
        const rig = rateLimiterRig({ buckets: { a, b }, ...(overall && { overall }) });
        const takes = { a: [] as Take[], b: [] as Take[], overall: [] as Take[] };
        let unserved = 0;
        for (const { actions, priority, gap, patience } of requests) {
          const giveUp = new AbortController();
          if (patience !== undefined) rig.clock.schedule(patience, () => giveUp.abort(new Error('gave up')));
          unserved++;
          void rig
            .ask('x', actions, { priority, signal: giveUp.signal })
            .then(() => {
              const at = rig.clock.monotonic();
              for (const name of ['a', 'b'] as const) {
                const count = actions.filter((action) => action === name).length;
                if (count > 0) takes[name].push({ at, count });
              }
              takes.overall.push({ at, count: actions.length });
            })
            .catch((error: unknown) => expect(error).toEqual(new Error('gave up')))
            .finally(() => unserved--);
          await rig.clock.advance(gap);
        }
        await rig.clock.runUntil(() => unserved === 0, 600_000);

        expect(unserved).toBe(0);
        expect(overdraft(takes.a, a)).toBeLessThan(0.001);
        expect(overdraft(takes.b, b)).toBeLessThan(0.001);
        if (overall !== undefined) expect(overdraft(takes.overall, overall)).toBeLessThan(0.001);
      }),
      { numRuns: 60 },
    );
  });

  test('never lets calls that need one token block a call of the same priority that needs two for good', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.string(), async ({ a, b, overall }, seed) => {
        const rig = rateLimiterRig({ buckets: { a, b }, ...(overall && { overall }) });
        const random = new Random(seed);
        const served: number[] = [];
        for (let index = 0; index < 20; index++) void rig.ask('first', [random.pick(['a', 'b'])]);
        const before = rig.clock.monotonic();
        void rig.ask('both', ['a', 'b']).then(() => served.push(rig.clock.monotonic()));

        // More calls arrive all the time than the buckets allow.
        while (served.length === 0 && rig.clock.monotonic() - before < 60_000) {
          void rig.ask('more', [random.pick(['a', 'b'])]);
          await rig.clock.advance(random.integer(50));
        }

        const slowest = Math.min(a.refill, b.refill, overall?.refill ?? Infinity);
        expect(served).toHaveLength(1);
        expect((served[0] ?? Infinity) - before).toBeLessThan((25 / slowest) * 1000);
      }),
      { numRuns: 25 },
    );
  });
});
