// Measures the peak memory that a fleet costs above a process without nodes.
import type { CloudFigure } from '../figure.ts';
import { megabytes, memoryInWords, playMemory } from '../scenarios/memory-forms.ts';

export const memoryAboveEmpty: CloudFigure = {
  name: 'memory-above-empty',
  title: 'peak memory above the process without nodes',
  unit: 'MB',
  limits: { aws: 60, azure: 80, alibaba: 80 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) =>
    `${memoryInWords(settings)} VmHWM of the process, less that of one that ran for 30 s without any node.`,
  measure: async (context) => {
    const [full, empty] = [await playMemory(context), await playMemory(context, 0)];
    const [all, min] = [megabytes(full.peakMemory), megabytes(empty.peakMemory)];
    return { measured: all - min, details: `${all.toFixed(1)} MB and ${min.toFixed(1)} MB` };
  },
};
