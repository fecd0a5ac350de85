// Bounds the requests in flight. A place is held only while a request is in flight, never while somebody
// waits for the rate limits. Who waits for a place is ordered by urgency, which is read when a place is given, and anew
// whenever somebody says that one has risen.
import { isPressing, rankOf, type Urgency, urgencies } from './urgency.ts';

/**
 * The part of the places for calls that no pod waits for: an answer takes longer than a pod should wait for a place. While
 * calls that pods wait for are in flight it is smaller, so that little stands before what their nodes do next.
 */
const patientShare = { alone: 0.6, besidesPressing: 0.2 };

export interface Entrant {
  readonly urgency: () => Urgency;
  /** Part of something that was begun: it goes before whatever was not. */
  readonly begun?: boolean;
}

export interface PlaceRequest extends Entrant {
  /** Ends the wait for a place. */
  readonly signal: AbortSignal;
}

/** Begins with a place, which `leave` gives back. */
export type Begin = (leave: () => void) => void;

interface Waiter extends Required<Entrant> {
  readonly begin: Begin;
}

export class InFlight {
  readonly #most: number;
  /** Those who were begun, and then by urgency; each in the order in which they came to be so urgent. */
  readonly #lines: readonly Set<Waiter>[] = ['begun', ...urgencies].map(() => new Set());
  /** The urgency of some who wait has risen, and nobody looked yet. */
  #isStale = false;
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
    const leave = this.#take(request.urgency()) ?? (await this.#wait(request));
    try {
      // It may have been given up since it was let in.
      request.signal.throwIfAborted();
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * The same for whoever is to cost little while it waits: begins as soon as there is a place, which may be before this
   * returns. The result ends the wait, and does nothing once it has begun.
   */
  enter(entrant: Entrant, begin: Begin): () => void {
    const leave = this.#take(entrant.urgency());
    if (leave === undefined) return this.#standInLine(entrant, begin);
    begin(leave);
    return () => undefined;
  }

  get #mostPatient(): number {
    const { alone, besidesPressing } = patientShare;
    return Math.ceil(this.#most * (this.#taken > this.#patient ? besidesPressing : alone));
  }

  #hasPlaceFor(urgency: Urgency): boolean {
    return this.#taken < this.#most && (isPressing(urgency) || this.#patient < this.#mostPatient);
  }

  /** Takes a place if there is one for it; the result gives it back. */
  #take(urgency: Urgency): (() => void) | undefined {
    if (!this.#hasPlaceFor(urgency)) return undefined;
    const isPatient = !isPressing(urgency);
    this.#taken++;
    if (isPatient) this.#patient++;
    return () => {
      this.#taken--;
      if (isPatient) this.#patient--;
      this.#give();
    };
  }

  /** Decides anew who goes next: to be called when the urgency of a call that waits has risen. */
  reconsider(): void {
    this.#isStale = true;
    this.#give();
  }

  #give(): void {
    while (this.#taken < this.#most) {
      const next = this.#next();
      const leave = next && this.#take(next.urgency());
      if (next === undefined || leave === undefined) return;
      this.#remove(next);
      next.begin(leave);
    }
  }

  /** The first for whom there is a place: pressing calls do not wait behind one that was begun and that no pod waits for. */
  #next(): Waiter | undefined {
    if (this.#isStale) this.#lineUp();
    for (const [index, line] of this.#lines.entries()) {
      for (const waiter of line) {
        const now = lineOf(waiter);
        // It is not as urgent any more.
        if (now > index) this.#move(waiter, line, now);
        else if (this.#hasPlaceFor(waiter.urgency())) return waiter;
        // In a line of one urgency there is none for those behind it either, nor for the less urgent.
        else if (!waiter.begun) return undefined;
      }
    }
    return undefined;
  }

  #lineUp(): void {
    this.#isStale = false;
    for (const [index, line] of this.#lines.entries()) {
      for (const waiter of line) {
        const now = lineOf(waiter);
        if (now < index) this.#move(waiter, line, now);
      }
    }
  }

  #move(waiter: Waiter, from: Set<Waiter>, line: number): void {
    from.delete(waiter);
    this.#lines[line]?.add(waiter);
  }

  #remove(waiter: Waiter): void {
    for (const line of this.#lines) line.delete(waiter);
  }

  #standInLine({ urgency, begun = false }: Entrant, begin: Begin): () => void {
    const waiter: Waiter = { urgency, begun, begin };
    this.#lines[lineOf(waiter)]?.add(waiter);
    return () => this.#remove(waiter);
  }

  #wait(request: PlaceRequest): Promise<() => void> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const leaveLine = this.#standInLine(request, (leave) => {
        signal.removeEventListener('abort', giveUp);
        resolve(leave);
      });
      const giveUp = (): void => {
        leaveLine();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

function lineOf({ begun, urgency }: Waiter): number {
  return begun ? 0 : 1 + rankOf(urgency());
}
