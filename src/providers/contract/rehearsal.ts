// Asking a cloud whether changes would be permitted, without making any.
import type { CloudFailure } from './cloud-failure.ts';
import type { NetworkInterface, Tags } from './network-interface.ts';

/** The node that the changes are for. */
export interface RehearsedNode {
  readonly instanceId: string;
  /** Attached to it, the primary one first. */
  readonly interfaces: readonly NetworkInterface[];
  /** An attached interface that Headwater made; undefined if there is none yet. */
  readonly own: NetworkInterface | undefined;
  /** Where its next interface would be. */
  readonly subnetId: string;
  /** Groups for that interface; empty where machines are given theirs. */
  readonly securityGroupIds: readonly string[];
  /** Tags for that interface. */
  readonly tags: Tags;
  /** Tags that its public address has to carry; empty if it gets none. */
  readonly publicAddressTags: Tags;
}

/** At least one. */
export type RehearsedNodes = readonly [RehearsedNode, ...RehearsedNode[]];

export interface Rehearsals {
  /** How the cloud says it, with a verb: `a dry run permits`. */
  readonly witness: string;
  /** Refusals that the cloud may have nevertheless, or an identity that nothing uses, in words; undefined if none. */
  readonly unshown?: string;
  readonly answers: readonly Rehearsal[];
}

export interface Rehearsal {
  /** The call, or what a role names it by. */
  readonly action: string;
  /** `unasked`: the question could make the change, or needs what is not there yet. */
  readonly answer: 'permitted' | 'unasked' | RehearsalRefusal;
}

/** `denied`: the cloud would not make the change. `unanswered`: the question itself failed, so nothing is known. */
export interface RehearsalRefusal {
  readonly kind: 'denied' | 'unanswered';
  readonly failure: CloudFailure;
}
