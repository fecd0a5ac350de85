// The state of an instance that the CiliumNode showed when this process started tracking it. The previous leader may
// have just released addresses; reads can keep showing them while the cloud lags.
import type { InterfaceRecord } from './interface-record.ts';
import { type NetworkInterface, onlyWith, secondaryAssignments } from '../contract/network-interface.ts';

/** When the state of an instance was restored, in monotonic ms. */
export interface RestorePoint {
  readonly restoredAt: number;
  /** Addresses in release that the state names but does not show. */
  readonly pendingRelease: ReadonlySet<string>;
  /** How long release calls of which the state names nothing may take effect from then on, in ms. */
  readonly openFor?: number;
}

/** The state that a CiliumNode newer than the restored one shows. */
export interface Restored {
  readonly interfaces: readonly NetworkInterface[];
  readonly pendingRelease: ReadonlySet<string>;
}

export interface Screened {
  /** The interface as the read shows it, without unconfirmed addresses. */
  readonly shown: NetworkInterface;
  /** Whether the unconfirmed part changed. */
  readonly isNews: boolean;
  /** When a read would be believed, in monotonic ms; undefined if this one is. */
  readonly refreshFrom: number | undefined;
}

const nothing: ReadonlyMap<string, readonly string[]> = new Map();
const none: ReadonlySet<string> = new Set();

export class PreviousLeaderState {
  /** Reads that begin then show what the previous leader did, in monotonic ms. */
  readonly #isOverAt: number;
  #pendingRelease: ReadonlySet<string>;
  /** Without restored interfaces, a read has nothing to contradict. */
  readonly #isEmpty: boolean;
  #unconfirmed = nothing;

  constructor(consistencyWindow: number, restorePoint: RestorePoint | undefined, isEmpty: boolean) {
    const { restoredAt = -Infinity, openFor = 0 } = restorePoint ?? {};
    this.#isOverAt = restoredAt + openFor + consistencyWindow;
    this.#pendingRelease = restorePoint?.pendingRelease ?? none;
    this.#isEmpty = isEmpty;
  }

  /** Addresses and prefixes, by known interface, that possibly stale reads show beyond the restored state. */
  unconfirmedOn(known: ReadonlyMap<string, InterfaceRecord>): ReadonlyMap<string, readonly string[]> {
    const there = [...this.#unconfirmed].filter(([id]) => known.has(id));
    return there.length === this.#unconfirmed.size ? this.#unconfirmed : new Map(there);
  }

  /** Whether a read that began then may be older than the restored state. */
  mayBeNewerThan(startedAt: number): boolean {
    return !this.#isEmpty && startedAt < this.#isOverAt;
  }

  /** A newer state also names these addresses as in release. */
  addPendingRelease(addresses: ReadonlySet<string>): void {
    if (addresses.size > 0) this.#pendingRelease = new Set([...this.#pendingRelease, ...addresses]);
  }

  /** A newer state shows more of the interface than was restored. */
  restore(interfaceId: string): void {
    this.#confirm(interfaceId);
  }

  /**
   * Removes from a read what the restored state lacks: the previous leader may have released it, and it must not be
   * offered again. Reads that begin a consistency window after its last call can have taken effect are believed in full.
   */
  screen(record: InterfaceRecord, shown: NetworkInterface, startedAt: number): Screened {
    const isBelieved = !this.mayBeNewerThan(startedAt);
    const before = this.#unconfirmed.get(shown.id) ?? [];
    // No read of a changing interface adds what it shows: the one after the change confirms it.
    const open = [
      ...(shown.condition === 'changing' ? before : []),
      ...(isBelieved ? [] : secondaryAssignments(shown)),
    ];
    const unconfirmed = [...new Set(open)].filter((holding) => !this.#isKnown(record, holding));
    const isNews = unconfirmed.join() !== before.join();
    if (unconfirmed.length === 0) {
      this.#confirm(shown.id);
      return { shown, isNews, refreshFrom: undefined };
    }
    this.#unconfirmed = new Map([...this.#unconfirmed, [shown.id, unconfirmed]]);
    const isConfirmed = (holding: string): boolean => !unconfirmed.includes(holding);
    const confirmed = onlyWith(shown, isConfirmed);
    const refreshFrom = isBelieved ? undefined : this.#isOverAt;
    return { shown: confirmed, isNews, refreshFrom };
  }

  #confirm(interfaceId: string): void {
    if (!this.#unconfirmed.has(interfaceId)) return;
    this.#unconfirmed = new Map([...this.#unconfirmed].filter(([id]) => id !== interfaceId));
  }

  #isKnown({ interface: item }: InterfaceRecord, holding: string): boolean {
    return secondaryAssignments(item).includes(holding) || this.#pendingRelease.has(holding);
  }
}
