// The open watches, and how lines reach them: at once, unless a fault decides otherwise.
import type { Clock } from '../../../runtime/clock.ts';
import type { EventLine, LineStream } from './line-stream.ts';

export interface OpenWatch {
  /** Path and query of its request. */
  readonly url: string;
  readonly lines: LineStream;
  readonly end: () => void;
}

/** The fate of one line in transit. */
export interface LineFate {
  /** Delay in ms; lines keep their order. */
  readonly delay: number;
  readonly copies: number;
}

export class OpenWatches {
  readonly #clock: Clock;
  readonly #fateOf: (url: string) => LineFate;
  readonly #open = new Set<OpenWatch>();
  readonly #lastArrival = new WeakMap<LineStream, number>();

  constructor(clock: Clock, fateOf: (url: string) => LineFate) {
    this.#clock = clock;
    this.#fateOf = fateOf;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The returned function removes it. */
  add(watch: OpenWatch): () => void {
    this.#open.add(watch);
    return () => this.#open.delete(watch);
  }

  /** Watches with a matching request, in opening order. */
  matching(pattern: RegExp): readonly OpenWatch[] {
    return [...this.#open].filter(({ url }) => pattern.test(url));
  }

  deliver(url: string, line: string | EventLine, lines: LineStream): void {
    const { delay, copies } = this.#fateOf(url);
    const push = (): void => {
      for (let copy = 0; copy < copies; copy++) lines.push(line);
    };
    const now = this.#clock.monotonic();
    const arrival = Math.max(now + delay, this.#lastArrival.get(lines) ?? now);
    if (arrival === now) {
      push();
      return;
    }
    this.#lastArrival.set(lines, arrival);
    this.#clock.schedule(arrival - now, push);
  }
}
