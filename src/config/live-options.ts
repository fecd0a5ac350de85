// Rereads the live options while the process runs, so that an edited ConfigMap takes effect where it is mounted.
import { type Clock, sleep } from '../runtime/clock.ts';
import type { LiveReading, LiveValues } from './read-live-options.ts';

export interface LiveOptionsDeps {
  readonly values: LiveValues;
  readonly read: () => LiveReading;
  readonly clock: Clock;
  /** Called with the values after each change. */
  readonly onChange: (values: LiveValues) => void;
  /** Called once per rejected value, in one line. The previous value stays. */
  readonly onProblem: (problem: string) => void;
}

/** Between two reads, in ms. The kubelet needs up to a minute to deliver a changed ConfigMap. */
const interval = 10_000;

export class LiveOptions {
  readonly #deps: LiveOptionsDeps;
  #values: LiveValues;
  #problems: ReadonlySet<string> = new Set();

  constructor(deps: LiveOptionsDeps) {
    this.#deps = deps;
    this.#values = deps.values;
  }

  /** Reads until `signal` aborts, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      await sleep(clock, interval, signal).catch(() => undefined);
      if (!signal.aborted) this.#read();
    }
  }

  #read(): void {
    const { read, onChange, onProblem } = this.#deps;
    const { values, problems } = read();
    for (const problem of problems) if (!this.#problems.has(problem)) onProblem(problem);
    this.#problems = new Set(problems);
    const next = { ...this.#values, ...values };
    if (JSON.stringify(next) === JSON.stringify(this.#values)) return;
    this.#values = next;
    onChange(next);
  }
}
