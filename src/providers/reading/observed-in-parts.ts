// A page of a listing in parts, so that others work in between.
import type { TakenAddresses } from '../contract/block-census.ts';
import type { ObservedPage } from '../contract/cloud.ts';
import type { Observation } from '../contract/facts.ts';

/** Interfaces of a listing parsed at a time. */
const partSize = 50;

/** How the items of a listing are read: those of our instances, and what others hold in their subnets. */
interface ReadListing<T> {
  readonly isObserved: (item: T) => boolean;
  readonly read: (item: T) => Observation | undefined;
  readonly taken: (item: T) => TakenAddresses;
}

/**
 * A page of a listing in parts: the caller works in between, for seconds while a fleet joins. Each part is taken out of
 * `page`, and is freed once it is used.
 */
export function* observedInParts<T>(
  page: T[],
  startedAt: number,
  { isObserved, read, taken }: ReadListing<T>,
): Generator<ObservedPage> {
  while (page.length > 0) {
    const part = page.splice(0, partSize);
    yield {
      startedAt,
      observations: part.filter(isObserved).flatMap((item) => read(item) ?? []),
      others: part.filter((item) => !isObserved(item)).map(taken),
    };
  }
}
