// Faults that are put in on purpose: which request meets which, by action, chance, number and parameters. What a fault
// then does is the gateway's.
import type { Random } from '../../scheduling/random.ts';

/** When an answer is lost: did the request have its effect before, does it never have it, or will it have it later? */
export type LostEffect = 'before' | 'after' | 'late';

/** What becomes of the connection of a lost answer. */
export type Connection = 'drop' | 'hang';

/** How an answer can be spoilt. */
export type Garbling = 'truncated' | 'empty' | 'idsMissing' | 'unknownEnum' | 'html502';

export type Fault =
  | { readonly kind: 'error'; readonly code: string; readonly status: number; readonly message: string }
  | { readonly kind: 'throttle' }
  | { readonly kind: 'slow'; readonly ms: number }
  | {
      readonly kind: 'lost';
      /**
       * `before`: it happens, and the answer is lost. `after`: it never happens. `late`: it happens `delayMs` later,
       * and the connection hangs.
       */
      readonly effect: LostEffect;
      readonly connection: Connection;
      readonly delayMs: number;
    }
  | { readonly kind: 'garbled'; readonly form: Garbling };

export interface FaultRule {
  /** Name of an action, or `*`. */
  readonly action: string;
  /** Chance that a request which fits meets the fault. */
  readonly rate: number;
  /** For how many requests; without, for all. */
  readonly count?: number | undefined;
  /** Only requests with these parameters; a list parameter has to contain the value. */
  readonly match: Readonly<Record<string, string>>;
  readonly fault: Fault;
}

export interface StandingFault extends FaultRule {
  readonly id: number;
  /** How many requests have met it. */
  readonly met: number;
}

export class Faults {
  readonly #random: Random;
  #rules: readonly StandingFault[] = [];
  /** Told of every request that meets a fault. */
  onMet: (fault: Fault, action: string, input: Readonly<Record<string, unknown>>) => void = () => undefined;
  #lastId = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get rules(): readonly StandingFault[] {
    return this.#rules;
  }

  /** Returns the id by which the rule can be removed. */
  add(rule: FaultRule): number {
    this.#lastId += 1;
    this.#rules = [...this.#rules, { ...rule, id: this.#lastId, met: 0 }];
    return this.#lastId;
  }

  /** Says whether there was such a rule. */
  remove(id: number): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
    return this.#rules.length < before;
  }

  clear(): void {
    this.#rules = [];
  }

  /** What a request meets: every slowness, and the first of anything else. */
  meet(action: string, input: Readonly<Record<string, unknown>>): readonly Fault[] {
    const met: Fault[] = [];
    let decided = false;
    for (const rule of this.#rules) {
      const slow = rule.fault.kind === 'slow';
      if ((decided && !slow) || !this.#applies(rule, action, input)) continue;
      decided ||= !slow;
      met.push(rule.fault);
      this.onMet(rule.fault, action, input);
      this.#rules = this.#rules.map((other) =>
        other.id === rule.id ? { ...other, met: other.met + 1 } : other,
      );
    }
    return met;
  }

  #applies(rule: StandingFault, action: string, input: Readonly<Record<string, unknown>>): boolean {
    if (rule.action !== '*' && rule.action !== action) return false;
    if (rule.count !== undefined && rule.met >= rule.count) return false;
    const fits = Object.entries(rule.match).every(([name, value]) => {
      const given = input[name];
      return Array.isArray(given) ? given.includes(value) : String(given) === value;
    });
    return fits && this.#random.chance(rule.rate);
  }
}
