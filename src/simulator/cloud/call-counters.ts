// Counts the calls of each action by outcome.

export interface CallCount {
  readonly calls: number;
  /** Answered with an error other than throttling. */
  readonly refused: number;
  readonly throttled: number;
  /** Without an answer, or with an unreadable one. */
  readonly lost: number;
}

const none: CallCount = { calls: 0, refused: 0, throttled: 0, lost: 0 };

export class CallCounters {
  readonly #counts = new Map<string, CallCount>();

  add(action: string, what: keyof CallCount): void {
    const count = this.#counts.get(action) ?? none;
    this.#counts.set(action, { ...count, [what]: count[what] + 1 });
  }

  get(action: string): CallCount {
    return this.#counts.get(action) ?? none;
  }

  /** Every called action, by name. */
  all(): Record<string, CallCount> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  reset(): void {
    this.#counts.clear();
  }
}
