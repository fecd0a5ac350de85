// A clock that moves only on command, and jumps from one due action to the next. Actions due at the same instant run in
// scheduling order, so that one seed yields one history.
import type { Clock } from '../../src/runtime/clock.ts';

interface Entry {
  readonly due: number;
  readonly order: number;
  readonly action: () => void;
  cancelled: boolean;
}

/** Maximum turns of the event loop while time is held. */
const maxTurns = 1_000_000;
/** How often promises settle per turn of the event loop, which V8 and I/O need: a turn is expensive. */
const settledInTurn = 64;

export class VirtualClock implements Clock {
  readonly #wallStart: number;
  readonly #heap: Entry[] = [];
  #now = 0;
  #order = 0;
  #wallShift = 0;
  #fired = 0;
  #settlings = 0;
  /** Operations that run outside virtual time; time stands still while there are any. */
  #outside = 0;

  /** `wallStart`: the wall clock at monotonic zero, in ms since the epoch. */
  constructor(wallStart = Date.UTC(2026, 0, 1)) {
    this.#wallStart = wallStart;
  }

  wall(): number {
    return this.#wallStart + this.#now + this.#wallShift;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Stops time until the returned function is called, for work that needs turns of the event loop or ticks. */
  hold(): () => void {
    this.#outside++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#outside--;
      isHeld = false;
    };
  }

  /** Number of scheduled actions that have run. */
  get fired(): number {
    return this.#fired;
  }

  /** Shifts the wall clock by `ms`, as an external correction would. Timers do not move. */
  shiftWall(ms: number): void {
    this.#wallShift += ms;
  }

  schedule(ms: number, action: () => void): () => void {
    const entry: Entry = { due: this.#after(ms), order: this.#order++, action, cancelled: false };
    this.#push(entry);
    return () => {
      entry.cancelled = true;
    };
  }

  /** A delay takes time, even if the sum is rounded: a wait for the rest of a time would never end. */
  #after(ms: number): number {
    if (ms <= 0) return this.#now;
    const due = this.#now + ms;
    return due > this.#now ? due : this.#now * (1 + Number.EPSILON);
  }

  /** Runs everything due within the next `ms` and leaves the clock there. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#run(end, () => false);
    this.#now = Math.max(this.#now, end);
  }

  /**
   * Runs until `done` returns true, for at most `limit` ms; returns whether it did. Time stands still once nothing is
   * scheduled.
   */
  runUntil(done: () => boolean, limit: number): Promise<boolean> {
    return this.#run(this.#now + limit, done);
  }

  async #run(end: number, done: () => boolean): Promise<boolean> {
    for (;;) {
      await this.#settled();
      if (done()) return true;
      const next = this.#next();
      if (next === undefined || next.due > end) return false;
      this.#pop();
      this.#now = next.due;
      this.#fired++;
      next.action();
    }
  }

  /** Waits until all promises that depend only on promises settle and no operation holds time. */
  async #settled(): Promise<void> {
    await (++this.#settlings % settledInTurn === 0 ? turnTaken() : promisesSettled());
    for (let turn = 0; this.#outside > 0; turn++) {
      if (turn === maxTurns) throw new Error('something that takes turns of the event loop does not end');
      await turnTaken();
    }
  }

  #next(): Entry | undefined {
    while (this.#heap[0]?.cancelled) this.#pop();
    return this.#heap[0];
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!precedes(entry, heap[parent] as Entry)) break;
      heap[index] = heap[parent] as Entry;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return;
    let index = 0;
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      const right = child + 1;
      if (right < heap.length && precedes(heap[right] as Entry, heap[child] as Entry)) child = right;
      if (!precedes(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
  }
}

function precedes(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}

/** Node.js calls back once its promise queue is empty. Work that itself uses ticks, such as streams, must hold time. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

function turnTaken(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
