// Waits for the ends of operations that a cloud goes on with after it has accepted them. There is one poller a cloud.
// Each operation is polled by itself, or, while many are in flight, in a group by one read that shows the progress of
// all in it. No slot is held between polls, and nothing is stored: after a restart the cloud shows what is changing.
import { type Caller, type Priority, rankOf } from '../contract/priority.ts';
import type { Clock } from '../../runtime/clock.ts';

export type Progress<Result> =
  | { readonly kind: 'ended'; readonly result: Result }
  | {
      readonly kind: 'pending';
      /** The pause that the cloud asks for, in ms. */
      readonly retryAfter?: number | undefined;
      /** The group shows something that only its own poll explains. */
      readonly isOdd?: boolean;
    };

export interface PendingOperation<View, Result> {
  /** Operations of one group are visible in one read; undefined if there is no such read. */
  readonly group: string | undefined;
  /** The thing that a read of the group asks about, where the read does not show everything in the group. */
  readonly key?: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Reads its own progress. Never rejects for anything a cloud does. */
  poll(): Promise<Progress<Result>>;
  /** Finds its progress in what a read of its group shows. */
  find(view: View): Progress<Result>;
}

export interface PollerOptions<View> {
  readonly clock: Clock;
  /** Reads a group, at least what the keys name. Undefined if that failed: each operation waits for its next poll. */
  readonly readGroup: (group: string, read: GroupRead) => Promise<View | undefined>;
  /** Above this number of operations in flight, groups are read. */
  readonly crowd?: number;
  /** Least time between the starts of two reads of a group, in ms. */
  readonly groupPause?: number;
  /** An operation that takes longer is overdue, in ms. */
  readonly max?: number;
  /** Least wait before a poll, whatever is asked for, in ms. */
  readonly minWait?: number;
}

export interface GroupRead {
  readonly keys: readonly string[];
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Waits before the first polls if the cloud asks for none, and between all later ones, in ms. */
const firstWaits = [1000, 2000] as const;
const defaultMinWait = 6000;
/** Bounds for what is asked for, in ms: neither a loop without a pause nor an end that nobody sees. */
const usualShortest = 1000;
const maxAskedWait = 60_000;
const usualLongest = 600_000;
const usualCrowd = 50;

interface Waiting<View> {
  readonly operation: PendingOperation<View, unknown>;
  readonly startedAt: number;
  readonly end: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
  polls: number;
  isOdd: boolean;
  /** When it is polled next, in monotonic ms; Infinity while it is polled. */
  dueAt: number;
  cancel: () => void;
}

export class Poller<View> {
  readonly #options: PollerOptions<View>;
  readonly #waiting = new Set<Waiting<View>>();
  /** When each group may be read again, in monotonic ms; Infinity while it is read. */
  readonly #notBefore = new Map<string, number>();
  /** Due while their group is read. */
  readonly #held = new Set<Waiting<View>>();

  constructor(options: PollerOptions<View>) {
    this.#options = options;
  }

  /** Operations in flight. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves to the result of the operation, or to `overdue` after 10 minutes or `max`. Rejects with the signal's reason.
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
        this.#held.delete(waiting);
        signal.removeEventListener('abort', abandon);
      };
      const waiting: Waiting<View> = {
        operation,
        startedAt: this.#options.clock.monotonic(),
        end: (result) => {
          leave();
          // The result comes from this operation.
          resolve(result as Result);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
        polls: 0,
        isOdd: false,
        dueAt: Infinity,
        cancel: () => undefined,
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', abandon, { once: true });
      this.#schedule(waiting, retryAfter);
    });
  }

  #schedule(waiting: Waiting<View>, retryAfter: number | undefined): void {
    const usual = firstWaits[waiting.polls] ?? defaultMinWait;
    waiting.polls++;
    const { minWait = usualShortest } = this.#options;
    const asked = Math.min(Math.max(retryAfter ?? usual, minWait), maxAskedWait);
    this.#pollIn(asked, waiting);
  }

  #pollIn(wait: number, waiting: Waiting<View>): void {
    const { clock, max = usualLongest } = this.#options;
    const now = clock.monotonic();
    const left = waiting.startedAt + max - now;
    const isLast = wait >= left;
    waiting.dueAt = now + wait;
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
    if (wait === Infinity) this.#held.add(waiting);
    else if (wait > 0) this.#pollIn(wait, waiting);
    else void this.#pollGroup(group);
  }

  /** A read of the group for a single operation would show no more than the poll of the operation. */
  #isCrowded(group: string): boolean {
    const { crowd = usualCrowd } = this.#options;
    return this.#waiting.size > crowd && this.#in(group).length > 1;
  }

  #in(group: string): readonly Waiting<View>[] {
    return [...this.#waiting].filter(({ operation }) => operation.group === group);
  }

  async #pollAlone(waiting: Waiting<View>): Promise<void> {
    waiting.dueAt = Infinity;
    try {
      this.#note(waiting, await waiting.operation.poll());
    } catch (error) {
      waiting.fail(error);
    }
  }

  /** Polls a group. Those due before the next read wait for this one, so that the next one is due for all at once. */
  async #pollGroup(group: string): Promise<void> {
    const { clock, readGroup, groupPause = defaultMinWait } = this.#options;
    const next = clock.monotonic() + groupPause;
    const inGroup = this.#in(group).filter(({ dueAt }) => dueAt <= next);
    for (const waiting of inGroup) {
      waiting.cancel();
      waiting.dueAt = Infinity;
    }
    this.#notBefore.set(group, Infinity);
    const none = new AbortController();
    const stopIfNoneWaits = (): void => {
      if (inGroup.every((waiting) => !this.#waiting.has(waiting))) none.abort(new Error('nothing waits'));
    };
    for (const { operation } of inGroup) operation.signal.addEventListener('abort', stopIfNoneWaits);
    const keys = inGroup.flatMap(({ operation }) => operation.key ?? []);
    const caller = {
      get priority() {
        return mostUrgent(inGroup);
      },
    };
    try {
      const view = await readGroup(group, { keys, caller, signal: none.signal });
      for (const waiting of inGroup)
        this.#note(waiting, view === undefined ? { kind: 'pending' } : waiting.operation.find(view));
    } catch (error) {
      for (const waiting of inGroup) waiting.fail(error);
    } finally {
      for (const { operation } of inGroup) operation.signal.removeEventListener('abort', stopIfNoneWaits);
      this.#notBefore.set(group, next);
      this.#resume(group);
    }
  }

  #resume(group: string): void {
    const inGroup = this.#in(group);
    if (inGroup.length === 0) this.#notBefore.delete(group);
    const held = inGroup.filter((waiting) => this.#held.delete(waiting));
    // The first one may begin a read of all that are due.
    for (const waiting of held) if (waiting.dueAt < Infinity) this.#poll(waiting);
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
  const priorities = waiting.map(({ operation }) => operation.caller.priority);
  return priorities.sort((a, b) => rankOf(a) - rankOf(b))[0] ?? 'housekeeping';
}
