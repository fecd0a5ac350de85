// Measures how soon the agent of a joining node serves pods.
import type { CloudFigure } from '../figure.ts';
import { percentile } from '../percentile.ts';
import { joinsInWords, playJoins } from '../scenarios/join-forms.ts';

export const joinTime: CloudFigure = {
  name: 'join-time',
  title: 'from a CiliumNode to its agent ready, p99',
  unit: 's',
  limits: { aws: 2 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) => `${joinsInWords(settings)} From the CiliumNode until the agent serves pods.`,
  measure: async (context) => {
    const { seconds } = await playJoins(context);
    const at = (share: number): string => percentile(seconds, share).toFixed(2);
    return {
      measured: percentile(seconds, 0.99),
      details: `p50 ${at(0.5)} s, p99 ${at(0.99)} s, at most ${at(1)} s; ${seconds.length} nodes`,
    };
  },
};
