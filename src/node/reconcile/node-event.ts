// Events of a node that others should know: its log lines, metrics and Events follow from it, and other nodes wake.
import type { NodeReference } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { Tags } from '../../providers/contract/network-interface.ts';
import type { PlannedStep } from '../allocate/planned-step.ts';
import type { StepEvent } from '../allocate/step-result.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import type { Claimed } from '../demand/address-claims.ts';
import type { Exclusion } from '../demand/node-requirements.ts';
import type { HousekeepingFailure } from '../housekeeping/delete-on-termination.ts';
import type { AddressAssociated } from '../housekeeping/static-address.ts';
import type { Write } from '../publish/next-write.ts';
import type { WriteEvent } from '../publish/node-publisher.ts';
import type { InterfaceReleaseEvent } from '../release/idle-interfaces.ts';
import type { ReleaseEvent } from '../release/releaser.ts';

export type NodeEvent = ReportedNodeEvent | SharedNodeEvent;

/** Events that are logged, counted or told to users. */
export type ReportedNodeEvent = CallEvent | PublicationEvent | SatisfactionEvent;

/** Events that concern other nodes. */
export type SharedNodeEvent =
  /** Addresses returned to a subnet. */
  | { readonly kind: 'spaceFreed' }
  /** These instances changed in the inventory. */
  | { readonly kind: 'instancesChanged'; readonly instanceIds: ReadonlySet<string> }
  /** Other nodes also offer addresses of this instance. */
  | { readonly kind: 'contested'; readonly instanceId: string; readonly claimed: Claimed };

type CallEvent = { readonly node: NodeReference } & (
  | PartEvent
  /** A decision that a dry run suppresses; again only when it changes. */
  | { readonly kind: 'dryRun'; readonly decision: DryRunDecision }
);

/** A decision that a dry run does not carry out. */
export type DryRunDecision =
  | { readonly kind: 'step'; readonly step: PlannedStep }
  | { readonly kind: 'deleteOnTermination'; readonly interfaceId: string }
  | { readonly kind: 'staticAddress'; readonly interfaceId: string; readonly tags: Tags }
  | { readonly kind: 'write'; readonly write: Write };

/** Events that the parts of a node tell it. */
export type PartEvent =
  | StepEvent
  | ReleaseEvent
  | InterfaceReleaseEvent
  | HousekeepingFailure
  | AddressAssociated
  | WriteEvent;

type PublicationEvent =
  | { readonly kind: 'writeTrouble'; readonly node: NodeReference; readonly problem: string }
  /** The CiliumNode may not be read; once per text. */
  | { readonly kind: 'readTrouble'; readonly node: NodeReference; readonly problem: string };

type SatisfactionEvent =
  /** Why the node cannot be satisfied; undefined once it can. */
  | {
      readonly kind: 'condition';
      readonly node: NodeReference;
      readonly condition: NodeCondition | undefined;
    }
  /** The node's problem ended and the node is satisfied. */
  | { readonly kind: 'resolved'; readonly node: NodeReference }
  /** A warning that does not keep the node from being served; once while it lasts. */
  | { readonly kind: 'warning'; readonly node: NodeReference; readonly warning: NodeCondition }
  /** Interfaces that carry no pods, or not on all of their addresses; on each change. */
  | { readonly kind: 'exclusions'; readonly node: NodeReference; readonly exclusions: readonly Exclusion[] }
  /**
   * A deficit ended: the time from detecting it to the write that ended it, in ms, and the cloud calls made for the node
   * meanwhile.
   */
  | { readonly kind: 'satisfied'; readonly duration: number; readonly calls: number };
