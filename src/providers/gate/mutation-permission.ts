// Decides what may be done now and why not: the only place that knows dry run, pause, conflicting writers and held
// withdrawals. Callers ask before they start an activity, and the gate asks again right before it sends a call.

export type Activity =
  /** Calls that give a node something: create, attach, assign, associate, set delete-on-termination. */
  | 'allocate'
  /** Calls that take something away: unassign, detach, delete. */
  | 'release'
  /** Writes that show CiliumNodes what exists. */
  | 'publish'
  /** Notifications to users, such as Events. Logs are always written. */
  | 'notify';

export const pauseReasons = ['dryRun', 'conflictingWriter', 'paused', 'withdrawalsHeld'] as const;

export type PauseReason = (typeof pauseReasons)[number];

export const pausable = ['releases', 'mutations'] as const;

export type Pausable = (typeof pausable)[number];

export interface Pauses {
  readonly dryRun: boolean;
  readonly pause: readonly Pausable[];
  /** `suspected`: another writer wrote once, possibly a manual edit. `atWork`: it wrote more than that. */
  readonly conflictingWriter: 'none' | 'suspected' | 'atWork';
  /** Too much or everything is missing in the cloud: its answers do not justify taking anything away. */
  readonly withdrawalsHeld: boolean;
  /**
   * The only nodes that get nothing because of the conflicting writer; nothing is taken from any node. Undefined if it wrote
   * more.
   */
  readonly conflictingNodes?: readonly string[] | undefined;
}

/** Taking away what another writer may have assigned cannot be undone, so it pauses at the first sign. */
const byConflictingWriter: Readonly<Record<Pauses['conflictingWriter'], readonly Activity[]>> = {
  none: [],
  suspected: ['release'],
  atWork: ['allocate', 'release', 'publish'],
};

export const conflictReaches = ['releases', 'node', 'fleet'] as const;

/** The reach of the pause after a conflicting write: releases everywhere, also everything for its node, or everything. */
export type ConflictReach = (typeof conflictReaches)[number];

/** Undefined without a conflicting writer. */
export function conflictReach({ conflictingWriter, conflictingNodes }: Pauses): ConflictReach | undefined {
  if (conflictingWriter === 'none') return undefined;
  if (conflictingWriter === 'suspected') return 'releases';
  return conflictingNodes === undefined ? 'fleet' : 'node';
}

/** Activities that each reason pauses. */
export function pausedBy(reason: PauseReason, pauses: Pauses): readonly Activity[] {
  switch (reason) {
    case 'dryRun':
      return pauses.dryRun ? ['allocate', 'release', 'publish', 'notify'] : [];
    case 'conflictingWriter':
      return byConflictingWriter[pauses.conflictingWriter];
    case 'paused':
      if (pauses.pause.includes('mutations')) return ['allocate', 'release'];
      return pauses.pause.includes('releases') ? ['release'] : [];
    case 'withdrawalsHeld':
      return pauses.withdrawalsHeld ? ['release'] : [];
  }
}

/** Each reason for the reader, as the second half of a sentence. */
export const pauseWords: Readonly<Record<PauseReason, string>> = {
  dryRun: 'this is a dry run (--dry-run)',
  conflictingWriter: 'another program writes CiliumNodes: see the Events ConflictingWriter',
  paused: 'it is paused (--pause)',
  withdrawalsHeld: 'too much is missing in the cloud: see the Events WithdrawalsHeld',
};

/** Reasons that also end operations in flight: they may rest on wrong cloud answers. */
const endingInFlight: ReadonlySet<PauseReason> = new Set(['withdrawalsHeld']);

/** Activities that are permitted for one node. */
export interface PermittedNode {
  /** Why the activity may not start now; undefined if it may. `unverified`: no Node says whose the instance is. */
  refusal(activity: Activity): PauseReason | 'unverified' | undefined;
}

export class MutationPermission {
  readonly #listeners: (() => void)[] = [];
  #pauses: Pauses;

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  get pauses(): Pauses {
    return this.#pauses;
  }

  /** Why an activity may not start now, for `node` if given; undefined if it may. Operations in flight still finish. */
  refusal(activity: Activity, node?: string): PauseReason | undefined {
    const { conflictingNodes: only } = this.#pauses;
    // A single agent may rewrite its own CiliumNode repeatedly; other nodes still get addresses.
    const isOfOthers = activity !== 'release' && only?.includes(node ?? '') === false;
    for (const reason of pauseReasons) {
      if (reason === 'conflictingWriter' && isOfOthers) continue;
      if (pausedBy(reason, this.#pauses).includes(activity)) return reason;
    }
    return undefined;
  }

  /** Why an operation in flight may not continue; undefined if it finishes, as for most reasons. */
  refusalToGoOn(activity: Activity): PauseReason | undefined {
    return [...endingInFlight].find((reason) => pausedBy(reason, this.#pauses).includes(activity));
  }

  change(change: Partial<Pauses>): void {
    const before = JSON.stringify(this.#pauses);
    this.#pauses = { ...this.#pauses, ...change };
    if (JSON.stringify(this.#pauses) !== before) for (const listener of this.#listeners) listener();
  }

  /** Calls back after each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** Nothing is paused. */
export const noPauses: Pauses = {
  dryRun: false,
  pause: [],
  conflictingWriter: 'none',
  withdrawalsHeld: false,
};
