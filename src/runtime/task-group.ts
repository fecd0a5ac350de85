// Tracks the tasks and timers in flight of one owner and stops them in order. It starts no more tasks, lets running
// ones finish, and aborts them at the deadline.
import type { Clock } from './clock.ts';
import { LazyMap, LazySet } from './lazy-collections.ts';
import type { Random } from './random.ts';

export interface TaskGroupOptions {
  readonly clock: Pick<Clock, 'schedule'>;
  /** Called when a task rejects with anything but the reason of one of the two signals. */
  readonly onBug: (error: unknown) => void;
  /** Called each time a task ends, after it leaves the group. */
  readonly onEnd?: () => void;
}

/** The surroundings of tasks. */
export interface TaskRuntime {
  readonly clock: Clock;
  readonly random: Random;
  readonly tasks: TaskGroup;
}

export class TaskGroup {
  readonly #options: TaskGroupOptions;
  #isClosing = false;
  /** Exists only while a task runs. */
  #controllers: { readonly closing: AbortController; readonly deadline: AbortController } | undefined;
  /** Each task with its subject. */
  readonly #running = new LazyMap<Promise<void>, string | undefined>();
  readonly #timers = new LazySet<() => void>();

  constructor(options: TaskGroupOptions) {
    this.#options = options;
  }

  /** Aborts when no more tasks may start; for tasks that wait. Read it again for each task. */
  get closing(): AbortSignal {
    return this.#signals().closing.signal;
  }

  /** Aborts when running tasks must end; for calls in flight. Read it again for each task. */
  get deadline(): AbortSignal {
    return this.#signals().deadline.signal;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** No task is running. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Whether a task with this subject is running. */
  isAbout(subject: string): boolean {
    return [...this.#running.values()].includes(subject);
  }

  /**
   * Starts a task at once; does nothing after `stop`. `subject` identifies it for `isAbout`; `backOff` is called after
   * a bug, so that the task does not restart at once.
   */
  beginTask(work: () => Promise<void>, subject?: string, backOff?: () => void): void {
    if (this.isClosing) return;
    const running = work()
      .catch((error: unknown) => {
        const { closing, deadline } = this.#signals();
        const isCutShort = error === closing.signal.reason || error === deadline.signal.reason;
        if (isCutShort) return;
        this.#options.onBug(error);
        backOff?.();
      })
      .finally(() => {
        this.#running.delete(running);
        if (this.isIdle) this.#controllers = undefined;
        this.#options.onEnd?.();
      });
    this.#running.set(running, subject);
  }

  /** Tells the owner that a running task got somewhere, as its end does. */
  report(): void {
    this.#options.onEnd?.();
  }

  /** Calls `action` once after `ms`, never after `stop`. The returned function cancels it. */
  later(ms: number, action: () => void): () => void {
    if (this.isClosing) return () => undefined;
    const cancel = this.#options.clock.schedule(ms, () => {
      this.#timers.delete(cancel);
      action();
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  /** Starts no more tasks. Resolves once running tasks end; `deadline` aborts them. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isClosing = true;
    this.#controllers?.closing.abort();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    // Every listener slows the next registration, and all nodes stop by the same signal.
    if (this.isIdle) return;
    const cut = (): void => this.#signals().deadline.abort();
    if (deadline.aborted) cut();
    deadline.addEventListener('abort', cut, { once: true });
    await Promise.all(this.#running.keys());
    deadline.removeEventListener('abort', cut);
  }

  #signals(): { readonly closing: AbortController; readonly deadline: AbortController } {
    if (this.#controllers !== undefined) return this.#controllers;
    this.#controllers = { closing: new AbortController(), deadline: new AbortController() };
    if (this.#isClosing) this.#controllers.closing.abort();
    return this.#controllers;
  }
}
