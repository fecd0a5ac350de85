// Compares the mutating calls of a scale-up of one new interface a node with the fewest possible.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { createAndAttach, inWords, playScaleUp } from '../scenarios/scale-up-forms.ts';

/** CreateNetworkInterface and AttachNetworkInterface. */
const fewestPerNode = 2;

export const mutatingCallsCreateAttach: CloudFigure = {
  name: 'mutating-calls-create-attach',
  title: 'mutating calls over the fewest, create + attach',
  unit: '×',
  limits: { aws: 1.03, alibaba: 1 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(createAndAttach, 'ModifyNetworkInterfaceAttribute is counted apart.'),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, createAndAttach);
    const measured = callFigures(calls).mutating / (createAndAttach(context).nodes * fewestPerNode);
    return { measured, details: callsInWords(calls) };
  },
};
