import { expect, test } from '@jest/globals';
import { PodUses } from './pod-uses.ts';

test.each([
  ['nobody has taken it', '', 5, false],
  ['it was taken before', 'taken 4', 5, true],
  ['it was taken at that very time', 'taken 5', 5, true],
  ['it was taken after', 'taken 6', 5, false],
  ['it was given back before', 'taken 1, given-back 4', 5, false],
  ['it was given back after', 'taken 1, given-back 6', 5, true],
  ['another pod has had it since', 'taken 1, given-back 6, taken 7', 5, true],
  ['it changed hands at that very time', 'taken 1, given-back 5, taken 5', 5, true],
  ['no pod had it between two', 'taken 1, given-back 4, taken 6', 5, false],
])('a pod had an address, where %s (%s): %d, %j', (_what, deeds, time, had) => {
  let now = 0;
  const uses = new PodUses(() => now);
  for (const [, deed, at] of deeds.matchAll(/(taken|given-back) (\d+)/g)) {
    now = Number(at);
    const kind = deed === 'taken' ? 'address-taken' : 'address-given-back';
    uses.hear({ node: 'node', kind, subject: '10.0.0.1' });
  }

  expect(uses.hadAt('node', '10.0.0.1', time)).toBe(had);
  expect(uses.hadAt('node', '10.0.0.2', time)).toBe(false);
  expect(uses.hadAt('other', '10.0.0.1', time)).toBe(false);
});
