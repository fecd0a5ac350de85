// Measures which percentage of the calls is throttled while nodes join and others shrink.
import type { CloudFigure } from '../figure.ts';
import { besideReleases, inWords, planOf } from '../scenarios/beside-releases.ts';
import { throttledShare } from '../scenarios/throttled-share.ts';

export const throttledBesideReleases: CloudFigure = {
  name: 'throttled-beside-releases',
  title: 'throttled answers, releases under way',
  unit: '%',
  limits: { azure: 1 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords,
  measure: async (context) => {
    const { calls } = await context.scenarios.played(planOf(context), besideReleases);
    return throttledShare(calls);
  },
};
