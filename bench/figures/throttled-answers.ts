// Measures which percentage of the calls of a scale-up is throttled.
import type { CloudFigure } from '../figure.ts';
import { inWords, playScaleUp, usual } from '../scenarios/scale-up-forms.ts';
import { throttledShare } from '../scenarios/throttled-share.ts';

export const throttledAnswers: CloudFigure = {
  name: 'throttled-answers',
  title: 'throttled answers',
  unit: '%',
  limits: { aws: 1, azure: 1, alibaba: 0 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(usual),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, usual);
    return throttledShare(calls);
  },
};
