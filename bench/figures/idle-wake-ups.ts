// Counts how often the nodes of an idle fleet are reconciled.
import type { CloudFigure } from '../figure.ts';
import { idleInWords, playIdle } from '../scenarios/idle-forms.ts';

export const idleWakeUps: CloudFigure = {
  name: 'idle-wake-ups',
  title: 'idle: reconciliations of a node',
  unit: 'an hour',
  limits: { aws: 1 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) =>
    `${idleInWords(settings)} Runs of all nodes by the controller's own histogram, for each node.`,
  measure: async (context) => {
    const { wakeUps, seconds } = await playIdle(context);
    return {
      measured: ((wakeUps / context.nodes) * 3600) / seconds,
      details: `${wakeUps} in ${seconds} s`,
    };
  },
};
