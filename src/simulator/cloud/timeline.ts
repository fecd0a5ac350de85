// Records that can also be read as of a recent time. This lets listings of an eventually consistent cloud
// show the past. Records are immutable; a change replaces one.

interface Version<T> {
  readonly at: number;
  /** Undefined: deleted from then on. */
  readonly value: T | undefined;
}

interface History<T> {
  /** When the record first existed. */
  readonly since: number;
  /** Oldest first; versions that no read can reach are dropped. */
  readonly versions: Version<T>[];
}

export interface TimelineOptions {
  /** The current time, in monotonic ms. */
  readonly now: () => number;
  /** The furthest that a read looks back, in ms. */
  readonly memory: () => number;
}

/** The timeline at one instant. */
export interface Moment<T> {
  get(id: string): T | undefined;
  /** Records ordered by id, starting after `cursor`. */
  after(cursor: string): Iterable<T>;
}

export class Timeline<T extends { readonly id: string }> {
  readonly #options: TimelineOptions;
  readonly #current = new Map<string, T>();
  readonly #histories = new Map<string, History<T>>();
  /** Ids of all remembered records, sorted on the next read. */
  #order: string[] = [];
  #unsorted = false;
  readonly #gone: { readonly id: string; readonly at: number }[] = [];

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** The records that exist now. */
  get current(): ReadonlyMap<string, T> {
    return this.#current;
  }

  put(record: T): void {
    this.#current.set(record.id, record);
    this.#append(record.id, record);
  }

  delete(id: string): void {
    if (!this.#current.delete(id)) return;
    this.#append(id, undefined);
    this.#gone.push({ id, at: this.#options.now() });
    this.#forget();
  }

  /** The records as of `time`, which must lie within the memory. */
  at(time: number): Moment<T> {
    const get = (id: string): T | undefined => {
      const history = this.#histories.get(id);
      if (history === undefined || history.since > time) return undefined;
      const { versions } = history;
      return (versions.findLast((version) => version.at <= time) ?? versions[0])?.value;
    };
    return { get, after: (cursor) => this.#after(cursor, get) };
  }

  *#after(cursor: string, get: (id: string) => T | undefined): Iterable<T> {
    const order = this.#sorted();
    for (let index = placeAfter(order, cursor); index < order.length; index++) {
      const record = get(order[index] ?? '');
      if (record !== undefined) yield record;
    }
  }

  #append(id: string, value: T | undefined): void {
    const now = this.#options.now();
    const history = this.#histories.get(id);
    if (history === undefined) {
      this.#histories.set(id, { since: now, versions: [{ at: now, value }] });
      this.#order.push(id);
      this.#unsorted = true;
      return;
    }
    const { versions } = history;
    versions.push({ at: now, value });
    const horizon = now - this.#options.memory();
    const oldest = versions.findLastIndex((version) => version.at <= horizon);
    if (oldest > 0) versions.splice(0, oldest);
  }

  /** Drops deleted records that no read can reach. */
  #forget(): void {
    const horizon = this.#options.now() - this.#options.memory();
    while (this.#gone[0] !== undefined && this.#gone[0].at <= horizon) {
      const { id } = this.#gone.shift() ?? { id: '' };
      if (!this.#current.has(id) && this.#histories.delete(id)) this.#unsorted = true;
    }
  }

  #sorted(): readonly string[] {
    if (this.#unsorted) this.#order = this.#order.filter((id) => this.#histories.has(id)).toSorted();
    this.#unsorted = false;
    return this.#order;
  }
}

/** Index of the first id greater than `id`. */
function placeAfter(order: readonly string[], id: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] ?? '') <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
