// Waits for the ends of operations that a cloud goes on with after it has accepted them. There is one poller a cloud.
// Each operation is polled by itself, or, while many are in flight, in a group by one read that shows the progress of
// all in it. No slot is held between polls, and nothing is stored: after a restart the cloud shows what is changing.
import { type Priority, rankOf } from '../contract/priority.ts';
import type { Clock } from '../../runtime/clock.ts';

export type Progress<Result> =
  | { readonly kind: 'ended'; readonly result: Result }
  | {
      readonly kind: 'pending';
      /** What the cloud asks for, in ms. */
      readonly retryAfter?: number | undefined;
      /** The group shows something that only its own poll explains. */
      readonly isOdd?: boolean;
    };

export interface PendingOperation<View, Result> {
  /** Operations of one group are visible in one read; undefined if there is no such read. */
  readonly group: string | undefined;
  readonly priority: () => Priority;
  readonly signal: AbortSignal;
  /** Reads its own progress. Never rejects for anything a cloud does. */
  poll(): Promise<Progress<Result>>;
  /** Finds its progress in what a read of its group shows. */
  find(view: View): Progress<Result>;
}

export interface PollerOptions<View> {
  readonly clock: Clock;
  /** Reads a group. Undefined if that failed: each operation waits for its next poll. */
  readonly readGroup: (
    group: string,
    context: { readonly priority: () => Priority; readonly signal: AbortSignal },
  ) => Promise<View | undefined>;
  /** Above this number of operations in flight, groups are read. */
  readonly crowd?: number;
}

/** Waits before the first polls if the cloud asks for none, and between all later ones, in ms. */
const firstWaits = [1000, 2000] as const;
const leastWait = 6000;
/** An operation that takes longer has not ended for anyone who waits, in ms. */
const longest = 600_000;
const usualCrowd = 50;

interface Waiting<View> {
  readonly operation: PendingOperation<View, unknown>;
  readonly startedAt: number;
  readonly end: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
  polls: number;
  isOdd: boolean;
  cancel: () => void;
}

export class Poller<View> {
  readonly #options: PollerOptions<View>;
  readonly #waiting = new Set<Waiting<View>>();
  /** When each group may be read again, in monotonic ms; Infinity while it is read. */
  readonly #notBefore = new Map<string, number>();

  constructor(options: PollerOptions<View>) {
    this.#options = options;
  }

  /** Operations in flight. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves to the result of the operation, or to `overdue` after 10 minutes. Rejects with the signal's reason.
   * `retryAfter`: what the cloud asked for when it accepted the operation, in ms.
   */
  wait<Result>(
    operation: PendingOperation<View, Result>,
    retryAfter: number | undefined,
  ): Promise<Result | 'overdue'> {
    const { signal } = operation;
    return new Promise<Result | 'overdue'>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abandon = (): void => waiting.fail(signal.reason);
      const leave = (): void => {
        waiting.cancel();
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', abandon);
      };
      const waiting: Waiting<View> = {
        operation,
        startedAt: this.#options.clock.monotonic(),
        end: (result) => {
          leave();
          // It comes from this operation.
          resolve(result as Result);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
        polls: 0,
        isOdd: false,
        cancel: () => undefined,
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', abandon, { once: true });
      this.#schedule(waiting, retryAfter);
    });
  }

  #schedule(waiting: Waiting<View>, retryAfter: number | undefined): void {
    const usual = firstWaits[waiting.polls] ?? leastWait;
    waiting.polls++;
    this.#pollIn(retryAfter ?? usual, waiting);
  }

  #pollIn(wait: number, waiting: Waiting<View>): void {
    const { clock } = this.#options;
    const left = waiting.startedAt + longest - clock.monotonic();
    const isLast = wait >= left;
    waiting.cancel();
    waiting.cancel = clock.schedule(Math.min(wait, left), () => {
      if (isLast) waiting.end('overdue');
      else this.#poll(waiting);
    });
  }

  #poll(waiting: Waiting<View>): void {
    const { group } = waiting.operation;
    if (group === undefined || waiting.isOdd || !this.#isCrowded(group)) {
      void this.#pollAlone(waiting);
      return;
    }
    const wait = (this.#notBefore.get(group) ?? 0) - this.#options.clock.monotonic();
    if (wait > 0) this.#pollIn(Math.min(wait, leastWait), waiting);
    else void this.#pollGroup(group);
  }

  /** One read for a single operation would show nothing that its own poll does not. */
  #isCrowded(group: string): boolean {
    const { crowd = usualCrowd } = this.#options;
    return this.#waiting.size > crowd && this.#in(group).length > 1;
  }

  #in(group: string): readonly Waiting<View>[] {
    return [...this.#waiting].filter(({ operation }) => operation.group === group);
  }

  async #pollAlone(waiting: Waiting<View>): Promise<void> {
    try {
      this.#note(waiting, await waiting.operation.poll());
    } catch (error) {
      waiting.fail(error);
    }
  }

  /** Everything in the group waits for this read, so that the next one is due for all at once. */
  async #pollGroup(group: string): Promise<void> {
    const { clock, readGroup } = this.#options;
    const inGroup = this.#in(group);
    for (const waiting of inGroup) waiting.cancel();
    this.#notBefore.set(group, Infinity);
    const none = new AbortController();
    const stopIfNoneWaits = (): void => {
      if (inGroup.every((waiting) => !this.#waiting.has(waiting))) none.abort(new Error('nothing waits'));
    };
    for (const { operation } of inGroup) operation.signal.addEventListener('abort', stopIfNoneWaits);
    const priority = (): Priority => mostUrgent(this.#in(group));
    try {
      const view = await readGroup(group, { priority, signal: none.signal });
      for (const waiting of inGroup)
        this.#note(waiting, view === undefined ? { kind: 'pending' } : waiting.operation.find(view));
    } catch (error) {
      for (const waiting of inGroup) waiting.fail(error);
    } finally {
      for (const { operation } of inGroup) operation.signal.removeEventListener('abort', stopIfNoneWaits);
      if (this.#in(group).length === 0) this.#notBefore.delete(group);
      else this.#notBefore.set(group, clock.monotonic() + leastWait);
    }
  }

  #note(waiting: Waiting<View>, progress: Progress<unknown>): void {
    if (!this.#waiting.has(waiting)) return;
    if (progress.kind === 'ended') {
      waiting.end(progress.result);
      return;
    }
    waiting.isOdd = progress.isOdd === true;
    this.#schedule(waiting, progress.retryAfter);
  }
}

function mostUrgent(waiting: readonly Waiting<unknown>[]): Priority {
  const priorities = waiting.map(({ operation }) => operation.priority());
  return priorities.sort((a, b) => rankOf(a) - rankOf(b))[0] ?? 'housekeeping';
}
