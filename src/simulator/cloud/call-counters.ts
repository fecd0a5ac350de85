// Counts the calls of each action by outcome, and keeps when the latest of them were answered.

export interface CallCount {
  readonly calls: number;
  /** Answered with an error other than throttling. */
  readonly refused: number;
  readonly throttled: number;
  /** Without an answer, or with an unreadable one. */
  readonly lost: number;
}

/** A call that succeeded. */
export interface AnsweredCall {
  readonly action: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** When its answer left, in ms since the epoch. */
  readonly at: number;
}

/** Number of answers that are kept. */
const maxAnswers = 2000;
const none: CallCount = { calls: 0, refused: 0, throttled: 0, lost: 0 };

export class CallCounters {
  readonly #counts = new Map<string, CallCount>();
  readonly #answers: AnsweredCall[] = [];

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

  answered(call: AnsweredCall): void {
    this.#answers.push(call);
    if (this.#answers.length > maxAnswers) this.#answers.shift();
  }

  /** Oldest first. */
  get answers(): readonly AnsweredCall[] {
    return this.#answers;
  }

  reset(): void {
    this.#counts.clear();
    this.#answers.length = 0;
  }
}
