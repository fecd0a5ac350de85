// Counts the updates that a burst of pods on one node causes.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure, Settings } from '../figure.ts';
import { burstTime, oneBurst, type OneBurstPlan, podsOfBurst } from '../scenarios/one-burst.ts';

const planFor = ({ cloud, scale }: Settings): OneBurstPlan => ({ cloud, scale });

export const burstUpdates: CloudFigure = {
  name: 'burst-updates',
  title: 'updates for a burst of pods on one node',
  unit: 'calls',
  limits: { azure: 2 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: () =>
    `${podsOfBurst} pods come to a node with 8 free addresses within ${burstTime} ms. Agent and kubelet of the node are played whole.`,
  measure: async (context) => {
    const { calls, seconds } = await context.scenarios.played(planFor(context), oneBurst);
    const { mutating } = callFigures(calls);
    return { measured: mutating, details: `${callsInWords(calls)}; ${seconds.toFixed(1)} s` };
  },
};
