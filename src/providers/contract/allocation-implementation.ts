// The contract that every cloud implements. A cloud contributes facts and effects; the core decides once for all
// clouds. A cloud knows nothing of Kubernetes but its section of the CiliumNode.
import type { TakenAddresses } from './block-census.ts';
import type { CiliumNodeSection } from './cilium-node-section.ts';
import type { CloudError } from './cloud-failure.ts';
import type { CloudTraits } from './cloud-traits.ts';
import type { Priority } from './priority.ts';
import type { Infrastructure, KnownNetwork, UnreadablePart } from './infrastructure.ts';
import type { NetworkInterface, Tags, PublicAddress } from './network-interface.ts';
import type { Observation } from './observation.ts';
import type { Operation, OperationKind, Outcome } from './operation.ts';

export interface AllocationImplementation {
  readonly traits: CloudTraits;

  /** One cheap read that only shows whether the cloud answers. Rejects with a CloudError. */
  reach(context: CallContext): Promise<void>;

  /**
   * Reads what exists, page by page: everything on the instances of these networks or that nodes name, or some
   * instances by id (at most `maxInstancesPerRefresh`). Rejects with a CloudError; pages already yielded stay valid.
   */
  observe(scope: ObservationScope, context: CallContext): AsyncIterable<ObservedPage>;
  readonly maxInstancesPerRefresh: number;

  /** Reads subnets, networks, route tables and security groups. Rejects with a CloudError. */
  readInfrastructure(
    networkIds: readonly string[],
    context: CallContext,
    zones: readonly string[],
  ): Promise<ObservedInfrastructure>;

  /** Reads only the number of free addresses in each subnet. Rejects with a CloudError. */
  readSubnetCounts(networkIds: readonly string[], context: CallContext): Promise<ObservedCounts>;

  /** What the cloud allows on instances of these types. Types unknown to the cloud are left out. */
  readLimits(
    instanceTypes: readonly string[],
    context: CallContext,
  ): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>>;
  readonly maxTypesPerRead: number;

  /** Reads the public addresses of the account that carry all of these tags. Rejects with a CloudError. */
  readPublicAddresses(tags: Tags, context: CallContext): Promise<ObservedPublicAddresses>;
  /** Reads the detached interfaces. Rejects with a CloudError. */
  readDetached(scope: DetachedScope, context: CallContext): Promise<ObservedDetached>;

  /**
   * Waits until the rate limits allow one call of each kind, taken together. Resolves to a function that refunds once,
   * all or some, for calls that are no longer needed.
   */
  admit(kinds: readonly OperationKind[], context: CallContext): Promise<Refund>;

  /** Reorders the queue. Call it when the priority of something that waits in `admit` has risen. */
  reconsider(): void;

  /**
   * Estimates how long the rate limits would delay one call of each kind requested now, in ms. `instanceId`: what the calls
   * concern; it may have limits of its own.
   */
  expectedWait(kinds: readonly OperationKind[], priority: Priority, instanceId: string): number;

  /**
   * Executes an admitted operation. Resolves once its effect is visible or certain to fail, which takes minutes where the
   * cloud works on after it accepted the request; no slot is held meanwhile. Never rejects for anything a cloud does.
   * `context.signal` ends the wait for a slot; a request that was sent is awaited.
   */
  perform(operation: Operation, context: CallContext): Promise<Outcome>;

  readonly section: CiliumNodeSection;
}

export type Refund = (unsent?: readonly OperationKind[]) => void;

/** A cloud lists by networks, or reads the instances that nodes name. */
export type ObservationScope =
  | {
      readonly kind: 'all';
      readonly networkIds: readonly string[];
      readonly instanceIds: readonly string[];
    }
  | { readonly kind: 'instances'; readonly instanceIds: readonly string[] };

export interface ObservedPage {
  /** When the request for this page was sent, in monotonic ms. */
  readonly startedAt: number;
  readonly observations: readonly Observation[];
  /** Addresses held by interfaces that are not observed, because no instance of ours has them. */
  readonly others?: readonly TakenAddresses[];
  /** Instances that this read cannot complete, although it goes on with others. Nothing follows from their absence. */
  readonly failed?: readonly { readonly instanceId: string; readonly error: CloudError }[];
  /** Items of the answer that it leaves out, because nobody can tell what they are. */
  readonly unclear?: UnclearItems;
  /** Networks that this read leaves out, although it goes on with others. Nothing follows for their instances. */
  readonly unreadNetworks?: readonly string[];
  /** Networks and subnets that are known only by the observed interfaces in them, just read. */
  readonly network?: KnownNetwork;
}

/** Items that are not in the cloud's form, and do not name themselves or their instance. */
export interface UnclearItems {
  readonly count: number;
  /** What is wrong with the first. */
  readonly problem: string;
  /** Those whose they may be: nothing follows from what the read lacks of these instances. */
  readonly instanceIds: readonly string[];
}

export interface ObservedInfrastructure {
  readonly startedAt: number;
  readonly infrastructure: Infrastructure;
  /** Parts that were left out. */
  readonly problems: readonly UnreadablePart[];
}

export interface ObservedCounts {
  readonly startedAt: number;
  /** Free addresses by subnet. */
  readonly counts: ReadonlyMap<string, number>;
  /** Subnets that could not be read this time: what was known of them stays. */
  readonly unread?: ReadonlySet<string>;
  /** The same for all subnets of these networks. */
  readonly unreadNetworks?: ReadonlySet<string>;
}

export interface ObservedPublicAddresses {
  readonly startedAt: number;
  /** Ordered by id. */
  readonly addresses: readonly PublicAddress[];
}

export interface DetachedScope {
  /** An interface must carry all of these tags; at least one. */
  readonly tags: Tags;
  /** Restricts the read to one network; undefined for all. */
  readonly networkId: string | undefined;
  /** Restricts the read to these interfaces, at most `maxInstancesPerRefresh`; omitted for all. */
  readonly ids?: readonly string[];
}

export interface ObservedDetached {
  /** When the first request was sent, in monotonic ms. */
  readonly startedAt: number;
  /** Without interfaces that cannot be parsed. */
  readonly interfaces: readonly NetworkInterface[];
}

export interface CallContext {
  /** Read whenever a token or slot is granted, so that a waiting call with rising priority moves ahead. */
  readonly priority: () => Priority;
  readonly signal: AbortSignal;
  /** Part of an operation in flight that must finish: dry run, pause or a conflicting writer do not stop it. */
  readonly inFlight?: true;
  /** The instance that the call concerns, if there is one: it may have limits of its own. */
  readonly instanceId?: string;
}

export interface InstanceLimits {
  /** Interfaces on the default network card, including the primary one. */
  readonly interfaces: number;
  /** IPv4 addresses of one interface, including its primary one. */
  readonly addressesPerInterface: number;
  /** The same of all its interfaces together; omitted where only those of each are limited. */
  readonly addressesPerInstance?: number;
  /** Whether its interfaces support prefixes, each in place of one address. */
  readonly prefixes: boolean;
  /** IPv6 addresses of one interface, a prefix counting as one; omitted where it can have no IPv6 prefix. */
  readonly ipv6PerInterface?: number;
}

/** The cloud's answer about an instance type cannot be parsed. */
export interface UnreadableLimits {
  readonly problem: string;
}
