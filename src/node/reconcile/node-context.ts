// The context of every node reconciler: ports to the cloud, to its CiliumNode and to other nodes, and settings.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { OwnWrites } from '../../kubernetes/cilium-node/own-writes.ts';
import type { PodReads } from '../../kubernetes/watch/shown-pods.ts';
import type { ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { AllocationImplementation } from '../../providers/contract/cloud.ts';
import type { ConcurrencyLimiter } from '../../providers/rate-limit/concurrency-limiter.ts';
import type { Infrastructure, KnownNetwork } from '../../providers/contract/infrastructure.ts';
import type { InstanceTypeLimits } from '../../providers/catalog/instance-type-limits.ts';
import type { Inventory } from '../../providers/inventory/inventory.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { GrantedReleases } from '../release/release-turns.ts';
import type { PublicAddressPool } from '../../providers/catalog/public-address-pool.ts';
import type { Orphans } from '../../providers/orphans/orphans.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { TriggerMeter } from '../../runtime/trigger.ts';
import type { AddressClaims } from '../demand/address-claims.ts';
import type { ReleasePolicy } from '../release/release-plan.ts';
import type { AssessmentOptions } from '../conditions/assessment.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import type { AllocationSettings, AllocationSupply } from '../allocate/step-execution.ts';
import type { NodeEvent } from './node-event.ts';

export interface NodeContext {
  readonly cloud: CloudPort;
  readonly writer: NodeWriter;
  /** Undefined if the word of agents is enough to release what they give up. */
  readonly pods: PodReads | undefined;
  readonly fleet: FleetPort;
  /** Checked before anything starts: `permission.refusal('release')`. */
  readonly permission: MutationPermission;
  readonly settings: NodeSettings;
  readonly runtime: {
    readonly clock: Clock;
    readonly random: Random;
    readonly onBug: (error: unknown) => void;
    /** Decisions and publications. */
    readonly meters: { readonly maintenance: TriggerMeter; readonly publication: TriggerMeter };
  };
  /** Tells what happened. Returns at once and does not throw. */
  readonly emit: (event: NodeEvent) => void;
}

/** The claims of all nodes: to addresses, and to instances. And what their kubelets say. */
export interface FleetPort {
  readonly claims: AddressClaims;
  readonly identities: VerifiedIdentities;
  readonly kubelets: Kubelets;
}

/** The cloud, as far as it is known. */
export interface CloudPort {
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly network: NetworkPort;
  readonly instances: InstanceReads;
  readonly limits: Pick<InstanceTypeLimits, 'get'>;
  readonly supply: SharedSupply;
}

export interface NetworkPort {
  readonly infrastructure: Infrastructure;
  /** Adds what was known of the network before this process started. */
  remember(known: KnownNetwork): void;
  /** The cloud shows an instance in this network, which may never have been read. */
  shownIn(networkId: string): void;
  /** Whether a listing in flight will also answer for the instance. */
  covers(instanceId: string): boolean;
}

/** Reads of single instances. */
export interface InstanceReads {
  /** Refreshes an instance; resolves once the answer is in the inventory. */
  refresh(instanceId: string): Promise<void>;
  /** Refreshes an instance until nothing of it is awaited; `since`: when the newest interface was attached, in monotonic ms. */
  refreshAwaited(instanceId: string, since: number): void;
  readonly failures: FailedReads;
}

/** Failures that the last reads met. */
export interface FailedReads {
  /** Why the instance is not read; undefined while no read of it fails. */
  unreadBecause(instanceId: string): NodeCondition | undefined;
  /** Why listings that show others no longer show the instance; undefined while they do. */
  unlistedBecause(instanceId: string): NodeCondition | undefined;
  /** Whether the cloud answered the last read of the instance, and refused it. */
  isReadRefused(instanceId: string): boolean;
}

/** The supply that all nodes take from. */
export interface SharedSupply extends AllocationSupply {
  readonly orphans: Pick<Orphans, 'beginCreation' | 'claim' | 'of'>;
  readonly publicAddresses: Pick<PublicAddressPool, 'claim'>;
  readonly grantedReleases: GrantedReleases;
}

/** The way to the CiliumNodes. */
export interface NodeWriter {
  readonly own: Pick<OwnWrites, 'patchSpec' | 'patchStatus' | 'get' | 'isAnswer'>;
  /** The known objects. `observe` applies the answer to a write. */
  readonly known: { observe(raw: JsonObject): void };
  /** The fields that the API server keeps. */
  readonly schema: Pick<ServedSchema, 'prune' | 'knows'>;
  /** Limits how many CiliumNodes are written at once. */
  readonly publications: Pick<ConcurrencyLimiter, 'enter' | 'reconsider'>;
  readonly others: OtherWriters;
}

export interface OtherWriters {
  /** Examines a newer state of a CiliumNode that is ours to write. */
  check(previous: CiliumNode, node: CiliumNode): void;
  /** Whether the previous leader may have written what this state shows, even if the watch delivers it late. */
  mayBePreviousLeaders(node: CiliumNode): boolean;
}

export interface VerifiedIdentities {
  readonly isKnown: boolean;
  /** Whether the instance belongs to the Node of that name, and to no other. */
  isVerified(name: string, instanceId: string): boolean;
}

export interface Kubelets {
  /** Pods that the kubelet of the Node of that name admits; undefined before it says so. */
  admittedPods(name: string): number | undefined;
}

export interface NodeSettings extends AllocationSettings {
  readonly release: ReleasePolicy;
  readonly assessment: AssessmentOptions;
}
