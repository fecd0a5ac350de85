// Measures the peak memory while nodes join and others shrink, above a process without nodes.
import type { CloudFigure } from '../figure.ts';
import { besideReleases, inWords, planOf } from '../scenarios/beside-releases.ts';
import { megabytes, playMemory } from '../scenarios/memory-forms.ts';

export const memoryBesideReleases: CloudFigure = {
  name: 'memory-beside-releases',
  title: 'peak memory above the process without nodes, releases under way',
  unit: 'MB',
  limits: { azure: 80 },
  bound: 'atMost',
  inSmallForm: false,
  scenario: (settings) =>
    `${inWords(settings)} VmHWM of the process, less that of one that ran for 30 s without any node.`,
  measure: async (context) => {
    const full = await context.scenarios.played(planOf(context), besideReleases);
    const empty = await playMemory(context, 0);
    const [all, min] = [megabytes(full.peakMemory), megabytes(empty.peakMemory)];
    return { measured: all - min, details: `${all.toFixed(1)} MB and ${min.toFixed(1)} MB` };
  },
};
