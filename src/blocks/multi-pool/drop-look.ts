// Decides which of the blocks that an agent no longer lists are in use by pods of its node. Pure.
import type { PodReading, ShownPod } from '../../kubernetes/watch/shown-pods.ts';
import { addressCidr, overlaps } from '../set/cidr.ts';
import type { ListedBlock } from './pool-book.ts';

export interface DropLook {
  /** Dropped blocks of which no running pod has an address. */
  readonly unused: readonly ListedBlock[];
  /** Addresses of the others that running pods show, sorted. */
  readonly kept: readonly ShownPod[];
  /** Why pods cannot be read, and what to do; then none counts as unused. */
  readonly problem: string | undefined;
}

export function dropLook(dropped: readonly ListedBlock[], reading: PodReading): DropLook {
  if (reading.kind === 'unreadable') return { unused: [], kept: [], problem: reading.problem };
  const shown = reading.shown.flatMap((each) => {
    const place = addressCidr(each.address);
    return place === undefined ? [] : [{ each, place }];
  });
  const used = (block: ListedBlock): readonly ShownPod[] =>
    shown.filter(({ place }) => overlaps(block.cidr, place)).map(({ each }) => each);
  const kept = dropped.flatMap(used).toSorted((a, b) => (a.pod + a.address < b.pod + b.address ? -1 : 1));
  return { unused: dropped.filter((block) => used(block).length === 0), kept, problem: undefined };
}
