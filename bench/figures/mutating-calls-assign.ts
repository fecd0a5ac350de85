import { callFigures, callsInWords } from '../call-figures.ts';
import type { Figure } from '../figure.ts';
import { inWords, oneAssign, playScaleUp } from '../scenarios/scale-up-forms.ts';

export const mutatingCallsAssign: Figure = {
  name: 'mutating-calls-assign',
  title: 'mutating calls over the fewest, one assign',
  unit: '×',
  limit: 1.03,
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(oneAssign),
  measure: async (stage) => {
    const { calls } = await playScaleUp(stage, oneAssign);
    const { mutating, modify } = callFigures(calls);
    return { measured: (mutating + modify) / stage.nodes, details: callsInWords(calls) };
  },
};
