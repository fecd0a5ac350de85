// Decides what may be done now and why not: the only place that knows dry run, pause, foreign writers and held
// withdrawals. Callers ask before they start an activity, and the gate asks again right before it sends a call.

export type Activity =
  /** Calls that give a node something: create, attach, assign, associate, set delete-on-termination. */
  | 'give'
  /** Calls that take something away: unassign, detach, delete. */
  | 'takeAway'
  /** Writes that show CiliumNodes what exists. */
  | 'publish'
  /** Notifications to users, such as Events. Logs are always written. */
  | 'tell';

export const stopReasons = ['dryRun', 'conflictingWriter', 'paused', 'withdrawalsHeld'] as const;

export type StopReason = (typeof stopReasons)[number];

export const pausable = ['releases', 'mutations'] as const;

export type Pausable = (typeof pausable)[number];

export interface Stops {
  readonly dryRun: boolean;
  readonly pause: readonly Pausable[];
  /** `suspected`: another writer wrote once, possibly a manual edit. `atWork`: it wrote more than that. */
  readonly conflictingWriter: 'none' | 'suspected' | 'atWork';
  /** Too much or everything is missing in the cloud: its answers do not justify taking anything away. */
  readonly withdrawalsHeld: boolean;
  /**
   * The only nodes that get nothing because of the foreign writer; nothing is taken from any node. Undefined if it wrote
   * more.
   */
  readonly foreignlyWritten?: readonly string[] | undefined;
}

/** Taking away what another writer may have assigned cannot be undone, so it stops at the first sign. */
const byForeignWriter: Readonly<Record<Stops['conflictingWriter'], readonly Activity[]>> = {
  none: [],
  suspected: ['takeAway'],
  atWork: ['give', 'takeAway', 'publish'],
};

export const foreignReaches = ['releases', 'node', 'fleet'] as const;

/** What a conflicting write pauses: releases everywhere, also everything for its node, or everything. */
export type ForeignReach = (typeof foreignReaches)[number];

/** Undefined without a foreign writer. */
export function foreignReach({ conflictingWriter, foreignlyWritten }: Stops): ForeignReach | undefined {
  if (conflictingWriter === 'none') return undefined;
  if (conflictingWriter === 'suspected') return 'releases';
  return foreignlyWritten === undefined ? 'fleet' : 'node';
}

/** Activities that each reason stops. */
export function stoppedBy(reason: StopReason, stops: Stops): readonly Activity[] {
  switch (reason) {
    case 'dryRun':
      return stops.dryRun ? ['give', 'takeAway', 'publish', 'tell'] : [];
    case 'conflictingWriter':
      return byForeignWriter[stops.conflictingWriter];
    case 'paused':
      if (stops.pause.includes('mutations')) return ['give', 'takeAway'];
      return stops.pause.includes('releases') ? ['takeAway'] : [];
    case 'withdrawalsHeld':
      return stops.withdrawalsHeld ? ['takeAway'] : [];
  }
}

/** Each reason for the reader, as the second half of a sentence. */
export const stopWords: Readonly<Record<StopReason, string>> = {
  dryRun: 'this is a dry run (--dry-run)',
  conflictingWriter: 'another program writes CiliumNodes: see the Events ConflictingWriter',
  paused: 'it is paused (--pause)',
  withdrawalsHeld: 'too much is missing in the cloud: see the Events WithdrawalsHeld',
};

/** Reasons that also stop operations in flight: they may rest on wrong cloud answers. */
const endingInFlight: ReadonlySet<StopReason> = new Set(['withdrawalsHeld']);

export class MutationPermission {
  readonly #listeners: (() => void)[] = [];
  #stops: Stops;

  constructor(stops: Stops) {
    this.#stops = stops;
  }

  get stops(): Stops {
    return this.#stops;
  }

  /** Why an activity may not start now, for `node` if given; undefined if it may. Operations in flight still finish. */
  refusal(activity: Activity, node?: string): StopReason | undefined {
    const { foreignlyWritten: only } = this.#stops;
    // One agent may rewrite its own CiliumNode repeatedly; other nodes still get addresses.
    const isOthers = (reason: StopReason): boolean =>
      reason === 'conflictingWriter' && activity !== 'takeAway' && only?.includes(node ?? '') === false;
    return stopReasons.find(
      (reason) => stoppedBy(reason, this.#stops).includes(activity) && !isOthers(reason),
    );
  }

  /** The same for one node. */
  of(node: string): Pick<MutationPermission, 'refusal'> {
    return { refusal: (activity) => this.refusal(activity, node) };
  }

  /** Why an operation in flight may not continue; undefined if it finishes, as for most reasons. */
  refusalToGoOn(activity: Activity): StopReason | undefined {
    return [...endingInFlight].find((reason) => stoppedBy(reason, this.#stops).includes(activity));
  }

  change(change: Partial<Stops>): void {
    const before = JSON.stringify(this.#stops);
    this.#stops = { ...this.#stops, ...change };
    if (JSON.stringify(this.#stops) !== before) for (const tell of this.#listeners) tell();
  }

  /** Calls back after each change. */
  onChange(tell: () => void): void {
    this.#listeners.push(tell);
  }
}

/** Nothing is stopped. */
export const noStops: Stops = { dryRun: false, pause: [], conflictingWriter: 'none', withdrawalsHeld: false };
