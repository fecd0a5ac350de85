// Remembers interfaces that an instance no longer has, while stale reads or its CiliumNode may still show them.

/** How many to remember of each kind. Far fewer can go before the CiliumNode is written again. */
const max = 100;

const none: ReadonlyMap<string, number> = new Map();
const nothing: ReadonlySet<string> = new Set();

export class GoneInterfaces {
  readonly #consistencyWindow: number;
  /** Deleted by our own calls or proven gone, with the time in monotonic ms, oldest first. */
  #removed = none;
  /** Removed while the instance was not shown whole, oldest first. Its CiliumNode may show them for a long time. */
  #departed = nothing;

  /** `consistencyWindow`: how long the cloud may take to show a change, in ms. */
  constructor(consistencyWindow: number) {
    this.#consistencyWindow = consistencyWindow;
  }

  get ids(): readonly string[] {
    return [...this.#removed.keys(), ...this.#departed];
  }

  wasRemoved(id: string): boolean {
    return this.#removed.has(id);
  }

  /** Whether a read that began at `startedAt` is too old to prove that the instance has the interface again. */
  mayBeStale(id: string, startedAt: number): boolean {
    return startedAt < (this.#removed.get(id) ?? -Infinity) + this.#consistencyWindow;
  }

  /** An entry that a stale read may still contradict never leaves, however many there are. */
  noteRemoved(id: string, now: number): void {
    const entries = [...this.#removed].filter(([other]) => other !== id);
    const kept = entries.filter(
      ([, at], index) => index > entries.length - max || at + this.#consistencyWindow > now,
    );
    this.#removed = new Map([...kept, [id, now]]);
  }

  depart(id: string): void {
    this.#departed = new Set([...this.#departed, id].slice(-max));
  }

  /** A read that is not stale shows the interface again. */
  forget(id: string): void {
    if (this.#removed.has(id)) this.#removed = new Map([...this.#removed].filter(([other]) => other !== id));
    if (this.#departed.has(id)) this.#departed = new Set([...this.#departed].filter((other) => other !== id));
  }
}
