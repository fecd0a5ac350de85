import { describe, expect, test } from '@jest/globals';
import { callCapOf, capInWords, costOfCap, secondsToMake } from '../../../src/config/option-warnings.ts';
import { clouds } from '../../../src/config/clouds/clouds.ts';

describe('callCapOf', () => {
  test.each([
    [undefined, undefined, undefined],
    [8, undefined, { perSecond: 8, burst: 20 }],
    [undefined, 100, { perSecond: 4, burst: 100 }],
    [0.5, 1, { perSecond: 0.5, burst: 1 }],
  ])('reads qps %p and burst %p', (limitIpamApiQps, limitIpamApiBurst, expected) => {
    expect(callCapOf({ limitIpamApiQps, limitIpamApiBurst })).toEqual(expected);
  });
});

describe('secondsToMake', () => {
  test.each([
    [0, 0],
    [20, 0],
    [21, 0.25],
    [2000, 495],
  ])('is exact for %d calls at 4 a second with 20 at once', (calls, expected) => {
    expect(secondsToMake(calls, { perSecond: 4, burst: 20 })).toBe(expected);
  });
});

describe('costOfCap', () => {
  test.each([
    ["the operator's default", { perSecond: 4, burst: 20 }, 1000, { capped: 495, uncapped: 190 }],
    ['a cap above what EC2 gives', { perSecond: 100, burst: 500 }, 1000, { capped: 190, uncapped: 190 }],
    ['a fleet that fits into every burst', { perSecond: 4, burst: 20 }, 10, { capped: 0, uncapped: 0 }],
  ])('compares %s', (_, cap, nodes, expected) => {
    expect(costOfCap(cap, nodes, clouds.eni.firstCalls)).toEqual(expected);
  });
});

describe('capInWords', () => {
  test.each([
    [
      { perSecond: 4, burst: 20 },
      true,
      'at 4 calls/s and 20 at once for all cloud calls together, a fleet of 1,000 nodes needing a create and an attach each takes at least 495 s instead of 190 s',
    ],
    [
      { perSecond: 100, burst: 500 },
      false,
      'at 100 calls/s and 500 at once for all cloud calls together, a fleet of 1,000 nodes needing a create and an attach each takes at least 190 s, as without the cap',
    ],
  ])('compares %j with no cap', (cap, isSlower, cost) => {
    expect(capInWords(cap, clouds.eni.firstCalls)).toEqual({ cost, isSlower });
  });

  test("compares with the limits of Azure's first calls", () => {
    const { cost } = capInWords({ perSecond: 4, burst: 20 }, clouds.azure.firstCalls);

    expect(cost).toContain('needing a read and an update each takes at least 495 s instead of 30 s');
  });
});
