// Bounds the requests in flight at an SDK's edge. A place is held only while a request is in flight, never while somebody
// waits for the rate limits.
import Bottleneck from 'bottleneck';
import { rankOf, type Urgency } from './urgency.ts';

export class InFlight {
  readonly #places: Bottleneck;

  /** `most`: requests at once. */
  constructor(most: number) {
    this.#places = new Bottleneck({ maxConcurrent: most });
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.#places.queued();
  }

  /** Runs `work` as soon as there is a place, the most urgent first; what waits is not begun once `signal` is aborted. */
  run<T>(
    { urgency, signal }: { readonly urgency: Urgency; readonly signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#places.schedule({ priority: rankOf(urgency) }, () => {
      signal.throwIfAborted();
      return work();
    });
  }
}
