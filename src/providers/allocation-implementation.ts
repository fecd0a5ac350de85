// The contract that every cloud fulfils. A cloud contributes facts and effects; what to do is decided elsewhere, once
// for all clouds. A cloud knows nothing of Kubernetes.
import type { Urgency } from './urgency.ts';
import type { Infrastructure, KnownNetwork, UnreadablePart } from './infrastructure.ts';
import type { InstanceView } from './instance-view.ts';
import type { NetworkInterface, Tags } from './network-interface.ts';
import type { Observation } from './observation.ts';
import type { Operation, OperationKind, Outcome } from './operation.ts';
import type { PublicAddress } from './public-address.ts';

export interface AllocationImplementation {
  /**
   * Reads what exists, page by page: everything on the instances of these networks, or on some instances by id (at most
   * `mostInstancesPerLook`). Rejects with a CloudError; what was yielded before stays true.
   */
  observe(scope: ObservationScope, context: CallContext): AsyncIterable<ObservedPage>;
  readonly mostInstancesPerLook: number;

  /** Reads subnets, networks, route tables and security groups. Rejects with a CloudError. */
  readInfrastructure(networkIds: readonly string[], context: CallContext): Promise<ObservedInfrastructure>;

  /** Reads the subnets alone: how many addresses of each are free. Rejects with a CloudError. */
  readSubnetCounts(networkIds: readonly string[], context: CallContext): Promise<ObservedCounts>;

  /** What the cloud allows on instances of these types; a type that the cloud does not know is left out. */
  readLimits(
    instanceTypes: readonly string[],
    context: CallContext,
  ): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>>;
  readonly mostTypesPerRead: number;

  /** Reads the public addresses of the account that carry all of these tags. Rejects with a CloudError. */
  readPublicAddresses(tags: Tags, context: CallContext): Promise<ObservedPublicAddresses>;
  /** Reads the interfaces that are attached to nothing. Rejects with a CloudError. */
  readDetached(scope: DetachedScope, context: CallContext): Promise<ObservedDetached>;

  /**
   * Waits until the rate limits allow one call of each kind, taken together. The function it resolves to gives them
   * back once, all or some: for calls that turn out not to be needed any more.
   */
  admit(kinds: readonly OperationKind[], context: CallContext): Promise<GiveBack>;

  /** To be called when the urgency of something that waits to be admitted has risen: who goes next is decided anew. */
  reconsider(): void;

  /** About how long the rate limits would hold up one call of each kind, were it asked for now, in ms. */
  expectedWait(kinds: readonly OperationKind[], urgency: Urgency): number;

  /**
   * Carries out an operation that was admitted. Never rejects for what a cloud does. `context.signal` ends the wait for
   * a place among the requests in flight; a request that was sent is waited for.
   */
  perform(operation: Operation, context: CallContext): Promise<Outcome>;

  /** The cloud's part of the CiliumNode status: its key there, and what belongs under it. */
  readonly statusKey: string;
  statusOf(view: InstanceView, context: StatusContext): unknown;

  /** What a published status speaks of, read leniently: what was known before a restart. */
  recall(instanceId: string, status: unknown): Recollection;
}

export type GiveBack = (unsent?: readonly OperationKind[]) => void;

export type ObservationScope =
  | { readonly kind: 'networks'; readonly networkIds: readonly string[] }
  | { readonly kind: 'instances'; readonly instanceIds: readonly string[] };

export interface ObservedPage {
  /** When the request for this page was sent, in monotonic ms. */
  readonly begunAt: number;
  readonly observations: readonly Observation[];
}

export interface ObservedInfrastructure {
  readonly begunAt: number;
  readonly infrastructure: Infrastructure;
  /** Parts that were left out of it. */
  readonly problems: readonly UnreadablePart[];
}

export interface ObservedCounts {
  readonly begunAt: number;
  /** Free addresses by subnet. */
  readonly counts: ReadonlyMap<string, number>;
}

export interface ObservedPublicAddresses {
  readonly begunAt: number;
  /** In order of their ids. */
  readonly addresses: readonly PublicAddress[];
}

export interface DetachedScope {
  /** Tags that an interface must carry, all of them; at least one. */
  readonly tags: Tags;
  /** The only network that is asked about; undefined for all. */
  readonly networkId: string | undefined;
  /** The only interfaces that are asked about, at most `mostInstancesPerLook`; left out for all. */
  readonly ids?: readonly string[];
}

export interface ObservedDetached {
  /** When the first request was sent, in monotonic ms. */
  readonly begunAt: number;
  /** What could not be understood is left out. */
  readonly interfaces: readonly NetworkInterface[];
}

export interface CallContext {
  /** Asked whenever a place is granted, so that a need that becomes pressing while it waits moves ahead. */
  readonly urgency: () => Urgency;
  readonly signal: AbortSignal;
  /** Part of something that was begun and must be seen through: no dry run, pause or foreign writer holds it up. */
  readonly begun?: true;
}

export interface Recollection extends KnownNetwork {
  readonly interfaces: readonly NetworkInterface[];
}

export interface InstanceLimits {
  /** Interfaces of the default network card, the primary one included. */
  readonly interfaces: number;
  /** IPv4 addresses of one interface, its primary one included. */
  readonly addressesPerInterface: number;
  /** Whether its interfaces can carry prefixes, each in the place of one address. */
  readonly prefixes: boolean;
}

/** What the cloud says of an instance type cannot be understood. */
export interface UnreadableLimits {
  readonly problem: string;
}

export interface StatusContext {
  readonly infrastructure: Infrastructure;
  readonly usePrimaryAddress: boolean;
  /** Addresses that must not be published. */
  readonly withheld: ReadonlySet<string>;
}
