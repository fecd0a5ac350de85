import { expect, test } from '@jest/globals';
import { PodUses } from './pod-uses.ts';

test.each([
  ['no pod has taken it', '', 5, false],
  ['a pod took it before', 'taken 4', 5, true],
  ['a pod took it at that time', 'taken 5', 5, true],
  ['a pod took it after', 'taken 6', 5, false],
  ['a pod freed it before', 'taken 1, given-back 4', 5, false],
  ['a pod freed it after', 'taken 1, given-back 6', 5, true],
  ['another pod has taken it since', 'taken 1, given-back 6, taken 7', 5, true],
  ['another pod took it over at that time', 'taken 1, given-back 5, taken 5', 5, true],
  ['it was free between two pods', 'taken 1, given-back 4, taken 6', 5, false],
])('%s (%s): whether a pod had the address at %d is %j', (_what, steps, time, had) => {
  let now = 0;
  const uses = new PodUses(() => now);
  for (const [, step, at] of steps.matchAll(/(taken|given-back) (\d+)/g)) {
    now = Number(at);
    const kind = step === 'taken' ? 'address-taken' : 'address-given-back';
    uses.apply({ node: 'node', kind, subject: '10.0.0.1' });
  }

  expect(uses.hadAt('node', '10.0.0.1', time)).toBe(had);
  expect(uses.hadAt('node', '10.0.0.2', time)).toBe(false);
  expect(uses.hadAt('other', '10.0.0.1', time)).toBe(false);
});
