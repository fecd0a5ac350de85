// Counts the joining nodes whose agents meet a write of ours: such a node is ready a minute later.
import type { CloudFigure } from '../figure.ts';
import { joinsInWords, playJoins } from '../scenarios/join-forms.ts';

export const joinConflicts: CloudFigure = {
  name: 'join-conflicts',
  title: 'joins whose agent meets a write of ours',
  unit: '%',
  // A pause of the machine between a read of an agent and its write may cause one of 100.
  limits: { aws: 1 },
  bound: 'atMost',
  inSmallForm: true,
  scenario: joinsInWords,
  measure: async (context) => {
    const { conflicts, seconds } = await playJoins(context);
    return {
      measured: (100 * conflicts) / seconds.length,
      details: `${conflicts} of ${seconds.length} nodes`,
    };
  },
};
