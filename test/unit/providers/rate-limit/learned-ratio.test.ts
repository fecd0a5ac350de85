import { describe, expect, test } from '@jest/globals';
import {
  afterAnswer,
  afterThrottle,
  type LearnedRatio,
  ratioAt,
  fullRatio,
} from '../../../../src/providers/rate-limit/learned-ratio.ts';

const minute = 60_000;

/** At ten calls a second. */
function throttled(learned: LearnedRatio, sentAt: number, now: number): LearnedRatio {
  return afterThrottle(learned, { sentAt, now, perCall: 100 });
}

/** After as many throttles as are believed, the first of which was answered when the other was sent. */
function oftenThrottled(learned: LearnedRatio, sentAt: number, now: number): LearnedRatio {
  return throttled(throttled(learned, sentAt, sentAt), sentAt, now);
}

describe('the learned ratio of a rate limit', () => {
  test('is the whole until a call is throttled', () => {
    expect(ratioAt(fullRatio(0), 0)).toBe(1);
    expect(ratioAt(afterAnswer(fullRatio(0), 10), 10)).toBe(1);
  });

  test('is cut by a quarter by a second throttled call', () => {
    expect(ratioAt(throttled(fullRatio(0), 5, 10), 10)).toBe(1);
    expect(ratioAt(oftenThrottled(fullRatio(0), 5, 10), 10)).toBeCloseTo(0.75);
  });

  test.each([
    ['is cut when the second throttled call follows soon', 20, 0.75],
    ['is not cut when the second throttled call follows long after', 50, 1],
  ])('%s', (_, answers, expected) => {
    let learned = throttled(fullRatio(0), 5, 10);
    for (let count = 0; count < answers; count++) learned = afterAnswer(learned, 10);

    expect(ratioAt(throttled(learned, 20, 20), 20)).toBeCloseTo(expected, 1);
  });

  test('is left by a few calls that were in flight when the first of them was one too many', () => {
    const first = throttled(fullRatio(0), 5, 10);
    const few = [6, 7, 9].reduce((learned, sentAt) => throttled(learned, sentAt, 11), first);
    const many = [6, 7, 9].reduce((learned, sentAt) => throttled(learned, sentAt, 11), few);

    expect(ratioAt(few, 11)).toBe(1);
    expect(ratioAt(many, 11)).toBeCloseTo(0.75);
    expect(ratioAt(throttled(first, 10, 11), 11)).toBeCloseTo(0.75);
  });

  test('is cut once by calls that were in flight together, and by the first few after the cut', () => {
    const cut = oftenThrottled(fullRatio(0), 5, 10);

    const together = [6, 7, 10].reduce((learned, sentAt) => throttled(learned, sentAt, 11), cut);
    const soon = throttled(cut, 410, 411);
    const later = oftenThrottled(cut, 411, 412);

    expect(together).toBe(cut);
    expect(soon).toBe(cut);
    expect(ratioAt(later, 412)).toBeCloseTo(0.5625, 2);
  });

  test('never goes so low that nothing is tried', () => {
    let learned = fullRatio(0);
    for (let now = 1000; now < 50_000; now += 1000) learned = throttled(learned, now, now);

    expect(ratioAt(learned, 50_000)).toBeGreaterThanOrEqual(0.05);
  });

  test('grows by a thousandth with each answer, up to the whole', () => {
    let learned = oftenThrottled(fullRatio(0), 5, 10);
    for (let call = 0; call < 100; call++) learned = afterAnswer(learned, 10);
    const after100 = ratioAt(learned, 10);
    for (let call = 0; call < 1000; call++) learned = afterAnswer(learned, 10);

    expect(after100).toBeCloseTo(0.85);
    expect(ratioAt(learned, 10)).toBe(1);
  });

  test('grows faster once nothing was throttled for a minute', () => {
    const learned = { value: 0.25, at: minute, cutAt: 0, throttleWeight: 0, burstAt: 0 };

    const grown = afterAnswer(learned, minute);

    expect(ratioAt(grown, minute)).toBeCloseTo(0.255);
  });

  test('is the whole again after ten minutes without calls at most', () => {
    const learned = { value: 0.05, at: 0, cutAt: 0, throttleWeight: 0, burstAt: 0 };

    expect(ratioAt(learned, 5 * minute)).toBeCloseTo(0.55);
    expect(ratioAt(learned, 10 * minute)).toBe(1);
  });
});
