import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { eni } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';
import { callTimeout, consistencyWindow, PoolRig, timesOf, untimed } from '../pool-rig.ts';

const node = { prefixDelegation: true };
const free = { 'subnet-1': 900, 'subnet-2': 800 };
const thawsAt = callTimeout + consistencyWindow;
const prefix = '10.0.9.0/28';

/** Requests for prefixes have these outcomes, in order. */
function forPrefixes(
  ...given: readonly (Outcome | undefined)[]
): (operation: Operation) => Outcome | undefined {
  let number = 0;
  return (operation) => (asksForPrefixes(operation) ? given[number++] : undefined);
}

function asksForPrefixes(operation: Operation): boolean {
  if (operation.kind === 'createInterface') return operation.prefixCount > 0;
  return operation.kind === 'allocatePrefixes';
}

describe('a pool of prefixes', () => {
  test('is filled with whole prefixes, and then left alone', async () => {
    const rig = new PoolRig({ node, target: 8 });

    await rig.run(60_000);
    await rig.run(60_000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+1x16']);
    expect(rig.available).toBe(16);
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(84);
  });

  test('is filled by as many steps at once as needed', async () => {
    const rig = new PoolRig({ node, free, target: 200, max: 205, duration: 500 });

    await rig.run(400);
    const started = [...rig.calls];
    const reserved = rig.ledger.reserved('subnet-1');
    await rig.run(5000);

    expect(started).toEqual(['allocate eni-0+9x16@0', 'create subnet-1+3x16@0', 'create subnet-1+8@0']);
    expect(reserved).toBe(144 + 49 + 9);
    expect(rig.available).toBe(200);
  });

  test('stays below the maximum of the node', async () => {
    const rig = new PoolRig({ node, target: 8, max: 20 });
    await rig.run(1000);

    rig.target = 19;
    await rig.run(1000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+1x16', 'allocate eni-0+3']);
    expect(rig.available).toBe(19);
  });
});

describe('a subnet without whole blocks', () => {
  const refusals = ['prefixSpaceFragmented', 'subnetExhausted'] as const;

  test.each(refusals)('(%s) is skipped at once for prefixes of another subnet', async (kind) => {
    const rig = new PoolRig({ node, free, duration: 100, outcome: forPrefixes(failed(kind)) });

    await rig.run(5000);

    expect(rig.calls).toEqual([
      'allocate eni-0+1x16@0',
      'create subnet-2+1x16@100',
      'attach eni-new10 1@200',
    ]);
    expect(rig.maintainer.backoff.trouble).toBeUndefined();
    expect(rig.ledger.blocked(rig.clock.monotonic()).size).toBe(0);
  });

  test('gives single addresses in the same run when no other subnet has whole blocks', async () => {
    const refused = failed('prefixSpaceFragmented');
    const rig = new PoolRig({ node, free, duration: 100, outcome: forPrefixes(refused, refused) });

    await rig.run(5000);

    expect(rig.calls).toEqual(['allocate eni-0+1x16@0', 'create subnet-2+1x16@100', 'allocate eni-0+8@200']);
    expect(rig.available).toBe(8);
  });

  test('gives the blocks that it has when the request was for more', async () => {
    let left = 6;
    const rig = new PoolRig({
      node,
      free: { 'subnet-1': 900 },
      target: 144,
      outcome: (operation) => {
        const asked = operation.kind === 'allocatePrefixes' ? operation.count : 0;
        if (asked > left || operation.kind === 'createInterface') return failed('prefixSpaceFragmented');
        left -= asked;
        return undefined;
      },
      limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
    });

    await rig.run(5000);

    expect(left).toBe(0);
    expect(untimed(rig.calls).at(-1)).toBe('allocate eni-0+3');
    expect(rig.available).toBe(6 * 16 + 3);
  });

  test('is not tried for two minutes, and then gives prefixes to the same interface', async () => {
    const rig = new PoolRig({ node, target: 2, outcome: forPrefixes(failed('prefixSpaceFragmented')) });
    await rig.run(119_000);
    rig.target = 3;
    await rig.run(500);
    const within = untimed(rig.calls);

    await rig.clock.advance(1000);
    rig.target = 4;
    await rig.run(1000);

    expect(within).toEqual(['allocate eni-0+1x16', 'allocate eni-0+2', 'allocate eni-0+1']);
    expect(untimed(rig.calls).slice(3)).toEqual(['allocate eni-0+1x16']);
    expect(rig.available).toBe(19);
  });

  test('is tried earlier when something is released there', async () => {
    const rig = new PoolRig({ node, target: 2, outcome: forPrefixes(failed('prefixSpaceFragmented')) });
    await rig.run(1000);

    rig.ledger.released('subnet-1', 16, rig.clock.monotonic());
    rig.target = 3;
    await rig.run(1000);

    expect(untimed(rig.calls).at(-1)).toBe('allocate eni-0+1x16');
  });

  test('is exhausted when its single addresses run out too', async () => {
    const rig = new PoolRig({
      node,
      outcome: ({ kind }) =>
        kind === 'allocatePrefixes' || kind === 'createInterface'
          ? failed('prefixSpaceFragmented')
          : failed('subnetExhausted'),
    });

    await rig.run(5000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+1x16', 'allocate eni-0+8']);
    expect(rig.plan?.obstacle).toMatchObject({ kind: 'subnetsExhausted', subnetIds: ['subnet-1'] });
  });

  test('changes what the other steps do when a waiting step finds it', async () => {
    const rig = new PoolRig({ node, free, target: 150, max: 150, crowded: true });
    await rig.run(100);
    const waiting = rig.waiting;

    rig.ledger.fragmented('subnet-1', 1, rig.clock.monotonic());
    rig.ledger.fragmented('subnet-2', 1, rig.clock.monotonic());
    while (rig.waiting > 0) rig.admitNext();
    await rig.clock.advance(10);

    expect(waiting).toBe(2);
    expect(untimed(rig.calls).filter((call) => call.includes('x16'))).toEqual([]);
  });
});

describe('an assignment of prefixes whose answer was lost', () => {
  const limits = { interfaces: 1, addressesPerInterface: 10, prefixes: true };

  test('leaves its interface alone until it can no longer take effect unseen', async () => {
    const rig = new PoolRig({ node, limits, duration: 100, refreshDuration: 50, outcome: forPrefixes(lost) });

    await rig.run(600_000);

    expect(rig.invalidations).toEqual([100]);
    expect(rig.refreshes).toEqual([100 + thawsAt]);
    expect(rig.calls).toEqual(['allocate eni-0+1x16@0', `allocate eni-0+1x16@${100 + thawsAt + 50}`]);
  });

  test('is not repeated when a refresh shows what it brought', async () => {
    const shown = () => [eni(0, 0, { prefixes: [prefix] })];
    const rig = new PoolRig({ node, limits, outcome: forPrefixes(lost), shown });

    await rig.run(600_000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+1x16']);
    expect(rig.available).toBe(16);
  });

  test('counts by 16 towards the maximum of the node until it is seen', async () => {
    const rig = new PoolRig({ node, free, target: 20, max: 40, outcome: forPrefixes(lost) });

    await rig.run(thawsAt - 1);
    const before = untimed(rig.calls);
    await rig.run(2000);

    // 32 may have been assigned: 8 are left.
    expect(before).toEqual(['allocate eni-0+2x16', 'create subnet-1+8', 'attach eni-new10 1']);
    expect(untimed(rig.calls).slice(before.length)).toEqual(['allocate eni-0+1x16']);
    expect(rig.available).toBe(24);
  });

  test('is no longer counted once a refresh shows it, although its interface is left alone', async () => {
    const shown = () => [eni(0, 0, { prefixes: [prefix, '10.0.9.16/28'] })];
    const rig = new PoolRig({ node, free, target: 20, max: 40, outcome: forPrefixes(lost), shown });
    await rig.run(10);
    const observations = shown().map((item) => ({ kind: 'interface', interface: item }) as const);
    rig.inventory.applyRefresh({ startedAt: 10, endedAt: 10, instanceIds: ['i-1'], observations });

    rig.target = 40;
    await rig.run(1000);

    expect(rig.available).toBe(40);
  });

  test('may have taken its addresses', async () => {
    const rig = new PoolRig({ node, limits, outcome: forPrefixes(lost) });

    await rig.run(0);

    expect(rig.steps[0]?.result).toMatchObject({ kind: 'failed', at: 'allocate', taken: 16 });
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(84);
  });

  test('counts for itself when there are several on one interface, though one of them is seen', async () => {
    const limited = { ...free, 'subnet-2': 0 };
    const rig = new PoolRig({
      node,
      free: limited,
      target: 96,
      max: 96,
      limits: { ...limits, interfaces: 2 },
      outcome: forPrefixes(lost, lost, lost, lost),
    });
    rig.ledger.fragmented('subnet-1', 4, 0);
    await rig.run(10);
    const started = untimed(rig.calls);
    const shown = eni(0, 0, { prefixes: [prefix, '10.0.9.16/28'] });
    const observations = [{ kind: 'interface', interface: shown } as const];
    rig.inventory.applyRefresh({ startedAt: 10, endedAt: 10, instanceIds: ['i-1'], observations });

    await rig.run(5000);

    expect(started).toEqual(['allocate eni-0+2x16', 'allocate eni-0+2x16', 'allocate eni-0+2x16']);
    expect(rig.calls).toHaveLength(3);
  });

  test('is not credited with what another one was answered with', async () => {
    const rig = new PoolRig({
      node,
      free: { 'subnet-1': 900 },
      target: 64,
      max: 64,
      limits: { ...limits, interfaces: 2 },
      outcome: forPrefixes(lost),
    });
    rig.ledger.fragmented('subnet-1', 4, 0);

    await rig.run(5000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+2x16', 'allocate eni-0+2x16']);
    expect(rig.available).toBe(32);
  });

  test('keeps single addresses off its interface too', async () => {
    const rig = new PoolRig({ node, limits, target: 20, max: 20, outcome: forPrefixes(lost) });

    await rig.run(thawsAt - 1);

    expect(timesOf(rig.calls, 'allocate eni-0').filter((time) => time > 0)).toEqual([]);
  });
});

describe('a pool of prefixes, whatever the cloud answers,', () => {
  test('gets what it needs, and never more than the maximum of the node', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.boolean(),
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.record({ target: fc.nat(200), wait: fc.nat(50_000) }), { minLength: 1, maxLength: 10 }),
        async (seed, usePrimaryAddress, max, changes) => {
          const random = new Random(seed);
          let calm = false;
          const rig = new PoolRig({
            node: { prefixDelegation: true, usePrimaryAddress },
            free: { 'subnet-1': 5000, 'subnet-2': 4000 },
            target: 0,
            max,
            duration: 1 + random.integer(900),
            outcome: (operation) => {
              if (calm || operation.kind === 'deleteInterface' || random.chance(0.6)) return undefined;
              if (asksForPrefixes(operation) && random.chance(0.6)) return failed('prefixSpaceFragmented');
              if (operation.kind === 'attachInterface') return failed('conflict');
              return operation.kind === 'createInterface' ? failed('throttled') : lost;
            },
          });
          let highest = 0;

          for (const { target, wait } of changes) {
            rig.target = Math.min(max, target);
            for (let passed = 0; passed <= wait; passed += 1000) {
              await rig.run(1000);
              highest = Math.max(highest, rig.available);
            }
          }
          calm = true;
          for (let round = 0; round < 300; round++) await rig.run(1000);

          expect(rig.bugs).toEqual([]);
          expect(Math.max(highest, rig.available)).toBeLessThanOrEqual(max);
          const { unmet = 0, obstacle } = rig.plan ?? {};
          expect(rig.available + (obstacle?.kind === 'noInterfaceSlots' ? unmet : 0)).toBeGreaterThanOrEqual(
            rig.target,
          );
        },
      ),
      { numRuns: 40 },
    );
  });
});
