// Measures which percentage of the calls of a scale-up is throttled.
import type { Figure } from '../figure.ts';
import { createAndAttach, inWords, playScaleUp } from '../scenarios/scale-up-forms.ts';
import { throttledShare } from '../scenarios/throttled-share.ts';

export const throttledAnswers: Figure = {
  name: 'throttled-answers',
  title: 'throttled answers',
  unit: '%',
  limit: 1,
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(createAndAttach),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, createAndAttach);
    return throttledShare(calls);
  },
};
