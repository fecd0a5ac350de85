// The order in which objects are served: the oldest first, and by name among those of one second.
import type { Holder } from './block-holders.ts';

/** Negative if `a` goes before `b`. */
export function bySeniority(
  a: Pick<Holder, 'createdAt' | 'name'>,
  b: Pick<Holder, 'createdAt' | 'name'>,
): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return 0;
}

/** The oldest of `others` that is older than `holder`; undefined if none is. */
export function oldestBefore(holder: Holder, others: readonly Holder[]): Holder | undefined {
  return others.filter((other) => bySeniority(other, holder) < 0).toSorted(bySeniority)[0];
}

export class ServiceQueue<T extends { readonly holder: Holder }> {
  readonly #line: T[] = [];
  readonly #members = new Set<T>();

  get size(): number {
    return this.#line.length;
  }

  has(member: T): boolean {
    return this.#members.has(member);
  }

  add(member: T): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    this.#line.splice(this.#placeOf(member), 0, member);
  }

  delete(member: T): void {
    if (!this.#members.delete(member)) return;
    this.#line.splice(this.#line.indexOf(member), 1);
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#line.values();
  }

  /** In order, while members leave. */
  *inOrder(): Generator<T> {
    let index = 0;
    for (let next = this.#line[index]; next !== undefined; next = this.#line[index]) {
      yield next;
      if (this.#line[index] === next) index++;
    }
  }

  #placeOf({ holder }: T): number {
    let [low, high] = [0, this.#line.length];
    // Most are younger than all that wait.
    const last = this.#line.at(-1);
    if (last === undefined || bySeniority(last.holder, holder) <= 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#line[middle];
      if (other !== undefined && bySeniority(other.holder, holder) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
