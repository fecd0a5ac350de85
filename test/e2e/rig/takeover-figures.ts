// How long takeovers took, for people. Nothing here is asserted, because the times depend on the machine.
import { percentile } from '../../../bench/percentile.ts';

export class TakeoverFigures {
  readonly #times = new Map<string, number[]>();

  /** `ms` undefined: it did not happen this time. */
  note(what: string, ms: number | undefined): void {
    if (ms === undefined) return;
    const times = this.#times.get(what) ?? [];
    this.#times.set(what, [...times, ms]);
  }

  /** A line for each kind: count, median and maximum. */
  lines(): readonly string[] {
    return [...this.#times].map(
      ([what, times]) =>
        `${what}: ${times.length} times, median ${seconds(percentile(times, 0.5))}, longest ${seconds(percentile(times, 1))}`,
    );
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
