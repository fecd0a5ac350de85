// Compares the mutating calls of a scale-up of one assignment a node with the fewest possible.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { inWords, oneAssign, playScaleUp } from '../scenarios/scale-up-forms.ts';

export const mutatingCallsAssign: CloudFigure = {
  name: 'mutating-calls-assign',
  title: 'mutating calls over the fewest, one assign',
  unit: '×',
  limits: { aws: 1.03, azure: 1.05 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(oneAssign),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, oneAssign);
    const { mutating, modify } = callFigures(calls);
    return { measured: (mutating + modify) / oneAssign(context).nodes, details: callsInWords(calls) };
  },
};
