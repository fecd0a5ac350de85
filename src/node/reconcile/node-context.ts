// What every node reconciler receives: shared state, ports and hooks.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { WriteOutcome } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import type { OwnWrites } from '../../kubernetes/cilium-node/own-writes.ts';
import type { Json, JsonObject } from '../../kubernetes/transport/json.ts';
import type { AllocationImplementation } from '../../providers/contract/allocation-implementation.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
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
import type { TriggerFigures } from '../../runtime/trigger.ts';
import type { Holding } from '../demand/holdings.ts';
import type { AddressClaims, Claimed } from '../demand/address-claims.ts';
import type { ReleasePolicy } from '../release/release-plan.ts';
import type { AssessmentOptions } from '../conditions/assessment.ts';
import type { CallTiming } from '../../providers/contract/call-timing.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import type { FinishedStep } from '../allocate/step-result.ts';
import type { InterfaceRelease } from '../release/idle-interfaces.ts';
import type { Exclusion } from '../demand/node-requirements.ts';
import type { Write } from '../publish/next-write.ts';
import type { DryRunDecision } from './dry-run-log.ts';
import type { BlockedResources } from '../allocate/blocked-resources.ts';
import type { FinishedRelease } from '../release/unassign.ts';

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
  /** Called with the instances that changed in the inventory. */
  readonly onChanged: (instanceIds: ReadonlySet<string>) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** Whether rate limits may decide between an existing and a new interface while pods wait. */
  readonly spreadCalls: boolean;
  readonly releasePolicy: ReleasePolicy;
  readonly interfaceTags: Tags;
  readonly assessmentOptions: AssessmentOptions;
  readonly onBug: (error: unknown) => void;
  readonly hooks: NodeHooks;
}

/** Called when something happens. Each hook must return at once and not throw. */
export interface NodeHooks {
  readonly onMaintenanceRequested: () => void;
  readonly onMaintenance: (figures: TriggerFigures) => void;
  readonly onPublicationRequested: () => void;
  readonly onPublication: (figures: TriggerFigures) => void;
  readonly onStep: (name: string, step: FinishedStep) => void;
  readonly onRelease: (name: string, release: FinishedRelease) => void;
  /** These are no longer offered because pods must not use them; the cloud keeps them in place. */
  readonly onRetired: (name: string, holdings: readonly Holding[]) => void;
  readonly onInterfaceRelease: (name: string, given: InterfaceRelease) => void;
  /** Addresses returned to a subnet. */
  readonly onSpace: () => void;
  /** A node's primary interface received a public address. */
  readonly onStaticIp: (name: string, publicAddress: string, interfaceId: string) => void;
  /** What a dry run suppresses; called again only when it changes. */
  readonly onDryRunDecision: (name: string, decision: DryRunDecision) => void;
  readonly onHousekeepingFailure: (name: string, interfaceId: string, failure: CloudFailure) => void;
  readonly onWrite: (part: Write['part'], outcome: WriteOutcome['kind'] | 'unfinished') => void;
  readonly onWriteTrouble: (name: string, problem: string) => void;
  /** The CiliumNode may not be read; called once per text. */
  readonly onReadTrouble: (name: string, problem: string) => void;
  /** Why the node cannot be satisfied; undefined once it can. */
  readonly onCondition: (node: CiliumNode, condition: NodeCondition | undefined) => void;
  /** The node's problem ended and the node is satisfied. */
  readonly onResolved: (node: CiliumNode) => void;
  /** A warning that does not keep the node from being served; called once while it lasts. */
  readonly onWarning: (node: CiliumNode, warning: NodeCondition) => void;
  /** Interfaces of a node that carry no pods; called on each change. */
  readonly onExclusions: (name: string, exclusions: readonly Exclusion[]) => void;
  /**
   * Time from detecting a deficit to the write that ended it, in ms, and the cloud calls made for the node
   * meanwhile.
   */
  readonly onSatisfied: (duration: number, calls: number) => void;
  /** Other nodes also offer addresses of this instance; the value maps addresses to their names. */
  readonly onContested: (instanceId: string, claimed: Claimed) => void;
}
