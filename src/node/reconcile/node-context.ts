// What every node reconciler receives: shared state and ports.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { OwnWrites } from '../../kubernetes/cilium-node/own-writes.ts';
import type { Json, JsonObject } from '../../kubernetes/transport/json.ts';
import type { AllocationImplementation } from '../../providers/contract/allocation-implementation.ts';
import type { ConcurrencyLimiter } from '../../providers/rate-limit/concurrency-limit.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { KnownLimits } from '../../providers/catalog/instance-type-limits.ts';
import type { Inventory } from '../../providers/inventory/inventory.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { Tags } from '../../providers/contract/network-interface.ts';
import type { PublicAddressPool } from '../../providers/catalog/public-address-pool.ts';
import type { Orphans } from '../../providers/orphans/orphans.ts';
import type { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';
import type { VisibilityLag } from '../../providers/inventory/visibility-lag.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { AddressClaims } from '../demand/address-claims.ts';
import type { ReleasePolicy } from '../release/releaser.ts';
import type { AssessmentOptions } from '../conditions/assessment.ts';
import type { CallTiming } from '../../providers/contract/call-timing.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import type { BlockedResources } from '../allocate/blocked-resources.ts';
import type { NodeEvent } from './node-event.ts';

export interface NodeContext {
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly ledger: SubnetLedger;
  /** What the cloud refused, across all nodes. */
  readonly blocked: BlockedResources;
  /** How long the cloud takes to know a new interface. */
  readonly visibilityLag: VisibilityLag;
  readonly publicAddresses: Pick<PublicAddressPool, 'claim'>;
  /** Orphaned interfaces of this cluster. */
  readonly orphans: Pick<Orphans, 'begin' | 'claim' | 'of'>;
  readonly infrastructure: () => Infrastructure;
  readonly limitsOf: (instanceType: string) => KnownLimits;
  /** Refreshes an instance; resolves once the answer is in the inventory. */
  readonly refresh: (instanceId: string) => Promise<void>;
  /** Refreshes an instance until nothing of it is awaited; `since`: when the newest interface was attached, in monotonic ms. */
  readonly refreshAwaited: (instanceId: string, since: number) => void;
  /** Why the instance is not read; undefined while no read of it fails. */
  readonly unreadBecause: (instanceId: string) => NodeCondition | undefined;
  /** Whether a listing in flight will also answer for the instance. */
  readonly listingInFlight: (instanceId: string) => boolean;
  readonly writer: Pick<OwnWrites, 'patchSpec' | 'patchStatus' | 'get' | 'isAnswer'>;
  /** Applies the answer to a write to the known object. */
  readonly observe: (raw: JsonObject) => void;
  /** Removes fields that the API server would prune. */
  readonly prune: (value: Json, path: readonly string[]) => Json | undefined;
  /** Whether the served CRD has no field for the operator error. */
  readonly prunesError: boolean;
  /** Limits how many CiliumNodes are written at once. */
  readonly publications: Pick<ConcurrencyLimiter, 'enter' | 'reconsider'>;
  readonly claims: AddressClaims;
  readonly identities: {
    /** Whether any Node is known. */
    readonly isKnown: boolean;
    /** Whether the instance belongs to the Node of that name, and to no other. */
    readonly isVerified: (name: string, instanceId: string) => boolean;
  };
  /** Checked before anything starts: `permission.refusal('release')`. */
  readonly permission: MutationPermission;
  /** Called with each newer state of a CiliumNode that is ours to write, and the state before. */
  readonly onNewerState: (previous: CiliumNode, node: CiliumNode) => void;
  /** Whether the previous leader may have written what this state shows, even if the watch delivers it late. */
  readonly mayBePreviousLeaders: (node: CiliumNode) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** Whether rate limits may decide between an existing and a new interface while pods wait. */
  readonly spreadCalls: boolean;
  readonly releasePolicy: ReleasePolicy;
  readonly interfaceTags: Tags;
  readonly assessmentOptions: AssessmentOptions;
  readonly onBug: (error: unknown) => void;
  /** Tells what happened. Returns at once and does not throw. */
  readonly emit: (event: NodeEvent) => void;
}
