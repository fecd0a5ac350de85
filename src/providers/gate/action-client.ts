// The base of clients of clouds whose actions have names and one limit each: what a call of an action does and spends, and
// listings page by page. And what operations wait for, in any cloud.
import { textAt, valueAt } from '../../runtime/json.ts';
import type { AllocationImplementation, CallContext } from '../contract/cloud.ts';
import type { Answer, OperationKind, Outcome } from '../contract/operations.ts';
import { endless, unreadable } from '../contract/cloud-failure.ts';
import type { CallGate, ReadResult, WriteResult } from './call-gate.ts';
import type { CloudCall, Sending } from './cloud-call.ts';

/** More pages than any listing has whose pages have a fixed size: a million interfaces by token, 100,000 items by number. */
export const maxPages = 2000;

/** A call: what it sends, and what its answer shows; of a listing, also what it lists. */
interface CallForm {
  readonly input: object;
  readonly output: object;
  readonly item?: unknown;
}

type Forms<Calls> = { readonly [Name in keyof Calls]: CallForm };
type NameIn<Calls> = keyof Calls & string;
type Input<Calls extends Forms<Calls>, Name extends keyof Calls> = Calls[Name]['input'];
type Output<Calls extends Forms<Calls>, Name extends keyof Calls> = Calls[Name]['output'];
type Item<Calls extends Forms<Calls>, Name extends keyof Calls> = Calls[Name]['item'];

/**
 * Sends one request, once a slot is free, and parses its answer. It neither retries nor waits for rate limits. Rejects
 * with a CallError, or with what `onSend` threw.
 */
export interface ActionApi<Calls extends Forms<Calls>> {
  send<A extends NameIn<Calls>>(action: A, input: Input<Calls, A>, to: Sending): Promise<Output<Calls, A>>;
}

/** The differences between actions, and where each has what all have. */
export interface ActionRules<Action extends string> {
  readonly takingAway: ReadonlySet<Action>;
  /** Actions that no address waits for, each with the member of its request that names what a call changes. */
  readonly housekeeping: { readonly [A in Action]?: string };
  /** Where the answer to a listing has its list. */
  readonly lists: { readonly [A in Action]?: readonly string[] };
  /** The member of a request and of an answer that has the token of the next page. */
  readonly token: string;
  /** Where an answer has the id of its request. */
  readonly requestId: readonly string[];
  /** More pages than a listing can have. */
  readonly maxPages: number;
}

/** Items of a listing. `startedAt`: when their page, or the first of their pages, was asked for, in monotonic ms. */
export interface ListedItems<T> {
  readonly startedAt: number;
  readonly items: readonly T[];
}

/** Its reads reject with a CloudError. `Paged`: listings whose pages follow each other by a token. */
export class ActionClient<Calls extends Forms<Calls>, Paged extends NameIn<Calls>> {
  protected readonly api: ActionApi<Calls>;
  protected readonly gate: CallGate;
  readonly #rules: ActionRules<NameIn<Calls>>;

  constructor(api: ActionApi<Calls>, gate: CallGate, rules: ActionRules<NameIn<Calls>>) {
    this.api = api;
    this.gate = gate;
    this.#rules = rules;
  }

