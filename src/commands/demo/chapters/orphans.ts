// Chapter about interfaces that nobody attaches: those of this cluster are deleted, those of others stay.
import type { Chapter, ChapterContext } from '../chapter.ts';

export interface LeftInterfaces {
  /** Ids of those that carry the tags of this cluster. */
  readonly ours: readonly string[];
  /** Ids of those of another cluster. */
  readonly others: readonly string[];
  /** Where they are. */
  readonly place: string;
}

export function orphans(context: ChapterContext, { ours, others, place }: LeftInterfaces): Chapter {
  const { network } = context.cluster;
  const left = (ids: readonly string[]): readonly string[] => ids.filter((id) => network.interfaces.has(id));
  return {
    title: 'interfaces that a dead controller left behind',
    hints: [
      `In ${place} there are ${ours.length} interfaces that a controller of this cluster created and never attached, and`,
      `${others.length} of another cluster. Such an interface is deleted once it was seen detached for a minute, if its tags name this cluster.`,
    ],
    beginChapter: () => undefined,
    watch: () => {
      if (left(ours).length > 0) return 'running';
      context.report(
        `COLLECTED: ${ours.join(', ')} and their addresses are free again; ${left(others).length} of ${others.length} of the other cluster are there`,
      );
      return 'over';
    },
  };
}
