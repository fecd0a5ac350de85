// What Headwater learns from a cloud: from listings, refreshes of single instances and answers to its own calls.
import type { ObservedPage } from './allocation-implementation.ts';
import type { TakenAddresses } from './block-census.ts';
import { isPrimaryInterface, type NetworkInterface } from './network-interface.ts';

/** Read from the cloud. */
export type Observation =
  | { readonly kind: 'interface'; readonly interface: NetworkInterface }
  | { readonly kind: 'unreadableInterface'; readonly interface: UnreadableInterface }
  | { readonly kind: 'addresslessInterface'; readonly interface: OccupiedSlot }
  | { readonly kind: 'instance'; readonly instance: Instance };

/** An interface that occupies its slot and is never used. */
export interface OccupiedSlot {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number | undefined;
  readonly networkCard: number;
}

/** An interface that exists but could not be parsed. */
export interface UnreadableInterface extends OccupiedSlot {
  /** What is wrong with it. */
  readonly problem: string;
}

/** Attached to an instance, but unusable for pods. */
export type UnusableInterface = Extract<
  Observation,
  { readonly kind: 'unreadableInterface' | 'addresslessInterface' }
>;

export interface Instance {
  readonly id: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated' | 'unknown';
  /** False if the options exclude this instance. */
  readonly managed: boolean;
}

/** The result of our own call: what is true now. */
export type Answer =
  | { readonly kind: 'created'; readonly interface: NetworkInterface }
  | {
      readonly kind: 'attached';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly deviceIndex: number;
      readonly attachmentId: string;
      /** The interface in the read that showed it attached, if there was one, and when that was sent, in monotonic ms. */
      readonly shown?: { readonly interface: NetworkInterface; readonly startedAt: number };
    }
  | {
      readonly kind: 'allocated';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly addresses: readonly string[];
      readonly prefixes: readonly string[];
      readonly ipv6Prefixes?: readonly string[];
    }
  | {
      readonly kind: 'released';
      readonly interfaceId: string;
      readonly instanceId: string;
      /** Addresses or prefixes that the interface no longer has. */
      readonly holdings: readonly string[];
    }
  /**
   * The answer of this call was lost, or that of an earlier one, and this one met a change: the call may have released these,
   * or may still do so. The agent has given them up.
   */
  | {
      readonly kind: 'releasing';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly holdings: readonly string[];
      /** How long the call may still take effect unseen, in monotonic ms. */
      readonly until: number;
    }
  | { readonly kind: 'detached'; readonly interfaceId: string; readonly instanceId: string }
  | {
      readonly kind: 'staticIPAssociated';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly publicAddress: string;
    }
  | { readonly kind: 'deleteOnTerminationSet'; readonly interfaceId: string; readonly instanceId: string }
  /** The cloud no longer knows an interface: it is gone, or will be visible again. */
  | { readonly kind: 'notFound'; readonly interfaceId: string; readonly instanceId: string }
  | { readonly kind: 'deleted'; readonly interfaceId: string };

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

/** Each instance that was asked for. Whether one that is not shown is `managed` cannot be told if tags decide. */
export function askedInstances(
  ids: readonly string[],
  shown: ReadonlyMap<string, Instance>,
  managed: boolean,
): readonly Observation[] {
  return ids.map((id) => ({
    kind: 'instance',
    instance: shown.get(id) ?? { id, state: 'unknown', managed },
  }));
}

/** Whether it shows a primary interface that can be read. */
export function isOfPrimary(observation: Observation): boolean {
  return observation.kind === 'interface' && isPrimaryInterface(observation.interface);
}

export function interfaceOf(observation: Observation): string | undefined {
  return observation.kind === 'instance' ? undefined : observation.interface.id;
}
