// Measures the peak memory of the process with a whole fleet.
import type { CloudFigure } from '../figure.ts';
import { megabytes, memoryInWords, playMemory } from '../scenarios/memory-forms.ts';

export const memoryInAll: CloudFigure = {
  name: 'memory-in-all',
  title: 'peak memory in all',
  unit: 'MB',
  limits: { aws: 220 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) => `${memoryInWords(settings)} VmHWM of the process.`,
  measure: async (context) => {
    const { peakMemory } = await playMemory(context);
    return { measured: megabytes(peakMemory), details: '' };
  },
};
