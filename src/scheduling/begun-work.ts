// What somebody has begun and not ended yet, and what it waits for, so that it can be stopped in order: first nothing more
// begins, then what was begun is given time to end, then it is cut short.
import type { Clock } from './clock.ts';
import { SeldomMap, SeldomSet } from '../memory/seldom-filled.ts';

export interface BegunWorkOptions {
  readonly clock: Pick<Clock, 'schedule'>;
  /** Told of a rejection of what was begun, unless it is the reason of one of the two signals. */
  readonly onBug: (error: unknown) => void;
  /** Told each time that something has ended, after it has ceased to count. */
  readonly onEnd?: () => void;
}

export class BegunWork {
  readonly #options: BegunWorkOptions;
  #isClosing = false;
  /** There only while something is under way. */
  #controllers: { readonly closing: AbortController; readonly deadline: AbortController } | undefined;
  /** With what each is about. */
  readonly #running = new SeldomMap<Promise<void>, string | undefined>();
  readonly #timers = new SeldomSet<() => void>();

  constructor(options: BegunWorkOptions) {
    this.#options = options;
  }

  /** Aborted once nothing more may begin: for what was begun and waits. To be asked for by each. */
  get closing(): AbortSignal {
    return this.#signals().closing.signal;
  }

  /** Aborted once what was begun must end: for what is under way. To be asked for by each. */
  get deadline(): AbortSignal {
    return this.#signals().deadline.signal;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Whether something about this is under way. */
  isAbout(subject: string): boolean {
    return [...this.#running.values()].includes(subject);
  }

  /** Begins at once; does nothing once closing. `subject`: what it is about, for `isAbout`. */
  begin(work: () => Promise<void>, subject?: string): void {
    if (this.isClosing) return;
    const running = work()
      .catch((error: unknown) => {
        const { closing, deadline } = this.#signals();
        const isCutShort = error === closing.signal.reason || error === deadline.signal.reason;
        if (!isCutShort) this.#options.onBug(error);
      })
      .finally(() => {
        this.#running.delete(running);
        if (this.isIdle) this.#controllers = undefined;
        this.#options.onEnd?.();
      });
    this.#running.set(running, subject);
  }

  /** Calls `action` once after `ms`, and never once closing. The returned function cancels it. */
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

  /** Nothing more begins; resolves once what was begun has ended, which `deadline` cuts short. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isClosing = true;
    this.#controllers?.closing.abort();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    // Each listener makes the next one dearer, and all nodes stop by the same signal.
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
