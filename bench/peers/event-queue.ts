// Things that happen in virtual time, in order.

export class EventQueue {
  /** A binary heap: the next event first. */
  readonly #heap: { readonly at: number; readonly order: number; readonly happen: () => void }[] = [];
  #order = 0;
  #now = 0;

  /** Seconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** `happen` is called once, `seconds` from now; what is due at the same time happens in the order of these calls. */
  after(seconds: number, happen: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.#now + seconds, order: this.#order++, happen });
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#swapUnlessOrdered(parent, child)) return;
      child = parent;
    }
  }

  /** Lets everything happen until `isOver`, or nothing is left. */
  run(isOver: () => boolean): void {
    while (!isOver()) {
      const next = this.#take();
      if (next === undefined) return;
      this.#now = next.at;
      next.happen();
    }
  }

  #take(): { readonly at: number; readonly happen: () => void } | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let parent = 0; ; ) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      const child = right < heap.length && this.#isBefore(right, left) ? right : left;
      if (child >= heap.length || !this.#swapUnlessOrdered(parent, child)) return first;
      parent = child;
    }
  }

  #swapUnlessOrdered(parent: number, child: number): boolean {
    if (!this.#isBefore(child, parent)) return false;
    const [above, below] = [this.#heap[parent], this.#heap[child]];
    if (above === undefined || below === undefined) return false;
    this.#heap[parent] = below;
    this.#heap[child] = above;
    return true;
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }
}
