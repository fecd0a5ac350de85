// Counts the mutating cloud calls that an idle fleet causes: there must be none.
import { callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { idleInWords, playIdle } from '../scenarios/idle-forms.ts';

export const idleMutatingCalls: CloudFigure = {
  name: 'idle-mutating-calls',
  title: 'idle: mutating calls',
  unit: 'calls',
  limits: { aws: 0, azure: 0, alibaba: 0 },
  bound: 'exactly',
  inSmallForm: true,
  scenario: idleInWords,
  measure: async (context) => {
    const { mutating, calls } = await playIdle(context);
    return { measured: mutating, details: callsInWords(calls) };
  },
};
