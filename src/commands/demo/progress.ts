// Decides how long a demonstration may take: as long as something new happens. A busy machine makes it longer, and does
// not end it.
import type { Clock } from '../../runtime/clock.ts';
import type { Picture } from './picture.ts';

/**
 * How long nothing new may happen, in ms. Twice the longest wait of a story: a new leader waits for the Lease of a dead
 * one, then 20 s before it takes anything away.
 */
export const patience = 60_000;

export interface ProgressOptions {
  readonly clock: Pick<Clock, 'schedule'>;
  /** Called after each `patience` without progress. `times`: how many in a row. */
  readonly onStandstill: (times: number) => void;
}

export class Progress {
  readonly #options: ProgressOptions;
  /** A state that returns is no progress: a fleet that only goes back and forth never settles. */
  readonly #seen = new Set<string>();
  #cancel: () => void;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#cancel = this.#wait(1);
  }

  /** Call it often. A state that has not been seen before starts the wait anew. */
  note(state: string): void {
    if (this.#seen.has(state)) return;
    this.#seen.add(state);
    this.#cancel();
    this.#cancel = this.#wait(1);
  }

  /** From now on, nothing is awaited. */
  lift(): void {
    this.#cancel();
  }

  #wait(times: number): () => void {
    return this.#options.clock.schedule(patience, () => {
      this.#cancel = this.#wait(times + 1);
      this.#options.onStandstill(times);
    });
  }
}

/** All of a picture that comes to rest once the story is told. Counters never rest, so they are left out. */
export function stateOf(picture: Picture, missing: readonly string[]): string {
  const { nodes, addresses, departures, pods, interfaces, subnets } = picture;
  const { unassigned: _, ...leaving } = departures;
  return JSON.stringify([missing, nodes, addresses, leaving, pods.waiting, interfaces, subnets]);
}

/** `what`: what has not come to its end. */
export function tooSlow(what: string): string {
  return `this machine is too slow, or the controller is stuck (its log says): nothing changed for ${patience / 1000} s, and ${what}`;
}
