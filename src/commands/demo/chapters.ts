// What happens in the demonstration, and when.
import type { Workload } from '../../simulator/workload/workload.ts';

export interface Chapter {
  /** When it begins, in ms. */
  readonly at: number;
  readonly title: string;
  readonly workload?: Workload;
}

export function chaptersFor(nodes: number): readonly Chapter[] {
  return [
    { at: 0, title: 'the nodes join' },
    {
      at: 7000,
      title: 'pods arrive',
      workload: { kind: 'burst', name: 'web', at: 0, pods: nodes * 6, over: 12_000 },
    },
    {
      at: 22_000,
      title: 'a burst of pods',
      workload: { kind: 'burst', name: 'batch', at: 0, pods: nodes * 3, over: 2000 },
    },
    { at: 25_000, title: 'everybody to the watermarks' },
  ];
}

/** When the last pod was created, in ms. */
export const lastPodAt = 24_000;

/** When all must be served, in ms since the demonstration began. */
export const lastMoment = 50_000;

/** When everything must be over, in ms since the demonstration began: it promises to end within a minute. */
export const longestTime = 57_000;
