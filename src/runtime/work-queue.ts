// Works on keys: one at a time for each key, a bounded number at once, in an order of the owner's. Requests for a key that is
// being worked on fold into one further time. The words are those of client-go's work queue and of controller-runtime's Result.
import type { Requeue } from './requeue.ts';
import { TaskGroup, type TaskGroupOptions } from './task-group.ts';

/** How work on a key ended. */
export interface Result extends Requeue {
  /** Requests that came meanwhile wait for `requeueAfter`, too. */
  readonly isFailure?: boolean;
}

export interface WorkQueueDeps<Key> extends Pick<TaskGroupOptions, 'clock' | 'onBug'> {
  /** The most keys at once. */
  readonly workers: number;
  /** Negative if `a` goes before `b`. Keys of equal rank go in the order of their requests. Default: all are equal. */
  compare?(a: Key, b: Key): number;
  /** Whether work may start now. Call `serve` when that may have changed. Default: it always may. */
  mayStart?(): boolean;
  /** Undefined if nothing can be done for the key by now: it stays due, others go on, and `serve` asks again. */
  reconcile(key: Key): Promise<Result> | undefined;
  /** When a key is due again whose `reconcile` rejected, in ms. */
  retryAfter(key: Key): number;
}

export class WorkQueue<Key> {
  readonly #deps: WorkQueueDeps<Key>;
  readonly #tasks: TaskGroup;
  /** In order. */
  #due: Key[] = [];
  /** Keys for which nothing could be done since `serve` was called. */
  #declined: Key[] = [];
  /** Both. */
  readonly #isDue = new Set<Key>();
  /** Each with the function that cancels its timer. */
  readonly #delayed = new Map<Key, () => void>();
  /** Each with whether it was requested meanwhile. */
  readonly #working = new Map<Key, { isRequested: boolean }>();
  #inFlight = 0;
  #isAdvancing = false;

  constructor(deps: WorkQueueDeps<Key>) {
    this.#deps = deps;
    this.#tasks = new TaskGroup(deps);
  }

  /** Aborts when work must end; for calls in flight. Read it again for each work. */
  get deadline(): AbortSignal {
    return this.#tasks.deadline;
  }

  /** Aborts when no more work may start; for work that waits. Read it again for each work. */
  get closing(): AbortSignal {
    return this.#tasks.closing;
  }

  get isStopping(): boolean {
    return this.#tasks.isClosing;
  }

  /** Requests work on a key, as soon as possible. */
  add(key: Key): void {
    const work = this.#working.get(key);
    if (work !== undefined) {
      work.isRequested = true;
      return;
    }
    this.#cancelDelay(key);
    if (this.#isDue.has(key)) return;
    this.#due.splice(this.#placeOf(key), 0, key);
    this.#isDue.add(key);
    this.#advance();
  }

  /** Requests work on a key after so many ms, unless it is requested already. */
  addLater(key: Key, ms: number): void {
    if (this.#working.has(key)) this.add(key);
    else if (!this.#isDue.has(key) && !this.#delayed.has(key)) this.#delay(key, ms);
  }

  /** Takes a request back. Work under way is not concerned. */
  withdraw(key: Key): void {
    this.#cancelDelay(key);
    if (!this.#isDue.delete(key)) return;
    const place = this.#due.indexOf(key);
    if (place >= 0) this.#due.splice(place, 1);
    else this.#declined.splice(this.#declined.indexOf(key), 1);
  }

  /** No more work on a key starts; what work under way ends with is dropped. */
  forget(key: Key): void {
    this.withdraw(key);
    this.#working.delete(key);
  }

  /** Starts what may start by now. */
  serve(): void {
    if (this.#declined.length > 0) {
      this.#due = [...this.#declined, ...this.#due].sort((a, b) => this.#compare(a, b));
      this.#declined = [];
    }
    this.#advance();
  }

  /** Leaves out what was declined: only `serve` tells that this may have changed. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    for (let hasRoom = this.#hasRoom(); hasRoom && this.#due.length > 0; ) {
      const key = this.#due[0] as Key;
      if (this.#begin(key)) hasRoom = this.#hasRoom();
      else if (this.#isDue.has(key)) {
        this.#due.splice(this.#due.indexOf(key), 1);
        this.#declined.push(key);
      }
    }
    this.#isAdvancing = false;
  }

  #hasRoom(): boolean {
    return !this.isStopping && this.#inFlight < this.#deps.workers && this.#deps.mayStart?.() !== false;
  }

  /** Starts no more work. Resolves once work under way ends; `deadline` aborts it. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#tasks.stop(deadline);
  }

  /** Returns whether work on the key has started. */
  #begin(key: Key): boolean {
    const work = { isRequested: false };
    this.#working.set(key, work);
    this.#inFlight++;
    const running = this.#reconcile(key);
    if (running === undefined) {
      this.#end(key, work);
      return false;
    }
    this.withdraw(key);
    this.#tasks.beginTask(async () => {
      let result: Result | undefined;
      try {
        result = await running;
      } finally {
        // The key may have been forgotten, and requested anew since.
        if (this.#end(key, work))
          this.#requeue(key, work, result ?? { isFailure: true, requeueAfter: this.#deps.retryAfter(key) });
        this.serve();
      }
    });
    return true;
  }

  #reconcile(key: Key): Promise<Result> | undefined {
    try {
      return this.#deps.reconcile(key);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Returns whether this was the last work on the key. */
  #end(key: Key, work: { readonly isRequested: boolean }): boolean {
    this.#inFlight--;
    return this.#working.get(key) === work && this.#working.delete(key);
  }

  #requeue(key: Key, { isRequested }: { readonly isRequested: boolean }, result: Result): void {
    const after = isRequested && result.isFailure !== true ? 0 : result.requeueAfter;
    if (after !== undefined) this.#delay(key, after);
  }

  #delay(key: Key, ms: number): void {
    const cancel = this.#tasks.later(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, cancel);
  }

  #cancelDelay(key: Key): void {
    this.#delayed.get(key)?.();
    this.#delayed.delete(key);
  }

  #compare(a: Key, b: Key): number {
    return this.#deps.compare?.(a, b) ?? 0;
  }

  /** After all that go before it, and after its equals. */
  #placeOf(key: Key): number {
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#due[middle] as Key;
      if (this.#compare(other, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
