// Runs one action on request, never twice at once. Requests during a wait or a run fold into one further run, so that a
// storm of causes costs one effect.
import type { Clock } from './clock.ts';

export interface TriggerOptions {
  readonly clock: Clock;
  /** Minimum time between the starts of two runs, in ms. */
  readonly minInterval: number;
  /** The same for a pressing second run. Default: `minInterval`. */
  readonly pressingInterval?: number;
  /** The action. It handles its own failures: a rejection is a bug and reaches `onBug`. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onBug: (error: unknown) => void;
  /** Whether a caller waits for the run, so that it goes before others. */
  readonly isPressing?: () => boolean;
  /**
   * Admits a run to a slot, which the run frees with `leave` when it ends. It may start the run before it returns. The
   * returned function cancels the wait and does nothing once the run has started. Default: a slot is always free.
   */
  readonly admit?: (start: (leave: () => void) => void) => () => void;
  readonly meter?: TriggerMeter;
}

/** Measures requests and runs. */
export interface TriggerMeter {
  requested(): void;
  /** A run ended. */
  ran(figures: TriggerFigures): void;
}

export interface TriggerFigures {
  /** Requests after the first that this run served. */
  readonly folds: number;
  /** From the first request to the start of the run, in ms, including the wait for a slot. */
  readonly latency: number;
  /** Duration of the run, in ms. */
  readonly duration: number;
}

export class Trigger {
  readonly #options: TriggerOptions;
  #isStopped = false;
  #requests = 0;
  #firstRequest = 0;
  #lastStart = -Infinity;
  /** When the waiting run is due; -Infinity while it waits for its turn or a slot. */
  #due = -Infinity;
  /** Cancels the next run's wait for its time, turn or slot. */
  #cancelWait: (() => void) | undefined;
  #running: Promise<void> | undefined;
  /** Aborts the current run. */
  #stopping: AbortController | undefined;

  constructor(options: TriggerOptions) {
    this.#options = options;
  }

  /** Requests a run; returns at once. Does nothing after `stop`. */
  fire(): void {
    this.#options.meter?.requested();
    if (this.#isStopped) return;
    if (this.#requests++ === 0) this.#firstRequest = this.#options.clock.monotonic();
    this.#arm();
  }

  /** Starts no more runs and aborts the current one; resolves once it ends. */
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
    // A later request may be the first pressing one.
    if (this.#cancelWait !== undefined && due >= this.#due) return;
    this.#cancelWait?.();
    const wait = due - clock.monotonic();
    this.#due = due;
    if (wait <= 0) this.#runSoon();
    else this.#cancelWait = clock.schedule(wait, () => this.#runSoon());
  }

  /** Queue behind actions that are due already: triggers that waited equally long must not all run in one go. */
  #runSoon(): void {
    const { clock, isPressing } = this.#options;
    this.#due = -Infinity;
    this.#cancelWait = clock.schedule(0, () => this.#admit(), isPressing?.());
  }

  #admit(): void {
    const { admit } = this.#options;
    if (admit === undefined) return this.#start();
    const cancel = admit((leave) => this.#start(leave));
    if (this.#running === undefined) this.#cancelWait = cancel;
  }

  /** Without `leave`, the run holds no slot. */
  #start(leave?: () => void): void {
    this.#cancelWait = undefined;
    this.#stopping = new AbortController();
    this.#running = this.#runOnce(this.#stopping.signal, leave);
  }

  async #runOnce(signal: AbortSignal, leave: (() => void) | undefined): Promise<void> {
    const { clock, run, onBug, meter } = this.#options;
    const start = clock.monotonic();
    const figures = { folds: this.#requests - 1, latency: start - this.#firstRequest };
    this.#requests = 0;
    this.#lastStart = start;
    let duration = 0;
    try {
      await run(signal);
    } catch (error) {
      if (!signal.aborted) onBug(error);
      // A run that throws at once must not end the run before `#running` holds it.
      await Promise.resolve();
    } finally {
      // Take the time first: another run may start inside `leave`.
      duration = clock.monotonic() - start;
      leave?.();
    }
    meter?.ran({ ...figures, duration });
    this.#running = undefined;
    this.#stopping = undefined;
    if (this.#requests > 0 && !this.#isStopped) this.#arm();
  }
}
