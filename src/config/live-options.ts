// Options that may change while the process runs: read again and again from where the others were read once, so that a
// ConfigMap that is edited takes effect where it is mounted.
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { LiveReading, LiveValues } from './read-live-options.ts';

export interface LiveOptionsDeps {
  readonly values: LiveValues;
  readonly read: () => LiveReading;
  readonly clock: Clock;
  /** Told of the values after each change. */
  readonly onChange: (values: LiveValues) => void;
  /** Told of a value that is refused, in one line, once for as long as it stays so. The value of before stays. */
  readonly onProblem: (problem: string) => void;
}

/** Between two readings, in ms. The kubelet itself takes up to a minute to bring a changed ConfigMap. */
const interval = 10_000;

export class LiveOptions {
  readonly #deps: LiveOptionsDeps;
  #values: LiveValues;
  #problems: ReadonlySet<string> = new Set();

  constructor(deps: LiveOptionsDeps) {
    this.#deps = deps;
    this.#values = deps.values;
  }

  /** Reads until `signal` is aborted; resolves then. */
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
