// Bounds the requests in flight. A place is held only while a request is in flight, never while somebody
// waits for the rate limits. Who waits for a place is ordered by urgency, which is read when a place is given.
import { isPressing, rankOf, type Urgency } from './urgency.ts';

/**
 * The part of the places for calls that no pod waits for: an answer takes longer than a pod should wait for a place. While
 * calls that pods wait for are in flight it is smaller, so that little stands before what their nodes do next.
 */
const patientShare = { alone: 0.6, besidesPressing: 0.2 };

export interface PlaceRequest {
  readonly urgency: () => Urgency;
  /** Part of something that was begun: it goes before whatever was not. */
  readonly begun?: boolean;
  /** Ends the wait for a place. */
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly urgency: () => Urgency;
  readonly begun: boolean;
  readonly begin: (leave: () => void) => void;
}

export class InFlight {
  readonly #most: number;
  /** In order of arrival. */
  readonly #waiters = new Set<Waiter>();
  #taken = 0;
  /** Of those that are taken, by calls that no pod waited for when they began. */
  #patient = 0;

  /** `most`: requests at once. */
  constructor(most: number) {
    this.#most = most;
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

  get #mostPatient(): number {
    const { alone, besidesPressing } = patientShare;
    return Math.ceil(this.#most * (this.#taken > this.#patient ? besidesPressing : alone));
  }

  /** Takes a place if there is one for it; the result gives it back. */
  #enter(urgency: Urgency): (() => void) | undefined {
    const isPatient = !isPressing(urgency);
    if (this.#taken >= this.#most || (isPatient && this.#patient >= this.#mostPatient)) return undefined;
    this.#taken++;
    if (isPatient) this.#patient++;
    return () => {
      this.#taken--;
      if (isPatient) this.#patient--;
      this.reconsider();
    };
  }

  /** Decides anew who goes next: to be called when the urgency of a call that waits has risen. */
  reconsider(): void {
    for (;;) {
      const next = mostUrgent(this.#waiters);
      const leave = next && this.#enter(next.urgency());
      if (next === undefined || leave === undefined) return;
      this.#waiters.delete(next);
      next.begin(leave);
    }
  }

  #wait({ urgency, begun = false, signal }: PlaceRequest): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
      };
      const begin = (leave: () => void): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(leave);
      };
      const waiter = { urgency, begun, begin };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
    });
  }
}

/** Of those who are alike, the one that came first. */
function mostUrgent(waiters: ReadonlySet<Waiter>): Waiter | undefined {
  let found: Waiter | undefined;
  let least = Infinity;
  for (const waiter of waiters) {
    const rank = waiter.begun ? -1 : rankOf(waiter.urgency());
    if (rank >= least) continue;
    found = waiter;
    least = rank;
  }
  return found;
}
