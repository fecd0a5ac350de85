// Remembers which of many parties were refused something that all of them share. A party that was refused while others
// were served is the cause itself: what it is refused later says nothing about the others.
import type { Clock } from './clock.ts';

interface Party<F> {
  /** The last one. */
  readonly failure: F;
  readonly refusedAt: number;
}

interface Shared<F> {
  /** Somebody was served, at any time. */
  hasWorked: boolean;
  /**
   * Parties that were refused since anyone was served, in the order of their last refusals. They leave together, so that
   * no answer has to go through them.
   */
  readonly suspects: Map<string, Party<F>>;
  /** For which parts suspects were refused. */
  readonly parts: Set<string>;
  /** The last refusal of a suspect, in monotonic ms. */
  suspectedAt: number;
  /** Parties that were refused before others were served, about in the order of their last refusals. */
  readonly alone: Map<string, Party<F>>;
}

/** How many parties are remembered for each thing. */
const maxParties = 20_000;

export class RefusedParties<F> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #remembered: number;
  readonly #shared = new Map<string, Shared<F>>();

  /** `remembered`: how long a party counts after its last refusal, or after that of another that is no more alone, in ms. */
  constructor(clock: Pick<Clock, 'monotonic'>, remembered: number) {
    this.#clock = clock;
    this.#remembered = remembered;
  }

  /** The thing was refused to the party, for this part of it. */
  refused(key: string, party: string, failure: F, part = ''): void {
    const shared = this.#sharedOf(key);
    this.#makeRoom(shared);
    const refusedAt = this.#clock.monotonic();
    const isAlone = this.#aloneOf(shared, party) !== undefined;
    const group = isAlone ? shared.alone : shared.suspects;
    shared.alone.delete(party);
    shared.suspects.delete(party);
    group.set(party, { failure, refusedAt });
    if (isAlone) return;
    shared.suspectedAt = refusedAt;
    shared.parts.add(part);
  }

  /** The party was served: nothing speaks against it, and the others that were refused are alone. */
  worked(key: string, party: string): void {
    const shared = this.#sharedOf(key);
    const { suspects, alone } = shared;
    shared.hasWorked = true;
    suspects.delete(party);
    alone.delete(party);
    for (const [name, each] of suspects) alone.set(name, each);
    forgetSuspects(shared);
  }

  hasWorked(key: string): boolean {
    return this.#shared.get(key)?.hasWorked === true;
  }

  /** How it was last refused; undefined if it was not refused since it was last served. */
  failureOf(key: string, party: string): F | undefined {
    const shared = this.#shared.get(key);
    if (shared === undefined) return undefined;
    const suspect = this.#isOver(shared.suspectedAt) ? undefined : shared.suspects.get(party);
    return (suspect ?? this.#aloneOf(shared, party))?.failure;
  }

  /** Whether others were served since it was first refused. */
  isAlone(key: string, party: string): boolean {
    const shared = this.#shared.get(key);
    return shared !== undefined && this.#aloneOf(shared, party) !== undefined;
  }

  /** The numbers of those that were refused since anybody was served, and of their different parts. */
  suspects(key: string): { readonly parties: number; readonly parts: number } {
    const shared = this.#shared.get(key);
    if (shared === undefined || this.#isOver(shared.suspectedAt)) return { parties: 0, parts: 0 };
    return { parties: shared.suspects.size, parts: shared.parts.size };
  }

  #sharedOf(key: string): Shared<F> {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const shared: Shared<F> = {
      hasWorked: false,
      suspects: new Map(),
      parts: new Set(),
      suspectedAt: -Infinity,
      alone: new Map(),
    };
    this.#shared.set(key, shared);
    return shared;
  }

  #aloneOf({ alone }: Shared<F>, party: string): Party<F> | undefined {
    const known = alone.get(party);
    return known === undefined || this.#isOver(known.refusedAt) ? undefined : known;
  }

  #isOver(refusedAt: number): boolean {
    return this.#clock.monotonic() >= refusedAt + this.#remembered;
  }

  /** Forgets what is over, and the oldest party beyond the limit. */
  #makeRoom(shared: Shared<F>): void {
    const { suspects, alone } = shared;
    if (this.#isOver(shared.suspectedAt)) forgetSuspects(shared);
    const isFull = (): boolean => suspects.size + alone.size >= maxParties;
    for (const [name, { refusedAt }] of alone) {
      if (!this.#isOver(refusedAt) && !isFull()) return;
      alone.delete(name);
    }
    for (const name of suspects.keys()) {
      if (!isFull()) return;
      suspects.delete(name);
    }
  }
}

function forgetSuspects<F>({ suspects, parts }: Shared<F>): void {
  suspects.clear();
  parts.clear();
}
