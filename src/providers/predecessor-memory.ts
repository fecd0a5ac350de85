// What is known of an instance from before this process: what the CiliumNode showed that it began with. A predecessor may have
// taken things away a moment before, which readings go on showing for as long as the cloud lags behind.
import { type HeldInterface, holdingsOf } from './held-interface.ts';
import type { NetworkInterface } from './network-interface.ts';

/** When a memory of an instance was taken up, in monotonic ms. */
export interface Recollected {
  readonly takenAt: number;
  /** Addresses that it does not show and speaks of: they are on their way out. */
  readonly mentioned: ReadonlySet<string>;
}

export interface Screened {
  /** What the reading shows, without what is not believed yet. */
  readonly shown: NetworkInterface;
  /** Whether other things are not believed than before. */
  readonly isNews: boolean;
  /** From when on a reading would be believed, in monotonic ms; undefined where this one is. */
  readonly lookFrom: number | undefined;
}

const nothing: ReadonlyMap<string, readonly string[]> = new Map();
const none: ReadonlySet<string> = new Set();

export class PredecessorMemory {
  readonly #consistencyWindow: number;
  readonly #takenAt: number;
  #mentioned: ReadonlySet<string>;
  /** Where nothing was remembered, there is nothing that a reading could contradict. */
  readonly #isEmpty: boolean;
  #unconfirmed = nothing;

  constructor(consistencyWindow: number, recollected: Recollected | undefined, isEmpty: boolean) {
    this.#consistencyWindow = consistencyWindow;
    this.#takenAt = recollected?.takenAt ?? -Infinity;
    this.#mentioned = recollected?.mentioned ?? none;
    this.#isEmpty = isEmpty;
  }

  /** What readings showed beyond the memory, by interface, as long as they may be older than what it was taken from. */
  get unconfirmed(): ReadonlyMap<string, readonly string[]> {
    return this.#unconfirmed;
  }

  /** Whether a reading that began then may be older than what is remembered. */
  outweighs(begunAt: number): boolean {
    return !this.#isEmpty && begunAt < this.#takenAt + this.#consistencyWindow;
  }

  /** A newer state speaks of these addresses as well. */
  mention(addresses: ReadonlySet<string>): void {
    if (addresses.size > 0) this.#mentioned = new Set([...this.#mentioned, ...addresses]);
  }

  /** A newer state shows more of the interface than was remembered. */
  recall(interfaceId: string): void {
    this.#confirm(interfaceId);
  }

  /**
   * What a predecessor took away may be shown by a reading for as long as the cloud lags behind, and then be handed out
   * again: beyond what the memory has, only readings are believed that began a consistency window after it was taken.
   */
  screen(held: HeldInterface, shown: NetworkInterface, begunAt: number): Screened {
    const lookFrom = this.#takenAt + this.#consistencyWindow;
    const doubtful = this.outweighs(begunAt)
      ? holdingsOf(shown).filter((holding) => !this.#isKnown(held, holding))
      : [];
    const before = this.#unconfirmed.get(shown.id) ?? [];
    const isNews = doubtful.join() !== before.join();
    if (doubtful.length === 0) {
      this.#confirm(shown.id);
      return { shown, isNews, lookFrom: undefined };
    }
    this.#unconfirmed = new Map([...this.#unconfirmed, [shown.id, doubtful]]);
    const isConfirmed = (holding: string): boolean => !doubtful.includes(holding);
    const confirmed = {
      ...shown,
      addresses: shown.addresses.filter(isConfirmed),
      prefixes: shown.prefixes.filter(isConfirmed),
    };
    return { shown: confirmed, isNews, lookFrom };
  }

  #confirm(interfaceId: string): void {
    if (!this.#unconfirmed.has(interfaceId)) return;
    this.#unconfirmed = new Map([...this.#unconfirmed].filter(([id]) => id !== interfaceId));
  }

  #isKnown({ record }: HeldInterface, holding: string): boolean {
    return (
      record.addresses.includes(holding) || record.prefixes.includes(holding) || this.#mentioned.has(holding)
    );
  }
}
