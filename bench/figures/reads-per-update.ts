// Measures the reads of the cloud for each update of a scale-up, those of its progress included.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { inWords, oneAssign, playScaleUp } from '../scenarios/scale-up-forms.ts';

export const readsPerUpdate: CloudFigure = {
  name: 'reads-per-update',
  title: 'reads for each update, whole scale-up',
  unit: '×',
  limits: { azure: 2.2 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(
    oneAssign,
    'Each page is a read, those of the progress of updates too; until no call comes any more.',
  ),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, oneAssign);
    const { reads, mutating } = callFigures(calls);
    return { measured: reads / mutating, details: callsInWords(calls) };
  },
};
