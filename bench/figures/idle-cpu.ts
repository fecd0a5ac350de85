// Measures the CPU that an idle fleet costs.
import type { CloudFigure } from '../figure.ts';
import { idleInWords, playIdle } from '../scenarios/idle-forms.ts';

export const idleCpu: CloudFigure = {
  name: 'idle-cpu',
  title: 'idle: CPU',
  unit: '% of a core',
  limits: { aws: 2, azure: 2, alibaba: 2 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) => `${idleInWords(settings)} User and system time of the process, by the kernel.`,
  measure: async (context) => {
    const { cpu, seconds } = await playIdle(context);
    return { measured: (100 * cpu) / seconds, details: `${cpu.toFixed(2)} s in ${seconds} s` };
  },
};
