// Bounds the requests in flight at an SDK's edge. A place is held only while a request is in flight, never while somebody
// waits for the rate limits. Who waits for a place is ordered by urgency, which is read when a place is given.
import { isPressing, rankOf, type Urgency } from './urgency.ts';

/** The part of the places that is kept for those whom pods wait for: an answer takes longer than a pod should wait. */
const keptForPressing = 0.4;

export interface PlaceRequest {
  readonly urgency: () => Urgency;
  /** Ends the wait for a place. */
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly urgency: () => Urgency;
  readonly begin: (leave: () => void) => void;
}

export class InFlight {
  readonly #most: number;
  readonly #mostPatient: number;
  /** In order of arrival. */
  readonly #waiters = new Set<Waiter>();
  #taken = 0;
  /** Of those that are taken, by calls that no pod waited for when they began. */
  #patient = 0;

  /** `most`: requests at once. */
  constructor(most: number) {
    this.#most = most;
    this.#mostPatient = most - Math.floor(most * keptForPressing);
  }

  /** Runs `work` as soon as there is a place, the most urgent first. Rejects with the signal's reason if that ends the wait. */
  async run<T>(request: PlaceRequest, work: () => Promise<T>): Promise<T> {
    request.signal.throwIfAborted();
    const leave = this.#enter(request.urgency()) ?? (await this.#wait(request));
    try {
      // It may have been given up since it was let in.
      request.signal.throwIfAborted();
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place if there is one for it; the result gives it back. */
  #enter(urgency: Urgency): (() => void) | undefined {
    const patient = isPressing(urgency) ? 0 : 1;
    if (this.#taken >= this.#most || this.#patient + patient > this.#mostPatient) return undefined;
    this.#taken++;
    this.#patient += patient;
    return () => {
      this.#taken--;
      this.#patient -= patient;
      this.#admit();
    };
  }

  #wait({ urgency, signal }: PlaceRequest): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
      };
      const begin = (leave: () => void): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(leave);
      };
      const waiter = { urgency, begin };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #admit(): void {
    for (;;) {
      const next = mostUrgent(this.#waiters);
      const leave = next && this.#enter(next.urgency());
      if (next === undefined || leave === undefined) return;
      this.#waiters.delete(next);
      next.begin(leave);
    }
  }
}

/** Of those who are alike, the one that came first. */
function mostUrgent(waiters: ReadonlySet<Waiter>): Waiter | undefined {
  let found: Waiter | undefined;
  let least = Infinity;
  for (const waiter of waiters) {
    const rank = rankOf(waiter.urgency());
    if (rank >= least) continue;
    found = waiter;
    least = rank;
  }
  return found;
}
