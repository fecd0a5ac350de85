// Scenarios that several figures are read from: each is played once, by the first figure that asks for it.
import type { Clock } from '../../src/runtime/clock.ts';

/** What every scenario is played with. */
export interface Theatre {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Where a CPU profile of each controller is left, if one is wanted. */
  readonly profiles: string | undefined;
}

type Play<Plan, Result> = (plan: Plan, theatre: Theatre) => Promise<Result>;

export class Scenarios {
  readonly #theatre: Theatre;
  readonly #played = new Map<string, Promise<unknown>>();

  constructor(theatre: Theatre) {
    this.#theatre = theatre;
  }

  /** `play` is called once for each plan, which must be plain data. A failure is remembered like a result. */
  played<Plan, Result>(plan: Plan, play: Play<Plan, Result>): Promise<Result> {
    const known = this.ifPlayed(plan, play);
    if (known !== undefined) return known;
    const playing = play(plan, this.#theatre);
    this.#played.set(keyOf(plan, play), playing);
    return playing;
  }

  /** What came of it, if somebody asked for it before. */
  ifPlayed<Plan, Result>(plan: Plan, play: Play<Plan, Result>): Promise<Result> | undefined {
    return this.#played.get(keyOf(plan, play)) as Promise<Result> | undefined;
  }
}

function keyOf<Plan, Result>(plan: Plan, { name }: Play<Plan, Result>): string {
  return `${name} ${JSON.stringify(plan)}`;
}
