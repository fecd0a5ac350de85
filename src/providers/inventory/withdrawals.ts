// Decides what may withdraw an interface or address from an instance, and thereby from pool and status. Absence is no
// evidence: a missing item may be in another region, hidden from the role, or late.
//
// Two causes are decided elsewhere, never from what a cloud shows. An agent gave up addresses (release handshake), or a
// CiliumNode is deleted or names another uid or instance.

/** Weighs withdrawals by absence before the first one takes effect. */
export interface WithdrawalGate {
  /**
   * `instanceIds`: every instance with a withdrawal by absence now, from the applied read and from those already held.
   * `suspected`: instances with something a read missed once, which may follow. Returns true to admit all of
   * `instanceIds` (and count them against the next ones), false to hold all.
   */
  admit(instanceIds: ReadonlySet<string>, now: number, suspected: () => ReadonlySet<string>): boolean;
  /**
   * Instances that a Node of this cluster verifies, as far as known; undefined for all. Any agent may have
   * invented the others: what they lack proves nothing about the cloud and causes no withdrawal.
   */
  ofNodes(): ReadonlySet<string> | undefined;
}

/** AbsenceEvidence that an instance may no longer have something. Times are monotonic, in ms. */
export type AbsenceEvidence =
  /** The cloud shows the instance terminated. This stays true after the cloud has forgotten the instance. */
  | { readonly kind: 'terminated' }
  /**
   * A read that began at `shownAt` shows the interface detached or on another instance. `readAt`: the start of a read
   * by id that does not show it on this instance.
   */
  | { readonly kind: 'interfaceElsewhere'; readonly shownAt: number; readonly readAt: number }
  /**
   * Another interface is shown with the address. `sameNetwork`: both are in one network; the same address in another
   * network is a different address. `bothReadAt`: the earlier start of the reads by id of both that show the address on
   * the other interface only; undefined while one is missing.
   */
  | {
      readonly kind: 'addressElsewhere';
      readonly sameNetwork: boolean;
      readonly conflictAt: number;
      readonly bothReadAt: number | undefined;
    }
  /** A read of the owner does not show it. */
  | ({ readonly kind: 'missing' } & Absence);

export interface Absence {
  /** A read by id. A listing may be torn between pages. */
  readonly byId: boolean;
  /**
   * Whether the same read shows the owner alive and whole: for an interface, its instance with the primary interface;
   * for an address, its interface with the primary address.
   */
  readonly ownerShown: boolean;
  /** End of the first such read that missed it; undefined if this is the first. */
  readonly missedAt: number | undefined;
  readonly readAt: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** The agent gave it up, and our release call was sent but its answer was lost. */
  readonly isReleasing: boolean;
}

/**
 * `now`: it is gone. `gated`: it is gone unless too much is missing at once. `later`: another read by id must confirm
 * it. `never`: the evidence proves nothing.
 */
export type Withdrawal = 'now' | 'gated' | 'later' | 'never';

export function withdrawalBy(evidence: AbsenceEvidence): Withdrawal {
  switch (evidence.kind) {
    case 'terminated':
      return 'now';
    case 'interfaceElsewhere':
      return evidence.readAt >= evidence.shownAt ? 'now' : 'later';
    case 'addressElsewhere':
      if (!evidence.sameNetwork) return 'never';
      return (evidence.bothReadAt ?? -Infinity) >= evidence.conflictAt ? 'now' : 'later';
    case 'missing':
      return withdrawalByAbsence(evidence);
  }
}

function withdrawalByAbsence(absence: Absence): Withdrawal {
  const { byId, ownerShown, missedAt, readAt, consistencyWindow, isReleasing } = absence;
  if (!byId || !ownerShown) return 'never';
  if (missedAt === undefined || readAt - missedAt < consistencyWindow) return 'later';
  return isReleasing ? 'now' : 'gated';
}
