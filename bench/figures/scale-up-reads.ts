// Counts the reads of the cloud during a whole scale-up.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { createAndAttach, inWords, playScaleUp } from '../scenarios/scale-up-forms.ts';

export const scaleUpReads: CloudFigure = {
  name: 'scale-up-reads',
  title: 'reads of every kind, whole scale-up',
  unit: 'calls',
  limits: { aws: 40 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: inWords(createAndAttach, 'Each page is a read; until no call comes any more.'),
  measure: async (context) => {
    const { calls } = await playScaleUp(context, createAndAttach);
    const reads = Object.fromEntries(
      Object.entries(calls).filter(([action]) => action.startsWith('Describe')),
    );
    return { measured: callFigures(calls).reads, details: callsInWords(reads) };
  },
};
