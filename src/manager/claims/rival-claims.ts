// Decides whether other CiliumNodes that show an address block a node that is about to show it. Addresses that the
// cloud shows on their instances block it permanently; weaker claims block it for a limited time or not at all.

/** The evidence for the claim of a CiliumNode to an address. */
export type ClaimEvidence =
  /** The cloud shows the address on its instance. */
  | 'shown'
  /** The cloud has not answered for its instance, or has never shown the address there. */
  | 'unasked'
  /**
   * Like `unasked`, for a node verified by a Node: its pods may use the address. The cloud's answer decides, and it is
   * being requested.
   */
  | 'unanswered'
  /** The cloud shows its instance without the address, and the CiliumNode is about to lose it. */
  | 'leaving'
  /**
   * Like `leaving`, but that write is queued, or the API server owes the answer to it, or gave none. Nodes cannot cause
   * this, so the wait is unlimited.
   */
  | 'stuck'
  /** Nothing supports it, and nothing ever will. */
  | 'none';

/** Other holders of an address, by supporting evidence. Holders without any are left out. */
export type Rivals = Readonly<Record<Exclude<ClaimEvidence, 'none'>, readonly string[]>>;

export interface RivalClaimsOptions {
  readonly evidence: (holder: string, address: string) => ClaimEvidence;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Maximum time that an address is excluded for a holder without it in the cloud, in ms. */
  readonly maxWait: number;
  /** `name` waits: it has to claim again after this time, in ms. */
  readonly onWait: (name: string, ms: number) => void;
}

/** How long a holder counts whose claims nothing confirms. */
interface Window {
  /** When it first kept anybody waiting, in monotonic ms. */
  readonly since: number;
  /** When its CiliumNode was deleted, in monotonic ms. */
  goneAt: number | undefined;
}

const none: readonly string[] = [];
const noRivals: Rivals = {
  shown: none,
  unanswered: none,
  unasked: none,
  leaving: none,
  stuck: none,
};

export class RivalClaims {
  readonly #options: RivalClaimsOptions;
  /** By holder: one for everything that it shows, or any agent could keep others waiting with ever more addresses. */
  readonly #windows = new Map<string, Window>();
  /** When each name started waiting for each address that leaves another, in monotonic ms. */
  readonly #since = new Map<string, Map<string, number>>();
  /** When each name claims again, in monotonic ms. */
  readonly #wakeAt = new Map<string, number>();

  constructor(options: RivalClaimsOptions) {
    this.#options = options;
  }

  /**
   * `isGranted`: whether a holder has the address from us. Only then does an address that is leaving the holder block
   * others; one that another writer added does not.
   */
  among(others: readonly string[], address: string, isGranted: (holder: string) => boolean): Rivals {
    if (others.length === 0) return noRivals;
    const found = Map.groupBy(others, (holder) => {
      const evidence = this.#options.evidence(holder, address);
      // The cloud confirms the holder: what it claims later counts anew.
      if (evidence === 'shown') this.#windows.delete(holder);
      const isOnItsWay = evidence === 'leaving' || evidence === 'stuck';
      return isOnItsWay && !isGranted(holder) ? 'none' : evidence;
    });
    const of = (evidence: ClaimEvidence): readonly string[] => found.get(evidence) ?? none;
    return {
      shown: of('shown'),
      unanswered: of('unanswered'),
      unasked: of('unasked'),
      leaving: of('leaving'),
      stuck: of('stuck'),
    };
  }

  /** Whether `name` must wait for an address that it does not show yet. */
  mustWait(name: string, address: string, { shown, unanswered, unasked, leaving, stuck }: Rivals): boolean {
    if (shown.length + unanswered.length > 0) return true;
    if (stuck.length > 0) {
      // The write may end refused, which frees nothing and wakes nobody.
      this.#wakeBy(name, this.#options.now() + this.#options.maxWait);
      return true;
    }
    const begins = [
      ...unasked.map((holder) => this.#windowOf(holder).since),
      ...(leaving.length > 0 ? [this.#leavesSince(name, address)] : []),
    ];
    const end = Math.max(-Infinity, ...begins) + this.#options.maxWait;
    if (this.#options.now() >= end) return false;
    this.#wakeBy(name, end);
    return true;
  }

  /**
   * Ends the wait for addresses that `name` now shows. Not done earlier, so a holder that keeps returning cannot
   * restart the wait.
   */
  settle(name: string, shown: ReadonlySet<string>): void {
    const since = this.#since.get(name);
    if (since === undefined) return;
    for (const address of since.keys()) if (shown.has(address)) since.delete(address);
    if (since.size === 0) this.#since.delete(name);
  }

  forget(name: string): void {
    this.#since.delete(name);
    this.#wakeAt.delete(name);
    const window = this.#windows.get(name);
    if (window !== undefined) window.goneAt = this.#options.now();
  }

  /** A holder that comes back at once gets no other one. */
  #windowOf(holder: string): Window {
    const known = this.#windows.get(holder);
    if (known !== undefined && !this.#isOver(known)) {
      known.goneAt = undefined;
      return known;
    }
    for (const [name, window] of this.#windows) if (this.#isOver(window)) this.#windows.delete(name);
    const window = { since: this.#options.now(), goneAt: undefined };
    this.#windows.set(holder, window);
    return window;
  }

  #isOver({ goneAt = Infinity }: Window): boolean {
    return this.#options.now() >= goneAt + this.#options.maxWait;
  }

  #leavesSince(name: string, address: string): number {
    const since = this.#since.get(name) ?? new Map<string, number>();
    this.#since.set(name, since);
    const began = since.get(address) ?? this.#options.now();
    since.set(address, began);
    return began;
  }

  /** Addresses that `name` waits for until the same time share its wake-up. */
  #wakeBy(name: string, end: number): void {
    const now = this.#options.now();
    const next = this.#wakeAt.get(name) ?? -Infinity;
    if (next > now && next <= end) return;
    this.#wakeAt.set(name, end);
    this.#options.onWait(name, end - now);
  }
}
