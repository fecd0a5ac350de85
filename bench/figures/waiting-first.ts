// Measures how soon nodes with pending pods are served while a fleet fills its buffers.
import type { CloudFigure, Settings } from '../figure.ts';
import { headStart, podsPerNode, waiting, type WaitingPlan } from '../scenarios/waiting.ts';

const few = 10;
const planFor = ({ nodes }: Settings): WaitingPlan => ({ normal: nodes, waiting: few });

export const waitingFirst: CloudFigure = {
  name: 'waiting-first',
  title: 'waiting nodes behind a fleet that tops up: first served',
  unit: 's',
  limits: { aws: 2 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) =>
    `${settings.nodes} nodes with 8 addresses want one more each; ${headStart / 1000} s later ${podsPerNode} pods come to each of ${few} others with 8. ` +
    'Limits and latencies of EC2, quota share 0.8. From the first of these pods to the first of the ten seen with its addresses, less 500 ms for the assignment.',
  measure: async (context) => {
    const { first, last, servedBefore, servedAfter } = await context.scenarios.played(
      planFor(context),
      waiting,
    );
    return {
      measured: first,
      details: `the last of the ten after ${last.toFixed(2)} s; ${servedBefore} of the many had been served before, ${servedAfter} by then`,
    };
  },
};
