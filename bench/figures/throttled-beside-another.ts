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
  // Of 300 answers, those to the first calls, sent before anything can be learnt, are more than the limit.
  inSmallForm: false,
  scenario: inWords(besideAnother),
  measure: async (context) => {
    return throttledShare((await playScaleUp(context, besideAnother)).calls);
  },
};
