// The base of clients of clouds whose actions have names and one limit each: what a call of an action does and spends, and
// listings page by page. And what operations wait for, in any cloud.
import type { AllocationImplementation, CallContext } from '../contract/cloud.ts';
import type { Answer, OperationKind, Outcome } from '../contract/operations.ts';
import { endless, unreadable } from '../contract/cloud-failure.ts';
import type { CallGate, ReadResult } from './call-gate.ts';
import type { CloudCall } from './cloud-call.ts';

/** More pages than any listing has whose pages have a fixed size: a million interfaces by token, 100,000 items by number. */
export const maxPages = 2000;

export class ActionClient<Action extends string> {
  protected readonly gate: CallGate;
  readonly #takingAway: ReadonlySet<Action>;

  constructor(gate: CallGate, takingAway: ReadonlySet<Action>) {
    this.gate = gate;
    this.#takingAway = takingAway;
  }

  /** Waits until the rate limits admit one call of each action together. The returned function refunds the tokens. */
  async admit(
    actions: readonly Action[],
    context: CallContext,
  ): Promise<(unsent?: readonly Action[]) => void> {
    const refund = await this.gate.admit(this.#callsOf(actions), context);
    return (unsent = actions) => refund(this.#callsOf(unsent));
  }

  /** The admission of operations, by the action that each of them needs. */
  admission(actionOf: Readonly<Record<OperationKind, Action | undefined>>): Admission {
    return admission(this.gate, (kinds) =>
      kinds.flatMap((kind) => {
        const action = actionOf[kind];
        return action === undefined ? [] : [this.callOf(action)];
      }),
    );
  }

  protected callOf(action: Action): CloudCall {
    const changes = this.#takingAway.has(action) ? 'takesAway' : 'adds';
    return {
      name: action,
      effect: isRead(action) ? 'reads' : changes,
      limits: [{ name: action }],
    };
  }

  /** Reads page by page, by the token in each page. `max`: more pages than the listing can have. */
  protected async *follow<Output>(
    action: Action,
    read: (token: string | undefined) => Promise<ReadResult<Output>>,
    tokenIn: (output: Output) => string | undefined,
    max = maxPages,
  ): AsyncGenerator<ReadResult<Output>> {
    const met = new Set<string>();
    let token: string | undefined;
    do {
      if (met.size === max) throw endless(action, `it has more than ${max} pages`);
      const page: ReadResult<Output> = await read(token);
      yield page;
      const next = tokenIn(page.output) ?? '';
      if (met.has(next)) throw endless(action, 'the same page token came twice');
      met.add(next);
      token = next === '' ? undefined : next;
    } while (token !== undefined);
  }

  #callsOf(actions: readonly Action[]): readonly CloudCall[] {
    return actions.map((action) => this.callOf(action));
  }
}

/** These clouds name all their reads alike. */
export function isRead(action: string): boolean {
  return action.startsWith('Describe') || action.startsWith('Get');
}

type Admission = Pick<AllocationImplementation, 'admit' | 'expectedWait' | 'limitsOf' | 'reconsider'>;

/** The admission of operations of these kinds, by the calls that they need. */
export function admission(
  gate: CallGate,
  callsFor: (kinds: readonly OperationKind[], instanceId: string | undefined) => readonly CloudCall[],
): Admission {
  return {
    admit: async (kinds, context) => {
      const refund = await gate.admit(callsFor(kinds, context.instanceId), context);
      return (unsent = kinds) => refund(callsFor(unsent, context.instanceId));
    },
    reconsider: () => gate.reconsider(),
    expectedWait: (kinds, priority, instanceId) => gate.expectedWait(callsFor(kinds, instanceId), priority),
    limitsOf: (kinds, instanceId) => gate.limitsOf(callsFor(kinds, instanceId)),
  };
}

/** The outcome of an answered change. A success answer that cannot be understood leaves the result ambiguous. */
export function outcomeOf(action: string, answer: Answer | { readonly problem: string }): Outcome {
  if ('kind' in answer) return { kind: 'done', answer };
  const { failure } = unreadable(action, `cannot understand the answer: ${answer.problem}`);
  return { kind: 'ambiguous', failure };
}