  /** Waits until the rate limits admit one call of each action together. The returned function refunds the tokens. */
  async admit(
    actions: readonly NameIn<Calls>[],
    context: CallContext,
  ): Promise<(unsent?: readonly NameIn<Calls>[]) => void> {
    const refund = await this.gate.admit(this.#callsOf(actions), context);
    return (unsent = actions) => refund(this.#callsOf(unsent));
  }

  /** The admission of operations, by the action that each of them needs. */
  admission(actionOf: Readonly<Record<OperationKind, NameIn<Calls> | undefined>>): Admission {
    return admission(this.gate, (kinds) =>
      kinds.flatMap((kind) => {
        const action = actionOf[kind];
        return action === undefined ? [] : [this.callOf(action)];
      }),
    );
  }

  protected callOf(action: NameIn<Calls>): CloudCall {
    const changes = this.#rules.takingAway.has(action) ? 'takesAway' : 'adds';
    return {
      name: action,
      effect: isRead(action) ? 'reads' : changes,
      limits: [{ name: action }],
    };
  }

  /** Reads once. */
  protected read<A extends NameIn<Calls>>(
    action: A,
    input: Input<Calls, A>,
    context: CallContext,
  ): Promise<ReadResult<Output<Calls, A>>> {
    return this.gate.read(this.callOf(action), context, (sending) => this.api.send(action, input, sending));
  }

  /** Reads one page. */
  async page<A extends NameIn<Calls>>(
    action: A,
    input: Input<Calls, A>,
    context: CallContext,
  ): Promise<ListedItems<Item<Calls, A>>> {
    return this.itemsIn(action, await this.read(action, input, context));
  }

  /** Reads page by page, by the token in each page. */
  async *pages<A extends Paged>(
    action: A,
    input: Input<Calls, A>,
    context: CallContext,
  ): AsyncGenerator<ListedItems<Item<Calls, A>>> {
    const { token: name, maxPages: max } = this.#rules;
    const read = (token: string | undefined): Promise<ReadResult<Output<Calls, A>>> =>
      this.read(action, token === undefined ? input : { ...input, [name]: token }, context);
    const nextIn = ({ output }: ReadResult<object>): string | undefined => textAt(output, name);
    for await (const answer of follow(action, read, nextIn, max)) yield this.itemsIn(action, answer);
  }

  /** Reads all pages. */
  async list<A extends Paged>(
    action: A,
    input: Input<Calls, A>,
    context: CallContext,
  ): Promise<ListedItems<Item<Calls, A>>> {
    const items: Item<Calls, A>[] = [];
    let first: number | undefined;
    for await (const page of this.pages(action, input, context)) {
      first ??= page.startedAt;
      items.push(...page.items);
    }
    return { startedAt: first ?? 0, items };
  }

  /** An answer must have its list. Without it the answer is an error: it never means "there are none". */
  protected itemsIn<A extends NameIn<Calls>>(
    action: A,
    { startedAt, output }: ReadResult<Output<Calls, A>>,
  ): ListedItems<Item<Calls, A>> {
    const { lists } = this.#rules;
    const path = lists[action] ?? [];
    const list: unknown = valueAt(output, ...path);
    if (!Array.isArray(list)) throw unreadable(action, `the answer has no ${path.join('.')}`);
    return { startedAt, items: list as readonly Item<Calls, A>[] };
  }

  /** Sends a mutating call once. A housekeeping call whose denial is known is not sent: the denial is its answer. */
  write<A extends NameIn<Calls>>(
    action: A,
    input: Input<Calls, A>,
    context: CallContext,
    outcome?: (output: Output<Calls, A>) => Outcome,
  ): Promise<WriteResult<Output<Calls, A>>> {
    const { housekeeping, requestId } = this.#rules;
    const named = housekeeping[action];
    const housekeepingOf = named === undefined ? undefined : textAt(input, named);
    const call = { ...this.callOf(action), ...(housekeepingOf !== undefined && { housekeepingOf }) };
    return this.gate.write(call, context, (sending) => this.api.send(action, input, sending), {
      requestId: (output) => textAt(output, ...requestId),
      ...(outcome && { outcome }),
    });
  }

  /** Sends a change once. A success answer that `read` cannot understand leaves the result ambiguous. */
  async change<A extends NameIn<Calls>>(
    action: A,
    input: Input<Calls, A>,
    context: CallContext,
    read: (output: Output<Calls, A>) => Answer | { readonly problem: string },
  ): Promise<Outcome> {
    const outcome = (output: Output<Calls, A>): Outcome => outcomeOf(action, read(output));
    const result = await this.write(action, input, context, outcome);
    return result.kind === 'answered' ? outcome(result.output) : result;
  }

  #callsOf(actions: readonly NameIn<Calls>[]): readonly CloudCall[] {
    return actions.map((action) => this.callOf(action));
  }
}

/** Reads pages of which each names the next one. */
export async function* follow<Page>(
  action: string,
  read: (next: string | undefined) => Promise<Page>,
  nextIn: (page: Page) => string | undefined,
  max = maxPages,
): AsyncGenerator<Page> {
  const met = new Set<string>();
  let next: string | undefined;
  do {
    if (met.size === max) throw endless(action, `it has more than ${max} pages`);
    const page: Page = await read(next);
    yield page;
    next = nextIn(page) || undefined;
    if (met.has(next ?? '')) throw endless(action, 'the same page came twice');
    met.add(next ?? '');
  } while (next !== undefined);
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
    expectedWait: (kinds, priority, instanceId) =>
      gate.limits.expectedWait(callsFor(kinds, instanceId), priority),
    limitsOf: (kinds, instanceId) => gate.limits.limitsOf(callsFor(kinds, instanceId)),
  };
}

function outcomeOf(action: string, answer: Answer | { readonly problem: string }): Outcome {
  if ('kind' in answer) return { kind: 'done', answer };
  const { failure } = unreadable(action, `cannot understand the answer: ${answer.problem}`);
  return { kind: 'ambiguous', failure };
}
