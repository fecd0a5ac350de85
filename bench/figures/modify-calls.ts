// Counts the ModifyNetworkInterfaceAttribute calls for each created interface.
import { callFigures } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { createAndAttach, inWords, playScaleUp } from '../scenarios/scale-up-forms.ts';

export const modifyCalls: CloudFigure = {
  name: 'modify-calls',
  title: 'ModifyNetworkInterfaceAttribute per created interface',
  unit: '×',
  limits: { aws: 1 },
  bound: 'exactly',
  inSmallForm: true,
  scenario: inWords(createAndAttach),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, createAndAttach);
    const { modify, created } = callFigures(calls);
    return { measured: modify / created, details: `${modify} calls, ${created} interfaces created` };
  },
};
