// What may be done now, and why not: the one place that knows of dry run, pause and foreign writers. Whoever is about to
// begin something asks here first, and the gate in front of the cloud asks once more right before it sends.

export type Activity =
  /** Calls that give a node something: create, attach, assign, associate, set delete-on-termination. */
  | 'give'
  /** Calls that take something away: unassign, detach, delete. */
  | 'takeAway'
  /** Showing what exists to those who use it. */
  | 'publish'
  /** Telling people what happens, where they look at it; the log is always written. */
  | 'tell';

export const stopReasons = ['dryRun', 'foreignWriter', 'paused'] as const;

export type StopReason = (typeof stopReasons)[number];

export const pausable = ['releases', 'mutations'] as const;

export type Pausable = (typeof pausable)[number];

export interface Stops {
  readonly dryRun: boolean;
  readonly pause: readonly Pausable[];
  /** `suspected`: somebody else wrote once, which may have been a hand; `atWork`: it was more than that. */
  readonly foreignWriter: 'none' | 'suspected' | 'atWork';
}

/** To take away what another writer may have handed out cannot be made good again: that ends with the first sign. */
const byForeignWriter: Readonly<Record<Stops['foreignWriter'], readonly Activity[]>> = {
  none: [],
  suspected: ['takeAway'],
  atWork: ['give', 'takeAway', 'publish'],
};

/** What each reason keeps from being done. */
export function stoppedBy(reason: StopReason, stops: Stops): readonly Activity[] {
  switch (reason) {
    case 'dryRun':
      return stops.dryRun ? ['give', 'takeAway', 'publish', 'tell'] : [];
    case 'foreignWriter':
      return byForeignWriter[stops.foreignWriter];
    case 'paused':
      if (stops.pause.includes('mutations')) return ['give', 'takeAway'];
      return stops.pause.includes('releases') ? ['takeAway'] : [];
  }
}

/** Each reason to the reader, as the second half of a sentence. */
export const stopWords: Readonly<Record<StopReason, string>> = {
  dryRun: 'this is a dry run (--dry-run)',
  foreignWriter: 'somebody else writes CiliumNodes too: see the Events ForeignWriter',
  paused: 'it is paused (--pause)',
};

export class MutationPermission {
  readonly #listeners: (() => void)[] = [];
  #stops: Stops;

  constructor(stops: Stops) {
    this.#stops = stops;
  }

  get stops(): Stops {
    return this.#stops;
  }

  /** Why that may not be begun now; undefined when it may. What was begun is seen through to its end all the same. */
  refusal(activity: Activity): StopReason | undefined {
    return stopReasons.find((reason) => stoppedBy(reason, this.#stops).includes(activity));
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
export const noStops: Stops = { dryRun: false, pause: [], foreignWriter: 'none' };
