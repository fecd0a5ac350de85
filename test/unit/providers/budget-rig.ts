// A call budget on a virtual clock, and the record of who was granted what and when.
import { CallBudget } from '../../../src/providers/call-budget.ts';
import type { BucketSize } from '../../../src/providers/token-bucket.ts';
import type { Urgency } from '../../../src/providers/urgency.ts';
import { VirtualClock } from '../../../src/scheduling/virtual-clock.ts';

const never = new AbortController().signal;

export interface BudgetRig {
  readonly clock: VirtualClock;
  readonly budget: CallBudget;
  /** `name@ms` of each grant of tokens, in order. */
  readonly granted: string[];
  /** Resolves to the function that gives the tokens back. */
  readonly ask: (name: string, actions: readonly string[], how?: Asking) => Promise<() => void>;
}

export interface Asking {
  readonly urgency?: Urgency | (() => Urgency);
  readonly signal?: AbortSignal;
  readonly begun?: boolean;
  /** Whether the calls are sent at once; they are unless it says otherwise. */
  readonly sent?: boolean;
}

export function budgetRig(sizes: {
  readonly buckets?: Readonly<Record<string, BucketSize>>;
  readonly overall?: BucketSize;
}): BudgetRig {
  const clock = new VirtualClock();
  const budget = new CallBudget({
    clock,
    sizes: new Map(Object.entries(sizes.buckets ?? {})),
    overall: sizes.overall,
  });
  const granted: string[] = [];
  const ask = async (name: string, actions: readonly string[], how: Asking = {}): Promise<() => void> => {
    const { urgency = 'waiting', signal = never, begun = false } = how;
    const giveBack = await budget.tokens(actions, {
      urgency: typeof urgency === 'function' ? urgency : () => urgency,
      signal,
      begun,
    });
    if (how.sent !== false) for (const action of actions) budget.sent(action);
    granted.push(`${name}@${Math.round(clock.monotonic())}`);
    return giveBack;
  };
  return { clock, budget, granted, ask };
}

/** Calls that wait for a token of `action`. */
export function waitingFor(budget: CallBudget, action: string): number {
  const level = budget.levels().find((each) => each.action === action);
  return Object.values(level?.waiting ?? {}).reduce((sum, count) => sum + count, 0);
}
