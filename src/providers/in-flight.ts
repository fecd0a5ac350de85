// Bounds the requests in flight at an SDK's edge. A place is held only while a request is in flight, never while somebody
// waits for the rate limits.
import Bottleneck from 'bottleneck';
import { isPressing, rankOf, type Urgency } from './urgency.ts';

/** The part of the places that is kept for those whom pods wait for: an answer takes longer than a pod should wait. */
const keptForPressing = 0.4;

export class InFlight {
  readonly #places: Bottleneck;
  /** In front of the places, for those whom no pod waits for. */
  readonly #patient: Bottleneck;

  /** `most`: requests at once. */
  constructor(most: number) {
    this.#places = new Bottleneck({ maxConcurrent: most });
    this.#patient = new Bottleneck({ maxConcurrent: most - Math.floor(most * keptForPressing) });
    this.#patient.chain(this.#places);
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.#patient.queued() + this.#places.queued();
  }

  /** Runs `work` as soon as there is a place, the most urgent first; what waits is not begun once `signal` is aborted. */
  run<T>(
    { urgency, signal }: { readonly urgency: Urgency; readonly signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    const places = isPressing(urgency) ? this.#places : this.#patient;
    return places.schedule({ priority: rankOf(urgency) }, () => {
      signal.throwIfAborted();
      return work();
    });
  }
}
