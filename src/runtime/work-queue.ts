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
  /** Negative if `a` goes before `b`. Keys of equal rank go in the order of their requests. */
  compare(a: Key, b: Key): number;
  /** Whether work may start now. Call `serve` when that may have changed. */
  mayStart(): boolean;
  reconcile(key: Key): Promise<Result>;
  /** When a key is due again whose `reconcile` rejected, in ms. */
  retryAfter(key: Key): number;
}

export class WorkQueue<Key> {
  readonly #deps: WorkQueueDeps<Key>;
  readonly #tasks: TaskGroup;
  /** In order. */
  readonly #due: Key[] = [];
  readonly #isDue = new Set<Key>();
  /** Each with the function that cancels its timer. */
  readonly #delayed = new Map<Key, () => void>();
  /** Each with whether it was requested meanwhile. */
  readonly #working = new Map<Key, { isRequested: boolean }>();
  #inFlight = 0;

  constructor(deps: WorkQueueDeps<Key>) {
    this.#deps = deps;
    this.#tasks = new TaskGroup(deps);
  }

  /** Aborts when work must end; for calls in flight. Read it again for each work. */
  get deadline(): AbortSignal {
    return this.#tasks.deadline;
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
    if (!this.#isDue.has(key)) this.#due.splice(this.#placeOf(key), 0, key);
    this.#isDue.add(key);
    this.serve();
  }

  /** No more work on a key starts; what work under way ends with is dropped. */
  forget(key: Key): void {
    this.#cancelDelay(key);
    this.#working.delete(key);
    if (this.#isDue.delete(key)) this.#due.splice(this.#due.indexOf(key), 1);
  }

  /** Starts what may start by now. */
  serve(): void {
    const { workers } = this.#deps;
    while (!this.isStopping && this.#inFlight < workers && this.#due.length > 0) {
      if (!this.#deps.mayStart()) return;
      const [key] = this.#due.splice(0, 1) as [Key];
      this.#isDue.delete(key);
      this.#begin(key);
    }
  }

  /** Starts no more work. Resolves once work under way ends; `deadline` aborts it. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#tasks.stop(deadline);
  }

  #begin(key: Key): void {
    const work = { isRequested: false };
    this.#working.set(key, work);
    this.#inFlight++;
    this.#tasks.beginTask(async () => {
      let result: Result | undefined;
      try {
        result = await this.#deps.reconcile(key);
      } finally {
        this.#inFlight--;
        // The key may have been forgotten, and requested anew since.
        if (this.#working.get(key) === work) {
          this.#working.delete(key);
          this.#requeue(key, work, result ?? { isFailure: true, requeueAfter: this.#deps.retryAfter(key) });
        }
        this.serve();
      }
    });
  }

  #requeue(key: Key, { isRequested }: { readonly isRequested: boolean }, result: Result): void {
    const after = isRequested && result.isFailure !== true ? 0 : result.requeueAfter;
    if (after === undefined) return;
    const cancel = this.#tasks.later(after, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, cancel);
  }

  #cancelDelay(key: Key): void {
    this.#delayed.get(key)?.();
    this.#delayed.delete(key);
  }

  /** After all that go before it, and after its equals. */
  #placeOf(key: Key): number {
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#due[middle] as Key;
      if (this.#deps.compare(other, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
