// Limits the requests in flight. A request holds a slot only while in flight, never while it waits for rate limits.
// Waiting requests are ordered by priority, read when a slot is granted and again on `reconsider`.
import { type Caller, isPressing, rankOf, type Priority, priorities } from '../contract/priority.ts';

/**
 * Share of the slots for calls that no pod waits for, since an answer takes longer than a pod should wait. While calls
 * that pods wait for are in flight the share is smaller, to leave slots for their next calls.
 */
const lowPriorityShare = { alone: 0.6, besidesPressing: 0.2 };

export interface Entrant {
  readonly caller: Caller;
  /** Part of an operation in flight: it goes before anything new. */
  readonly inFlight?: boolean;
}

export interface PlaceRequest extends Entrant {
  /** Ends the wait for a slot. */
  readonly signal: AbortSignal;
}

/** Called with a granted slot; `leave` frees it. */
export type Begin = (leave: () => void) => void;

interface Waiter extends Required<Entrant> {
  readonly begin: Begin;
}

export class ConcurrencyLimiter {
  readonly #max: number;
  /**
   * First operations in flight, then one queue for each priority. Each is ordered by when the request reached that
   * priority.
   */
  readonly #queues: readonly Set<Waiter>[] = ['inFlight', ...priorities].map(() => new Set());
  /** A waiting request's priority has risen and the queues are not reordered yet. */
  #isStale = false;
  #taken = 0;
  /** Slots taken by calls that no pod waited for when they started. */
  #lowPriority = 0;

  /** `max`: maximum requests in flight. */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Runs `work` once a slot is free, highest priority first. Rejects with the signal's reason if the signal ends the
   * wait.
   */
  async run<T>(request: PlaceRequest, work: () => Promise<T>): Promise<T> {
    request.signal.throwIfAborted();
    const leave = this.#take(request.caller.priority) ?? (await this.#wait(request));
    try {
      // The signal may have aborted after the slot was granted.
      request.signal.throwIfAborted();
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * A cheaper form of `run` for callers that wait long. Calls `begin` once a slot is free, possibly before it returns.
   * The result ends the wait and does nothing after `begin` was called.
   */
  enter(entrant: Entrant, begin: Begin): () => void {
    const leave = this.#take(entrant.caller.priority);
    if (leave === undefined) return this.#enqueue(entrant, begin);
    begin(leave);
    return () => undefined;
  }

  get #maxLowPriority(): number {
    const { alone, besidesPressing } = lowPriorityShare;
    return Math.ceil(this.#max * (this.#taken > this.#lowPriority ? besidesPressing : alone));
  }

  #hasPlaceFor(priority: Priority): boolean {
    return this.#taken < this.#max && (isPressing(priority) || this.#lowPriority < this.#maxLowPriority);
  }

  /** Takes a slot if one is available for this priority. The result frees it. */
  #take(priority: Priority): (() => void) | undefined {
    if (!this.#hasPlaceFor(priority)) return undefined;
    const isLowPriority = !isPressing(priority);
    this.#taken++;
    if (isLowPriority) this.#lowPriority++;
    return () => {
      this.#taken--;
      if (isLowPriority) this.#lowPriority--;
      this.#give();
    };
  }

  /** Reorders the queues. Call it when the priority of a waiting call has risen. */
  reconsider(): void {
    this.#isStale = true;
    this.#give();
  }

  #give(): void {
    while (this.#taken < this.#max) {
      const next = this.#next();
      const leave = next && this.#take(next.caller.priority);
      if (next === undefined || leave === undefined) return;
      this.#remove(next);
      next.begin(leave);
    }
  }

  /**
   * The first request with an available slot. Calls that pods wait for are not blocked by an operation in flight that
   * no pod waits for.
   */
  #next(): Waiter | undefined {
    if (this.#isStale) this.#reorder();
    for (const [index, queue] of this.#queues.entries()) {
      for (const waiter of queue) {
        const now = queueIndexOf(waiter);
        // The priority of the waiter has dropped.
        if (now > index) this.#move(waiter, queue, now);
        else if (this.#hasPlaceFor(waiter.caller.priority)) return waiter;
        // Without a slot for this priority, there is none for the rest of this queue or for lower priorities.
        else if (!waiter.inFlight) return undefined;
      }
    }
    return undefined;
  }

  #reorder(): void {
    this.#isStale = false;
    for (const [index, queue] of this.#queues.entries()) {
      for (const waiter of queue) {
        const now = queueIndexOf(waiter);
        if (now < index) this.#move(waiter, queue, now);
      }
    }
  }

  #move(waiter: Waiter, from: Set<Waiter>, queue: number): void {
    from.delete(waiter);
    this.#queues[queue]?.add(waiter);
  }

  #remove(waiter: Waiter): void {
    for (const queue of this.#queues) queue.delete(waiter);
  }

  #enqueue({ caller, inFlight = false }: Entrant, begin: Begin): () => void {
    const waiter: Waiter = { caller, inFlight, begin };
    this.#queues[queueIndexOf(waiter)]?.add(waiter);
    return () => this.#remove(waiter);
  }

  #wait(request: PlaceRequest): Promise<() => void> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const dequeue = this.#enqueue(request, (leave) => {
        signal.removeEventListener('abort', giveUp);
        resolve(leave);
      });
      const giveUp = (): void => {
        dequeue();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

function queueIndexOf({ inFlight, caller }: Waiter): number {
  return inFlight ? 0 : 1 + rankOf(caller.priority);
}
