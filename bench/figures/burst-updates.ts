// Counts the updates that a burst of pods on one node causes.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { CloudFigure, FigureContext } from '../figure.ts';
import { burstTime, oneBurst, podsOfBurst } from '../scenarios/one-burst.ts';

const protocols = ['crd-allocator', 'multi-pool'] as const;

export const burstUpdates: CloudFigure = {
  name: 'burst-updates',
  title: 'updates for a burst of pods on one node',
  unit: 'calls',
  limits: { azure: 2 },
  bound: 'atMost',
  // Tests count it in virtual time.
  inSmallForm: false,
  scenario: () =>
    `${podsOfBurst} pods come to a node that has what it needs, within ${burstTime} ms. Its agent and its kubelet are played whole, ` +
    'once for each protocol; the one with more updates counts.',
  measure: async (context) => {
    const measured = [];
    for (const protocol of protocols) measured.push(await measureWith(protocol, context));
    return {
      measured: Math.max(...measured.map(({ updates }) => updates)),
      details: measured.map(({ details }) => details).join('\n'),
    };
  },
};

async function measureWith(
  protocol: (typeof protocols)[number],
  { cloud, scale, scenarios }: FigureContext,
): Promise<{ readonly updates: number; readonly details: string }> {
  const { calls, seconds } = await scenarios.played({ cloud, protocol, scale }, oneBurst);
  const { mutating } = callFigures(calls);
  return { updates: mutating, details: `${protocol}: ${callsInWords(calls)}; ${seconds.toFixed(1)} s` };
}
