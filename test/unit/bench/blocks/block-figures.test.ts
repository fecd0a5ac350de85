import { describe, expect, test } from '@jest/globals';
import { type SetSpeeds, blockFigures } from '../../../../bench/blocks/block-figures.ts';
import { type Figure, figuresCalled } from '../../../../bench/figure.ts';
import { Scenarios } from '../../../../bench/scenarios/scenarios.ts';
import { systemClock as clock } from '../../../../src/runtime/system-clock.ts';

const speeds: SetSpeeds = {
  ours: { emptyToFull: 59, nearlyFull: 62, farAway: 1100, bytesEach: 0.14 },
  theirs: { emptyToFull: 266, nearlyFull: 510, farAway: 0 },
};

const all = blockFigures({ nodes: 200, idleMinutes: 1 }, () => Promise.resolve(speeds));

const signal = new AbortController().signal;
const scenarios = new Scenarios({ clock, signal, say: () => undefined, profiles: undefined });

async function measuredBy(name: string, from = scenarios): Promise<number> {
  const [found] = figuresCalled([name], all);
  return (await (found as Figure).measure(from)).measured;
}

/** In which CiliumNodes and Nodes were written so often. */
const writing = (ciliumNodes: number, nodes: number): Scenarios =>
  ({
    played: ({ scope }: { readonly scope: string }) =>
      Promise.resolve({ writesEach: scope === 'nodeipam' ? nodes : ciliumNodes }),
  }) as unknown as Scenarios;

describe('the figures of blocks', () => {
  test('have names of their own', () => {
    const names = all.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
  });

  test('compare the set with that of Kubernetes, and never pass for lack of its time', async () => {
    expect(await measuredBy('set-empty-to-full')).toBeCloseTo(59 / 266);
    expect(await measuredBy('set-far-away')).toBe(Infinity);
  });

  test.each([
    [1, 1, 1],
    [1.01, 1, 1.01],
    [1, 2, 2],
    [0.5, 1, 0.5],
    [1, 0, 0],
  ])('of writes to each object, %d and %d, show those that are not one', async (first, second, shown) => {
    expect(await measuredBy('writes-each', writing(first, second))).toBe(shown);
  });
});
