// Decides whether other CiliumNodes that show an address block a node that is about to show it. Addresses that the
// cloud shows on their instances block it permanently; weaker claims block it for a limited time or not at all.

/** What supports the claim of a CiliumNode to an address. */
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
  /** `name` starts to wait: it has to claim again once the wait has ended. */
  readonly onWait: (name: string) => void;
}

type Passing = 'unasked' | 'leaving';

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
  /** When each name started waiting for each address, in monotonic ms. */
  readonly #since = new Map<string, Readonly<Record<Passing, Map<string, number>>>>();
  /** When each name started to wait last, in monotonic ms. */
  readonly #latest = new Map<string, number>();

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
      if (this.#options.now() >= (this.#latest.get(name) ?? -Infinity) + this.#options.maxWait)
        this.#beginWait(name);
      return true;
    }
    return (
      (unasked.length > 0 && this.#mayStillWait(name, address, 'unasked')) ||
      (leaving.length > 0 && this.#mayStillWait(name, address, 'leaving'))
    );
  }

  /**
   * Ends the wait for addresses that `name` now shows. Not done earlier, so a holder that keeps returning cannot
   * restart the wait.
   */
  settle(name: string, shown: ReadonlySet<string>): void {
    const since = this.#since.get(name);
    if (since === undefined) return;
    for (const times of [since.unasked, since.leaving])
      for (const address of times.keys()) if (shown.has(address)) times.delete(address);
    if (since.unasked.size + since.leaving.size === 0) this.#since.delete(name);
  }

  forget(name: string): void {
    this.#since.delete(name);
    this.#latest.delete(name);
  }

  #mayStillWait(name: string, address: string, why: Passing): boolean {
    const { now, maxWait } = this.#options;
    const since = this.#since.get(name) ?? {
      unasked: new Map<string, number>(),
      leaving: new Map<string, number>(),
    };
    this.#since.set(name, since);
    const began = since[why].get(address) ?? now();
    since[why].set(address, began);
    // Addresses whose wait begins at the same time share its end.
    if (began === now() && this.#latest.get(name) !== began) this.#beginWait(name);
    return now() < began + maxWait;
  }

  /** `name` is woken once the wait is over. */
  #beginWait(name: string): void {
    this.#latest.set(name, this.#options.now());
    this.#options.onWait(name);
  }
}
