// Remembers which of many parties were refused something that all of them share. A party that was refused while others
// were served is the cause itself: what it is refused later says nothing about the others.
import type { Clock } from './clock.ts';

export interface RefusedPartiesDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long a party counts after its last refusal, or after that of another that is no more alone, in ms. */
  readonly remembered: number;
}

interface Party<F> {
  /** The last one. */
  readonly failure: F;
  readonly refusedAt: number;
  /** Others were served since it was first refused. */
  isAlone: boolean;
  /** For which parts of its own. */
  readonly parts: Set<string>;
}

interface Shared<F> {
  /** Somebody was served, at any time. */
  hasWorked: boolean;
  /** The last refusal of a party that was not alone, in monotonic ms. */
  refusedAt: number;
  /** In the order of their last refusals. */
  readonly parties: Map<string, Party<F>>;
}

/** How many parties are remembered for each thing. */
const maxParties = 20_000;

export class RefusedParties<F> {
  readonly #deps: RefusedPartiesDeps;
  readonly #shared = new Map<string, Shared<F>>();

  constructor(deps: RefusedPartiesDeps) {
    this.#deps = deps;
  }

  /** The thing was refused to the party, for this part of it. */
  refused(key: string, party: string, failure: F, part = ''): void {
    const shared = this.#sharedOf(key);
    const { parties } = shared;
    const { isAlone, parts } = this.#partyOf(key, party) ?? { isAlone: false, parts: new Set<string>() };
    parties.delete(party);
    const refusedAt = this.#deps.clock.monotonic();
    if (!isAlone) shared.refusedAt = refusedAt;
    parties.set(party, { failure, refusedAt, isAlone, parts: parts.add(part) });
    for (const [name, each] of parties) {
      if (!this.#isOver(each, shared) && parties.size <= maxParties) return;
      parties.delete(name);
    }
  }

  /** The party was served: nothing speaks against it, and the others that were refused are alone. */
  worked(key: string, party: string): void {
    const shared = this.#sharedOf(key);
    shared.hasWorked = true;
    shared.parties.delete(party);
    for (const each of shared.parties.values()) each.isAlone = true;
  }

  hasWorked(key: string): boolean {
    return this.#shared.get(key)?.hasWorked === true;
  }

  /** How it was last refused; undefined if it was not refused since it was last served. */
  failureOf(key: string, party: string): F | undefined {
    return this.#partyOf(key, party)?.failure;
  }

  /** Whether others were served since it was first refused. */
  isAlone(key: string, party: string): boolean {
    return this.#partyOf(key, party)?.isAlone === true;
  }

  /** Everybody who was refused since anybody was served, and the number of their different parts. */
  suspects(key: string): { readonly parties: number; readonly parts: number } {
    const shared = this.#sharedOf(key);
    const suspects = [...shared.parties.values()].filter(
      (each) => !each.isAlone && !this.#isOver(each, shared),
    );
    return {
      parties: suspects.length,
      parts: new Set(suspects.flatMap(({ parts }) => [...parts])).size,
    };
  }

  #sharedOf(key: string): Shared<F> {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const shared = { hasWorked: false, refusedAt: -Infinity, parties: new Map<string, Party<F>>() };
    this.#shared.set(key, shared);
    return shared;
  }

  #partyOf(key: string, party: string): Party<F> | undefined {
    const shared = this.#shared.get(key);
    const known = shared?.parties.get(party);
    return shared === undefined || known === undefined || this.#isOver(known, shared) ? undefined : known;
  }

  /** What they are refused together counts for each of them, although one asks for all. */
  #isOver({ refusedAt, isAlone }: Party<F>, shared: Shared<F>): boolean {
    const last = isAlone ? refusedAt : Math.max(refusedAt, shared.refusedAt);
    return this.#deps.clock.monotonic() >= last + this.#deps.remembered;
  }
}
