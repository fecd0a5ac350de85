// Counts the calls by which a scale-up exceeds what the cloud serves in any 60 s: there must be none.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { createAndAttachOf, inWords, playScaleUp } from '../scenarios/scale-up-forms.ts';

/** More than the windows hold. */
const beyondWindow = createAndAttachOf(600);

export const callsOverWindow: CloudFigure = {
  name: 'calls-over-window',
  title: 'calls over the window of any 60 s',
  unit: 'calls',
  limits: { alibaba: 0 },
  bound: 'exactly',
  // A whole window has to pass.
  inSmallForm: false,
  scenario: inWords(beyondWindow, 'The windows hold 500 calls; what is over is throttled.'),
  measure: async (context) => {
    const { calls, seconds } = await playScaleUp(context, beyondWindow);
    return {
      measured: callFigures(calls).throttled,
      details: `${callsInWords(calls)}; ${seconds.toFixed(1)} s`,
    };
  },
};
