import { describe, expect, test } from '@jest/globals';
import { afterAnswer, afterThrottle, shareAt, wholeShare } from '../../../src/providers/learned-share.ts';

const minute = 60_000;

describe('the share of a rate limit that is there for us', () => {
  test('is the whole until something is throttled', () => {
    expect(shareAt(wholeShare(0), 0)).toBe(1);
    expect(shareAt(afterAnswer(wholeShare(0), 10), 10)).toBe(1);
  });

  test('is cut by a quarter by a throttled call', () => {
    expect(shareAt(afterThrottle(wholeShare(0), 5, 10), 10)).toBeCloseTo(0.75);
  });

  test('is cut once by calls that were under way together', () => {
    const cut = afterThrottle(wholeShare(0), 5, 10);

    const together = [6, 7, 10].reduce((learned, sentAt) => afterThrottle(learned, sentAt, 11), cut);
    const later = afterThrottle(cut, 11, 12);

    expect(together).toBe(cut);
    expect(shareAt(later, 12)).toBeCloseTo(0.5625);
  });

  test('never goes so low that nothing is tried any more', () => {
    let learned = wholeShare(0);
    for (let now = 1; now < 50; now++) learned = afterThrottle(learned, now, now);

    expect(shareAt(learned, 50)).toBeGreaterThanOrEqual(0.05);
  });

  test('grows by a thousandth with each answer, up to the whole', () => {
    let learned = afterThrottle(wholeShare(0), 5, 10);
    for (let call = 0; call < 100; call++) learned = afterAnswer(learned, 10);
    const after100 = shareAt(learned, 10);
    for (let call = 0; call < 1000; call++) learned = afterAnswer(learned, 10);

    expect(after100).toBeCloseTo(0.85);
    expect(shareAt(learned, 10)).toBe(1);
  });

  test('grows faster once nothing was throttled for a minute', () => {
    const learned = { value: 0.25, at: minute, cutAt: 0 };

    const grown = afterAnswer(learned, minute);

    expect(shareAt(grown, minute)).toBeCloseTo(0.255);
  });

  test('is the whole again after ten minutes without calls at most', () => {
    const learned = { value: 0.05, at: 0, cutAt: 0 };

    expect(shareAt(learned, 5 * minute)).toBeCloseTo(0.55);
    expect(shareAt(learned, 10 * minute)).toBe(1);
  });
});
