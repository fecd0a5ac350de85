// Measures how long the event loop is blocked while everything is listed.
import type { CloudFigure } from '../figure.ts';
import { memoryInWords, playMemory } from '../scenarios/memory-forms.ts';

export const eventLoopDelay: CloudFigure = {
  name: 'event-loop-delay',
  title: 'event-loop delay during a listing, p99',
  unit: 'ms',
  limits: { aws: 50 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) =>
    `${memoryInWords(settings)} nodejs_eventloop_lag_p99_seconds over that listing: what a timer of 10 ms took, those 10 ms in it.`,
  measure: async (context) => {
    const { loopDelay } = await playMemory(context);
    if (loopDelay === undefined) throw new Error('there was no listing');
    return { measured: loopDelay.p99, details: `at most ${loopDelay.max.toFixed(1)} ms` };
  },
};
