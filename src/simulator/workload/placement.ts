// Chooses the node of a new pod: the part of a scheduler that a workload needs.
import type { Random } from '../../runtime/random.ts';
import type { Placement } from './workload.ts';

/**
 * A node with fewer than `capacity` pods; undefined if there is none. `loads`: pods by node, in a fixed
 * order. Ties are random.
 */
export function chooseNode(
  loads: ReadonlyMap<string, number>,
  capacity: number,
  placement: Placement,
  random: Random,
): string | undefined {
  const open = [...loads].filter(([, pods]) => pods < capacity);
  if (open.length === 0) return undefined;
  if (placement === 'random') return random.pick(open)[0];

  const counts = open.map(([, pods]) => pods);
  const wanted = placement === 'spread' ? Math.min(...counts) : Math.max(...counts);
  return random.pick(open.filter(([, pods]) => pods === wanted))[0];
}
