// Injected faults: decides which request meets which, by action, chance, count and parameters. The gateway
// applies them.
import type { Random } from '../../runtime/random.ts';

/** When an answer is lost: whether the request takes effect before, never or later. */
export type LostEffect = 'before' | 'after' | 'late';

/** The fate of the connection of a lost answer. */
export type Connection = 'drop' | 'hang';

/** How an answer is garbled. */
export type Garbling = 'truncated' | 'empty' | 'idsMissing' | 'unknownEnum' | 'html502';

export type Fault =
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly status: number;
      readonly message: string;
      /** Seconds of a Retry-After, of clouds that have it. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly kind: 'throttle' }
  | { readonly kind: 'slow'; readonly ms: number }
  | {
      readonly kind: 'lost';
      /**
       * `before`: it takes effect, and the answer is lost. `after`: it never takes effect. `late`: it takes
       * effect `delayMs` later, and the connection hangs.
       */
      readonly effect: LostEffect;
      readonly connection: Connection;
      readonly delayMs: number;
    }
  | { readonly kind: 'garbled'; readonly form: Garbling }
  /** The request is accepted, and what it began fails in the end; only of clouds whose changes are operations. */
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      /** Whether half of its changes stay, and the model says what was wanted. */
      readonly isHalfDone?: boolean;
    };

export interface FaultRule {
  /** Name of an action, or `*`. */
  readonly action: string;
  /** Chance that a matching request meets the fault. */
  readonly rate: number;
  /** Maximum number of requests; unlimited if absent. */
  readonly count?: number | undefined;
  /** Only requests with these parameters; a list parameter must contain the value. */
  readonly match: Readonly<Record<string, string>>;
  readonly fault: Fault;
}

export interface StandingFault extends FaultRule {
  readonly id: number;
  /** How many requests met it. */
  readonly met: number;
}

export class Faults {
  readonly #random: Random;
  #rules: readonly StandingFault[] = [];
  /** Called for every request that meets a fault. */
  onMet: (fault: Fault, action: string, input: Readonly<Record<string, unknown>>) => void = () => undefined;
  #lastId = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get rules(): readonly StandingFault[] {
    return this.#rules;
  }

  /** Returns the id that removes the rule. */
  add(rule: FaultRule): number {
    this.#lastId += 1;
    this.#rules = [...this.#rules, { ...rule, id: this.#lastId, met: 0 }];
    return this.#lastId;
  }

  /** Returns whether the rule existed. */
  remove(id: number): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
    return this.#rules.length < before;
  }

  clear(): void {
    this.#rules = [];
  }

  /** The faults of a request: every `slow` one, and the first of any other kind. */
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
