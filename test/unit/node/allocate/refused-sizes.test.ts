import { describe, expect, test } from '@jest/globals';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { eni } from '../allocation-facts.ts';
import { failed } from '../outcomes.ts';
import { PoolRig, untimed } from '../pool-rig.ts';

const full = eni(0, 9);

/** Operations of this kind have these outcomes, in order. */
function outcomes(kind: Operation['kind'], ...given: readonly (Outcome | undefined)[]) {
  return (operation: Operation, number: number): Outcome | undefined =>
    operation.kind === kind ? given[number] : undefined;
}

describe('a limit that is lower than is known', () => {
  /** Accepts no more than this many addresses on an interface. */
  const accepting = (max: number) => {
    const taken = new Map<string, number>();
    return (operation: Operation): Outcome | undefined => {
      if (operation.kind !== 'allocateIPs') return undefined;
      const total = (taken.get(operation.interfaceId) ?? 0) + operation.count;
      if (total > max) return failed('limitReached');
      taken.set(operation.interfaceId, total);
      return undefined;
    };
  };
  const alone = {
    limits: { interfaces: 1, addressesPerInterface: 50, prefixes: false },
    traits: { interfaces: 'given' },
  } as const;

  test('is found by halves, and all that it allows is given', async () => {
    const rig = new PoolRig({ target: 40, ...alone, outcome: accepting(13) });

    await rig.run(5000);

    expect(untimed(rig.calls).slice(0, 4)).toEqual([
      'allocate eni-0+40',
      'allocate eni-0+20',
      'allocate eni-0+10',
      'allocate eni-0+20',
    ]);
    expect(rig.available).toBe(13);
  });

  test('costs one address at a time once it is found, with longer and longer pauses', async () => {
    const rig = new PoolRig({ target: 40, ...alone, outcome: accepting(13) });
    await rig.run(60_000);
    const before = rig.calls.length;

    await rig.clock.advance(600_000);

    expect(new Set(untimed(rig.calls).slice(before))).toEqual(new Set(['allocate eni-0+1']));
    expect(rig.calls.length - before).toBeLessThanOrEqual(15);
    expect(rig.maintainer.backoff.trouble ?? rig.plan?.refusals[0]?.failure).toMatchObject({
      kind: 'limitReached',
    });
  });

  test('is forgotten once as many are accepted', async () => {
    const rig = new PoolRig({
      target: 8,
      ...alone,
      outcome: outcomes('allocateIPs', failed('limitReached')),
    });
    await rig.run(5000);

    rig.target = 30;
    await rig.run(5000);

    expect(untimed(rig.calls)).toEqual([
      'allocate eni-0+8',
      'allocate eni-0+4',
      'allocate eni-0+4',
      'allocate eni-0+22',
    ]);
  });

  test.each(['invalid', 'unknown'] as const)(
    'is tried with less after an answer that does not say so (%s)',
    async (kind) => {
      const rig = new PoolRig({ target: 8, ...alone, outcome: outcomes('allocateIPs', failed(kind)) });

      await rig.run(60_000);

      expect(untimed(rig.calls).slice(0, 2)).toEqual(['allocate eni-0+8', 'allocate eni-0+4']);
      expect(rig.available).toBe(8);
    },
  );

  test('is tried with less on an interface, too, that others can be made beside', async () => {
    const { limits } = alone;
    const rig = new PoolRig({ target: 8, limits, outcome: outcomes('allocateIPs', failed('limitReached')) });

    await rig.run(60_000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+8', 'allocate eni-0+4', 'allocate eni-0+4']);
  });

  test('makes new interfaces with less, and no more of them for it', async () => {
    const rig = new PoolRig({
      interfaces: [full],
      target: 17,
      outcome: (operation) =>
        operation.kind === 'createInterface' && operation.addressCount > 4
          ? failed('limitReached')
          : undefined,
    });

    await rig.run(60_000);

    expect(untimed(rig.calls)).toEqual([
      'create subnet-1+8',
      'create subnet-1+4',
      'attach eni-new10 1',
      'allocate eni-new10+4',
    ]);
  });
});
