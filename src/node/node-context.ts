// What every managed node is given: the things that all nodes share, and where to tell what happens.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { CiliumNodeWriter, WriteOutcome } from '../kubernetes/cilium-node-writer.ts';
import type { Json, JsonObject } from '../kubernetes/json.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { InFlight } from '../providers/in-flight.ts';
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { KnownLimits } from '../providers/instance-type-limits.ts';
import type { Inventory } from '../providers/inventory.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { Tags } from '../providers/network-interface.ts';
import type { PublicAddressPool } from '../providers/public-address-pool.ts';
import type { Orphans } from '../providers/orphans.ts';
import type { SubnetLedger } from '../providers/subnet-ledger.ts';
import type { VisibilityLag } from '../providers/visibility-lag.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { TriggerFigures } from '../scheduling/trigger.ts';
import type { AddressClaims, Claimed } from './address-claims.ts';
import type { ReleasePolicy } from './address-releaser.ts';
import type { AssessmentOptions } from './assessment.ts';
import type { CallTiming } from './call-timing.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { FinishedStep } from './finished-step.ts';
import type { GivenBack } from './idle-interfaces.ts';
import type { Exclusion } from './exclusions.ts';
import type { Write } from './publication.ts';
import type { Rehearsed } from './rehearsal.ts';
import type { FinishedRelease } from './unassignments.ts';

export interface NodeContext {
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly ledger: SubnetLedger;
  /** What is known of how long the cloud takes to know an interface that it just made. */
  readonly visibilityLag: VisibilityLag;
  readonly publicAddresses: Pick<PublicAddressPool, 'claim'>;
  /** Interfaces of this cluster that are attached to nothing. */
  readonly orphans: Pick<Orphans, 'begin' | 'claim' | 'of'>;
  readonly infrastructure: () => Infrastructure;
  readonly limitsOf: (instanceType: string) => KnownLimits;
  /** Reads an instance anew; resolves once what the cloud shows is in the inventory. */
  readonly look: (instanceId: string) => Promise<void>;
  /** Whether a listing is under way whose end will answer for the instance. */
  readonly listingUnderway: (instanceId: string) => boolean;
  readonly writer: Pick<CiliumNodeWriter, 'patchSpec' | 'patchStatus' | 'get'>;
  /** Takes the answer to a write into what is known of the object. */
  readonly observe: (raw: JsonObject) => void;
  /** Leaves out what the API server would not keep. */
  readonly prune: (value: Json, path: readonly string[]) => Json | undefined;
  /** Whether the API server has no place for the text that says what a node lacks. */
  readonly prunesError: boolean;
  /** Places of nodes whose objects are being written. */
  readonly publications: Pick<InFlight, 'enter' | 'reconsider'>;
  readonly claims: AddressClaims;
  /** To be asked before anything is begun: `permission.refusal('takeAway')`. */
  readonly permission: MutationPermission;
  /** Told of each newer state of a CiliumNode that is ours to write, with the one known before. */
  readonly onNewerState: (previous: CiliumNode, node: CiliumNode) => void;
  /** Whether a leader before us may have written what this state shows, however late we hear of it. */
  readonly mayBePredecessors: (node: CiliumNode) => boolean;
  /** Instances that changed in the inventory. */
  readonly onChanged: (instanceIds: ReadonlySet<string>) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** Whether the rate limits may decide between an interface that is there and a new one, when pods wait. */
  readonly spreadCalls: boolean;
  readonly releasePolicy: ReleasePolicy;
  readonly interfaceTags: Tags;
  readonly assessmentOptions: AssessmentOptions;
  readonly onBug: (error: unknown) => void;
  readonly hooks: NodeHooks;
}

/** Told of what happens; must return at once and not throw. */
export interface NodeHooks {
  readonly onMaintenanceRequested: () => void;
  readonly onMaintenance: (figures: TriggerFigures) => void;
  readonly onPublicationRequested: () => void;
  readonly onPublication: (figures: TriggerFigures) => void;
  readonly onStep: (name: string, step: FinishedStep) => void;
  readonly onRelease: (name: string, release: FinishedRelease) => void;
  readonly onGivenBack: (name: string, given: GivenBack) => void;
  /** Addresses came back to a subnet. */
  readonly onSpace: () => void;
  /** A node's primary interface was given a public address. */
  readonly onStaticIp: (name: string, publicAddress: string, interfaceId: string) => void;
  /** What a dry run keeps from being done; told anew only when it is another. */
  readonly onRehearsed: (name: string, decision: Rehearsed) => void;
  readonly onHousekeepingFailure: (name: string, interfaceId: string, failure: CloudFailure) => void;
  readonly onWrite: (part: Write['part'], outcome: WriteOutcome['kind'] | 'unfinished') => void;
  readonly onWriteTrouble: (name: string, problem: string) => void;
  /** The CiliumNode may not be read; told once for each text. */
  readonly onReadTrouble: (name: string, problem: string) => void;
  /** Why the node does not get what it needs; undefined once it does. */
  readonly onDiagnosis: (node: CiliumNode, diagnosis: Diagnosis | undefined) => void;
  /** Something about the node that does not keep it from being served; told once for as long as it stays so. */
  readonly onRemark: (node: CiliumNode, remark: Diagnosis) => void;
  /** Interfaces of a node that carry no pods; told with each change of them. */
  readonly onExclusions: (name: string, exclusions: readonly Exclusion[]) => void;
  /** From noticing a shortage to the write that ended it, in ms, and the cloud calls for the node meanwhile. */
  readonly onSupplied: (duration: number, calls: number) => void;
  /** Addresses of this instance are offered by others too, whose names are given by address. */
  readonly onContested: (instanceId: string, claimed: Claimed) => void;
}
