// Measures how soon a node is offered what an assignment brought, while many nodes join at once.
import type { CloudFigure } from '../figure.ts';
import { percentile } from '../percentile.ts';
import { inWords, oneAssignOf, playScaleUp } from '../scenarios/scale-up-forms.ts';
import { coresInWords } from '../scenarios/time-over-floor.ts';

const joining = oneAssignOf(200);

export const answerToOffer: CloudFigure = {
  name: 'answer-to-offer',
  title: 'the slowest of 200 nodes: from its last answer to its offer',
  unit: 's',
  limits: { aws: 1 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: inWords(
    joining,
    'From when the answer to the assignment left EC2 until an agent saw the node with its addresses, of each node.',
  ),
  measure: async (context) => {
    const { lags, half, seconds, cores } = await playScaleUp(context, joining);
    const at = (share: number): string => percentile(lags, share).toFixed(2);
    return {
      measured: percentile(lags, 1),
      details: `p50 ${at(0.5)} s, p90 ${at(0.9)} s, at most ${at(1)} s, of ${lags.length} nodes; half after ${half.toFixed(2)} s, all after ${seconds.toFixed(2)} s\n${coresInWords(cores)}`,
    };
  },
};
