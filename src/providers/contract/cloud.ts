// The contract that every cloud implements. A cloud contributes facts and effects; the core decides once for all
// clouds. A cloud knows nothing of Kubernetes but its section of the CiliumNode.
import type { TakenAddresses } from './block-census.ts';
import type { Change } from './change-purpose.ts';
import type { CiliumNodeSection } from './cilium-node-section.ts';
import type { CloudError } from './cloud-failure.ts';
import type { InstanceLimits, Observation, UnreadableLimits } from './facts.ts';
import type { Infrastructure, KnownNetwork, SubnetReservation, UnreadablePart } from './infrastructure.ts';
import type { NetworkInterface, PublicAddress, Tags } from './network-interface.ts';
import type { Answer, Operation, OperationKind, Outcome } from './operations.ts';
import type { Caller, Priority } from './priority.ts';
import type { RehearsedNodes, Rehearsals } from './rehearsal.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

export interface AllocationImplementation {
  readonly traits: CloudTraits;

  /** A cheap read that only shows whether the cloud answers. Rejects with a CloudError. */
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

  /** Reads the limits of instances of these types. Types unknown to the cloud are left out. */
  readLimits(
    instanceTypes: readonly string[],
    context: CallContext,
  ): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>>;
  readonly maxTypesPerRead: number;

  /** Reads the public addresses of the account that carry all of these tags. Rejects with a CloudError. */
  readPublicAddresses(tags: Tags, context: CallContext): Promise<ObservedPublicAddresses>;
  /**
   * Reads one tag of instances: its values by instance, of those that the cloud shows. Absent where the cloud itself sets no tags
   * on them. Rejects with a CloudError. `instanceIds`: any number, in the cloud's form.
   */
  readTag?(
    instanceIds: readonly string[],
    key: string,
    context: CallContext,
  ): Promise<ReadonlyMap<string, readonly string[]>>;
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

  /** The limits that one call of each kind spends from, by their names in reports; empty for kinds that the cloud lacks. */
  limitsOf(kinds: readonly OperationKind[], instanceId: string): readonly string[];

  /**
   * Executes an admitted operation. Resolves once its effect is visible or certain to fail, which takes minutes where the
   * cloud works on after it accepted the request; no slot is held meanwhile. Never rejects for anything a cloud does.
   * `context.signal` ends the wait for a slot; a request that was sent is awaited.
   */
  perform(operation: Operation, context: CallContext): Promise<Outcome>;

  /**
   * Asks whether changes to these nodes would be permitted, without making any, where permissions may differ from node to node for
   * several of them. Absent where the cloud has no such question. Rejects only with the signal's reason.
   */
  rehearse?(nodes: RehearsedNodes, context: CallContext): Promise<Rehearsals>;

  /** Reads the IPv4 reservations of a subnet. Absent where the cloud has none. Rejects with a CloudError. */
  readReservations?(subnetId: string, context: CallContext): Promise<readonly SubnetReservation[]>;

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
  /** The fault of the first. */
  readonly problem: string;
  /** Instances that may have these items. Nothing follows from items of these instances that the read lacks. */
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
  /** The interfaces, without those that cannot be parsed. */
  readonly interfaces: readonly NetworkInterface[];
}

/** A cloud that is read, and how reads that fail are repeated. */
export interface CloudReader {
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
}

export interface CallContext {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Part of an operation in flight that must finish: dry run, pause or a conflicting writer do not stop it. */
  readonly inFlight?: true;
  /** The instance that the call concerns, if there is one: it may have limits of its own. */
  readonly instanceId?: string;
  /** The node that the call is for, if there is one. */
  readonly node?: { readonly name: string; readonly instanceId: string };
  /** The change that the call belongs to. */
  readonly change?: Change;
}

/** How clouds differ, as data. The core branches on these traits and on nothing else. */
export interface CloudTraits {
  /** Whether Headwater makes and deletes interfaces, or serves those that an instance was given. */
  readonly interfaces: 'made' | 'given';
  /**
   * The effect of a repeated assignment: it assigns more, or it is recognized by its operation id. Only the latter needs
   * `operationId`.
   */
  readonly repeatedAssignment: 'adds' | 'isRecognized';
  /** The most addresses that one call creates an interface with, its primary address included, or assigns. */
  readonly maxPerCall: number;
  /** Whether changes to different interfaces of one instance exclude each other. */
  readonly change: 'perInterface' | 'perInstance';
  /** The limits of an instance: read by its type, or the same for all. Then it has the interfaces that are there. */
  readonly limits: 'byType' | Omit<InstanceLimits, 'interfaces'>;
  /** Whether addresses come in prefixes, too, so that whole blocks of a subnet count. */
  readonly prefixes: boolean;
  /** Whether its agents can use IPv6 prefixes of interfaces. */
  readonly ipv6: boolean;
  /** Whether its agents may request a count of addresses for a pool, instead of listing those that they use. */
  readonly poolRequests: boolean;
  /** Whether a call may not find an instance that has just been launched. */
  readonly newInstances: 'knownAtOnce' | 'knownLate';
  /** Whether a public address can be associated with the primary interface. */
  readonly publicAddresses: boolean;
}

/** The instance of a node, as the parts of the node act on it. */
export interface InstancePort {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  /** Applies the answer to a call to what is known of the instance. */
  applyAnswer(answer: Answer): void;
  /** The state of the instance is uncertain from that time on. */
  invalidate(from: number): void;
  /** Reads the instance; resolves once the answer is applied, however long that takes. */
  refresh(): Promise<void>;
}
