// Measures which percentage of the calls of a scale-up is throttled while another client uses the same limits.
import type { CloudFigure } from '../figure.ts';
import { besideAnother, inWords, playScaleUp } from '../scenarios/scale-up-forms.ts';
import { throttledShare } from '../scenarios/throttled-share.ts';

export const throttledBesideAnother: CloudFigure = {
  name: 'throttled-beside-another',
  title: 'throttled answers beside another client',
  unit: '%',
  limits: { aws: 3 },
  bound: 'atMost',
  // In a run of 300 answers, throttled answers to the first calls, before the rate is learned, already exceed the limit.
  inSmallForm: false,
  scenario: inWords(besideAnother),
  measure: async (context) => {
    return throttledShare((await playScaleUp(context, besideAnother)).calls);
  },
};
