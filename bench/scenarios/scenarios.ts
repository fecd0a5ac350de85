// Scenarios that several figures are read from: each is played once, by the first figure that asks for it.
import type { Clock } from '../../src/runtime/clock.ts';

/** What every scenario is played with. */
export interface Harness {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Where a CPU profile of each controller is left, if one is wanted. */
  readonly profiles: string | undefined;
}

type Play<Plan, Result> = (plan: Plan, harness: Harness) => Promise<Result>;

export class Scenarios {
  readonly #harness: Harness;
  readonly #played = new Map<string, Promise<unknown>>();

  constructor(harness: Harness) {
    this.#harness = harness;
  }

  /** `play` is called once for each plan, which must be plain data. A failure is remembered like a result. */
  played<Plan, Result>(plan: Plan, play: Play<Plan, Result>): Promise<Result> {
    const known = this.ifPlayed(plan, play);
    if (known !== undefined) return known;
    const playing = play(plan, this.#harness);
    this.#played.set(keyOf(plan, play), playing);
    return playing;
  }

  /** Its result, if a figure asked for it before. */
  ifPlayed<Plan, Result>(plan: Plan, play: Play<Plan, Result>): Promise<Result> | undefined {
    return this.#played.get(keyOf(plan, play)) as Promise<Result> | undefined;
  }
}

function keyOf<Plan, Result>(plan: Plan, { name }: Play<Plan, Result>): string {
  return `${name} ${JSON.stringify(plan)}`;
}
