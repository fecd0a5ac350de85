// Measures how many reads of the cloud an idle fleet causes an hour.
import { callsInWords } from '../call-figures.ts';
import type { CloudFigure } from '../figure.ts';
import { idleInWords, playIdle } from '../scenarios/idle-forms.ts';

const secondsPerHour = 3600;

export const idleReads: CloudFigure = {
  name: 'idle-reads',
  title: 'idle: reads an hour',
  unit: 'calls/h',
  limits: { aws: 60, azure: 60, alibaba: 60 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) => `${idleInWords(settings)} Reads of the cloud, pages included, times six.`,
  measure: async (context) => {
    const { reads, seconds, calls } = await playIdle(context);
    return { measured: (reads * secondsPerHour) / seconds, details: callsInWords(calls) };
  },
};
