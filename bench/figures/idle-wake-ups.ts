// Counts how often the nodes of an idle fleet are reconciled.
import type { CloudFigure } from '../figure.ts';
import { idleInWords, playIdle } from '../scenarios/idle-forms.ts';

export const idleWakeUps: CloudFigure = {
  name: 'idle-wake-ups',
  title: 'idle: reconciliations of nodes',
  unit: 'runs',
  limits: { aws: 0 },
  bound: 'exactly',
  inSmallForm: false,
  scenario: (settings) =>
    `${idleInWords(settings)} How often any of them was reconciled, by the controller's own histogram.`,
  measure: async (context) => {
    const { wakeUps, seconds } = await playIdle(context);
    return { measured: wakeUps, details: `${wakeUps} in ${seconds} s` };
  },
};
