// The watches that are open now, and how lines reach them: at once, unless a fault says otherwise.
import type { Clock } from '../../../scheduling/clock.ts';
import type { EventLine, LineStream } from './line-stream.ts';

export interface OpenWatch {
  /** Path and query of its request. */
  readonly url: string;
  readonly lines: LineStream;
  readonly end: () => void;
}

/** What happens to one line on its way. */
export interface LineFate {
  /** Ms until it arrives; lines keep their order. */
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

  /** The returned function takes it off again. */
  add(watch: OpenWatch): () => void {
    this.#open.add(watch);
    return () => this.#open.delete(watch);
  }

  /** Those whose request matches, in the order in which they were opened. */
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
