// Counts the writes to Kubernetes that an idle fleet causes, without Leases: there must be none.
import type { CloudFigure } from '../figure.ts';
import { idleInWords, playIdle } from '../scenarios/idle-forms.ts';

export const idleWrites: CloudFigure = {
  name: 'idle-writes',
  title: 'idle: writes to Kubernetes',
  unit: 'writes',
  limits: { aws: 0, azure: 0, alibaba: 0 },
  bound: 'exactly',
  inSmallForm: true,
  scenario: (settings) =>
    `${idleInWords(settings)} Every request that is no read, counted by the API server; of Leases apart.`,
  measure: async (context) => {
    const { writes } = await playIdle(context);
    const details = [...writes].map(([resource, count]) => `${resource} ${count}`).join(', ');
    return { measured: [...writes.values()].reduce((sum, count) => sum + count, 0), details };
  },
};
