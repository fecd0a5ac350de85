// Runs one thing at a time, on request. Requests made while a run waits or is under way fold into one further run, so
// that a storm of causes costs one effect. A trigger never runs its action twice at once.
import type { Clock } from './clock.ts';

export interface TriggerOptions {
  readonly clock: Clock;
  /** Least time between the starts of two runs, in ms. */
  readonly minInterval: number;
  /** The same where somebody waits for the second; without it there is no difference. */
  readonly pressingInterval?: number;
  /** What to run. It must handle its own failures: a rejection is a bug and reaches `onBug`. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onBug: (error: unknown) => void;
  /** Whether somebody waits for it, so that it goes before others. */
  readonly isPressing?: () => boolean;
  /**
   * How a run comes to its place, which it gives back when it has ended; without it there is always one. It may start the
   * run before it returns; what it returns ends the wait, and does nothing once the run has started.
   */
  readonly admit?: (start: (leave: () => void) => void) => () => void;
  /** Told once a run has ended. */
  readonly onRun?: (figures: TriggerFigures) => void;
}

export interface TriggerFigures {
  /** Requests that this run answered beyond the first. */
  readonly folds: number;
  /** From the first request to the start of the run, in ms; the wait for a place is part of it. */
  readonly latency: number;
  /** Of the run itself, in ms. */
  readonly duration: number;
}

export class Trigger {
  readonly #options: TriggerOptions;
  #isStopped = false;
  #requests = 0;
  #firstRequest = 0;
  #lastStart = -Infinity;
  /** When its turn is to come, while it waits for that; -Infinity while it waits for a turn or a place. */
  #due = -Infinity;
  /** Ends the wait for the time, the turn or the place of the next run. */
  #cancelWait: (() => void) | undefined;
  #running: Promise<void> | undefined;
  /** Of the run under way. */
  #stopping: AbortController | undefined;

  constructor(options: TriggerOptions) {
    this.#options = options;
  }

  /** Asks for a run; returns at once. Does nothing once stopped. */
  fire(): void {
    if (this.#isStopped) return;
    if (this.#requests++ === 0) this.#firstRequest = this.#options.clock.monotonic();
    this.#arm();
  }

  /** No run starts any more, the one under way is aborted; resolves once it has ended. */
  async stop(reason?: Error): Promise<void> {
    this.#isStopped = true;
    this.#stopping?.abort(reason);
    this.#cancelWait?.();
    await this.#running;
  }

  #arm(): void {
    if (this.#running !== undefined) return;
    const { clock, minInterval, pressingInterval = minInterval, isPressing } = this.#options;
    const interval = isPressing?.() ? pressingInterval : minInterval;
    const due = this.#lastStart + interval;
    // Whoever comes later may be the first whom somebody waits for.
    if (this.#cancelWait !== undefined && due >= this.#due) return;
    this.#cancelWait?.();
    const wait = due - clock.monotonic();
    this.#due = due;
    if (wait <= 0) this.#runSoon();
    else this.#cancelWait = clock.schedule(wait, () => this.#runSoon());
  }

  /** Behind what may run already: many that have waited alike must not all run in one go. */
  #runSoon(): void {
    const { clock, isPressing } = this.#options;
    this.#due = -Infinity;
    this.#cancelWait = clock.schedule(0, () => this.#admit(), isPressing?.());
  }

  #admit(): void {
    const { admit = startAtOnce } = this.#options;
    const cancel = admit((leave) => this.#start(leave));
    if (this.#running === undefined) this.#cancelWait = cancel;
  }

  #start(leave: () => void): void {
    this.#cancelWait = undefined;
    this.#stopping = new AbortController();
    this.#running = this.#runOnce(this.#stopping.signal, leave);
  }

  async #runOnce(signal: AbortSignal, leave: () => void): Promise<void> {
    const { clock, run, onBug, onRun } = this.#options;
    const start = clock.monotonic();
    const figures = { folds: this.#requests - 1, latency: start - this.#firstRequest };
    this.#requests = 0;
    this.#lastStart = start;
    let duration = 0;
    try {
      await run(signal);
    } catch (error) {
      if (!signal.aborted) onBug(error);
    } finally {
      // Before another takes the place, and begins at once.
      duration = clock.monotonic() - start;
      leave();
    }
    onRun?.({ ...figures, duration });
    this.#running = undefined;
    this.#stopping = undefined;
    if (this.#requests > 0 && !this.#isStopped) this.#arm();
  }
}

function startAtOnce(start: (leave: () => void) => void): () => void {
  start(() => undefined);
  return () => undefined;
}
