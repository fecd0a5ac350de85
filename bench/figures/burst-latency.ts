// Measures how soon a burst of pods has its addresses while listings run, without the latency of EC2.
import type { CloudFigure, Settings } from '../figure.ts';
import { percentile } from '../percentile.ts';
import {
  betweenBursts,
  type BurstPlan,
  bursts,
  burstsPerListing,
  podsPerBurst,
  slowness,
} from '../scenarios/bursts.ts';

const fullSize = 500;
const normalShare = 0.1;

/** In a fleet of 1000 nodes, 500 get a burst each, 100 top up and 400 do nothing. */
function planFor({ nodes, scale }: Settings): BurstPlan {
  const count = Math.min(fullSize, Math.floor(nodes / 2));
  const buffering = Math.floor(nodes * normalShare);
  return { bursts: count, buffering, others: nodes - count - buffering, scale };
}

export const burstLatency: CloudFigure = {
  name: 'burst-latency',
  title: 'pod burst served, p99, less the latency of EC2',
  unit: 'ms',
  limits: { aws: 50 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) => {
    const { bursts: count, buffering, others } = planFor(settings);
    return (
      `${count} bursts of ${podsPerBurst} pods, each on a node of its own that has 8 addresses, one every ${betweenBursts} ms, ` +
      `${burstsPerListing} in each listing of everything (every 10 s, its pages ${slowness} ms slower), while ${buffering} other nodes ` +
      `top up by one address and ${others} do nothing; limits of EC2 × ${settings.scale}, latencies as they are, without scatter. ` +
      'From when the API has written the demand, and tells it the watch, to when it has written the pool with the addresses, less 500 ms for the assignment.'
    );
  },
  measure: async (context) => {
    const { delays, listings } = await context.scenarios.played(planFor(context), bursts);
    const at = (share: number): string => percentile(delays, share).toFixed(1);
    return {
      measured: percentile(delays, 0.99),
      details: `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms; ${delays.length} bursts in ${listings} listings`,
    };
  },
};
