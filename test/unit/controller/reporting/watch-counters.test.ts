import { expect, test } from '@jest/globals';
import { readProblemOf } from '../../../../src/controller/reporting/watch-counters.ts';
import type { ReflectorState } from '../../../../src/kubernetes/watch/reflector.ts';

const failing = { kind: 'backing-off', problem: 'refused', failures: 1, until: 0 } as const;

test.each<[string, ReflectorState, string | undefined, number, string | undefined]>([
  ['fails now', failing, undefined, 0, 'refused'],
  ['failed last', { kind: 'listing' }, 'timed out', 9999, 'timed out'],
  ['failed, and is slow now', { kind: 'listing' }, 'timed out', 10_000, undefined],
  ['failed, and waits for its turn', { kind: 'idle' }, 'timed out', 60_000, 'timed out'],
  ['is slow', { kind: 'listing' }, undefined, 60_000, undefined],
  ['works', { kind: 'watching' }, undefined, 0, undefined],
])('a read that %s has a problem, or none', (_, state, last, lasting, problem) => {
  expect(readProblemOf({ state, since: 1000 }, last, 1000 + lasting)).toBe(problem);
});
