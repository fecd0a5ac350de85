// Resolves conflicts: addresses that several instances of one network appear to hold. Reads by id of all claimants that
// begin after the conflict was seen decide the owner. Until then, no instance newly offers the address.
import { hasAddress } from '../contract/network-interface.ts';
import type { Observation } from '../contract/facts.ts';
import { withdrawalBy } from './withdrawals.ts';

export interface Conflict {
  readonly address: string;
  readonly networkId: string;
  readonly instanceIds: readonly string[];
}

/** A complete read by id. */
export interface ReadById {
  /** When the request was sent and when the answer was complete, in monotonic ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly instanceIds: readonly string[];
  readonly observations: readonly Observation[];
  /** Instances that may have more than it shows. */
  readonly partly?: ReadonlySet<string>;
}

/** The part about one instance, which may have more than it shows. */
export type OwnRead = Omit<ReadById, 'instanceIds' | 'partly'> & { readonly isPartial: boolean };

export type Settlement =
  /** The read shows the address on one instance only; the others lose it. */
  | { readonly kind: 'decided'; readonly conflict: Conflict; readonly losers: readonly string[] }
  /** Some answers say nothing, or several instances show the address, so one answer is stale. Reads these again. */
  | { readonly kind: 'unclear'; readonly instanceIds: readonly string[]; readonly againAt: number };

export interface Claimants {
  readonly isTracked: (instanceId: string) => boolean;
  /**
   * The proof of a read that began at `readAt` about the address on the instance; `isShown` is what it shows. Undefined
   * if the read may predate our own calls.
   */
  readonly answer: (
    instanceId: string,
    conflict: Conflict,
    read: { readonly isShown: boolean; readonly readAt: number },
  ) => boolean | undefined;
}

interface Open extends Conflict {
  since: number;
  /** Delay before the next read, in ms. Doubles each time, up to the consistency window. */
  pause: number;
  /** Whether each instance showed the address, and when that read began. */
  readonly answers: Map<string, { readonly isShown: boolean; readonly readAt: number }>;
}

/**
 * Delay before the first repeated read, as a fraction of the consistency window. Most changes are visible within a
 * second.
 */
const firstPause = 1 / 30;

export class AddressConflicts {
  readonly #consistencyWindow: number;
  readonly #open = new Map<string, Open>();

  /** `consistencyWindow`: how long the cloud may take to show a change, in ms. */
  constructor(consistencyWindow: number) {
    this.#consistencyWindow = consistencyWindow;
  }

  /** Returns false if a conflict among these instances is already open. */
  openConflict(conflict: Conflict, now: number): boolean {
    const key = `${conflict.networkId} ${conflict.address}`;
    const known = this.#open.get(key);
    if (known !== undefined && conflict.instanceIds.every((id) => known.instanceIds.includes(id)))
      return false;
    const instanceIds = [...new Set([...(known?.instanceIds ?? []), ...conflict.instanceIds])];
    const pause = this.#consistencyWindow * firstPause;
    this.#open.set(key, { ...conflict, instanceIds, since: now, pause, answers: new Map() });
    return true;
  }

  /**
   * An instance is no longer tracked: it claims nothing. The conflict ends if at most one claimant is left: neither what
   * that one answered nor what this one answered decides a later conflict.
   */
  untracked(instanceId: string, isTracked: Claimants['isTracked']): void {
    for (const [key, { instanceIds, answers }] of this.#open) {
      answers.delete(instanceId);
      if (instanceIds.filter(isTracked).length < 2) this.#open.delete(key);
    }
  }

  /** Applies a read and returns what it settles. Untracked instances claim nothing. */
  read(read: ReadById, claimants: Claimants): readonly Settlement[] {
    if (this.#open.size === 0) return [];
    return [...this.#open].flatMap(([key, open]) => {
      const tracked = open.instanceIds.filter(claimants.isTracked);
      const asked = tracked.filter((id) => read.instanceIds.includes(id));
      if (asked.length === 0) return [];
      // It says nothing, and has taken the place of the refresh that was due.
      if (read.startedAt < open.since) return this.#again(open, asked, read);
      const unclear = asked.filter((id) => !takeAnswer(open, id, read, claimants));
      const settlement = settlementOf(open, tracked);
      if (settlement === 'open') return unclear.length > 0 ? this.#again(open, unclear, read) : [];
      if (settlement === 'contradicted') {
        open.since = read.endedAt;
        return this.#again(open, open.instanceIds, read);
      }
      this.#open.delete(key);
      return settlement ?? [];
    });
  }

  #again(open: Open, instanceIds: readonly string[], { endedAt }: ReadById): Settlement {
    const againAt = endedAt + open.pause;
    open.pause = Math.min(2 * open.pause, this.#consistencyWindow);
    return { kind: 'unclear', instanceIds, againAt };
  }
}

/** Whether the read says anything about the address on the instance. */
function takeAnswer(open: Open, id: string, read: ReadById, claimants: Claimants): boolean {
  const shown = shows(read, id, open);
  const isShown =
    shown === undefined ? undefined : claimants.answer(id, open, { isShown: shown, readAt: read.startedAt });
  if (isShown !== undefined) open.answers.set(id, { isShown, readAt: read.startedAt });
  return isShown !== undefined;
}

/** Undefined if no instance shows the address: the conflict closes without a decision. */
function settlementOf(
  open: Open,
  instanceIds: readonly string[],
): Settlement | 'open' | 'contradicted' | undefined {
  const answers = instanceIds.map((id) => open.answers.get(id));
  const times = answers.map((answer) => answer?.readAt ?? -Infinity);
  const decision = withdrawalBy({
    kind: 'addressElsewhere',
    sameNetwork: true,
    conflictAt: open.since,
    bothReadAt: Math.min(...times),
  });
  if (decision !== 'now') return 'open';
  const losers = instanceIds.filter((id) => open.answers.get(id)?.isShown === false);
  const owners = instanceIds.length - losers.length;
  if (owners === 0) return undefined;
  return owners === 1 ? { kind: 'decided', conflict: open, losers } : 'contradicted';
}

/** Undefined if an interface of the instance is unreadable or left out, because it may hold the address. */
function shows(read: ReadById, instanceId: string, { address, networkId }: Conflict): boolean | undefined {
  for (const observation of read.observations) {
    if (observation.kind !== 'interface') continue;
    const { interface: item } = observation;
    if (item.attachment?.instanceId !== instanceId || item.networkId !== networkId) continue;
    if (hasAddress(item, address)) return true;
  }
  return isWhole(read, instanceId) ? false : undefined;
}

function isWhole({ observations, partly }: ReadById, instanceId: string): boolean {
  const isUnreadable = (each: Observation): boolean =>
    each.kind === 'unreadableInterface' && each.interface.instanceId === instanceId;
  return partly?.has(instanceId) !== true && !observations.some(isUnreadable);
}
