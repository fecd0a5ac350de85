// Calls ECS and VPC through the gate: what each action does and spends, and listings page by page.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import type { Priority } from '../contract/priority.ts';
import type { CallGate, ReadResult, WriteResult } from '../gate/call-gate.ts';
import type { CallEffect, CloudCall } from '../gate/cloud-call.ts';
import type { NumberedPage, RpcAction, RpcApi, RpcInput, RpcOutput, TokenPage } from './rpc-api.ts';

/** No address waits for these actions. Each changes the interface that it names. */
const takingAway: ReadonlySet<RpcAction> = new Set(['UnassignPrivateIpAddresses', 'DeleteNetworkInterface']);

export type NumberedAction = 'DescribeSecurityGroups' | 'DescribeVpcs' | 'DescribeVSwitches';
export type TokenAction = 'DescribeNetworkInterfaces' | 'DescribeInstances' | 'DescribeInstanceTypes';

/** The most results in a page that is found by its number. */
const numberedPage = 50;
/** More pages than any listing has: 100,000 items by number, a million interfaces by token. */
const maxPages = 2000;

export class RpcClient {
  readonly #api: RpcApi;
  readonly #gate: CallGate;

  constructor(api: RpcApi, gate: CallGate) {
    this.#api = api;
    this.#gate = gate;
  }

  /** Waits until the rate limits admit one call of each action together. The returned function refunds the tokens. */
  async admit(
    actions: readonly RpcAction[],
    context: CallContext,
  ): Promise<(unsent?: readonly RpcAction[]) => void> {
    const refund = await this.#gate.admit(actions.map(callOf), context);
    return (unsent = actions) => refund(unsent.map(callOf));
  }

  reconsider(): void {
    this.#gate.reconsider();
  }

  /** Expected wait for the rate limits for one call of each action, in ms. */
  expectedWait(actions: readonly RpcAction[], priority: Priority): number {
    return this.#gate.expectedWait(actions.map(callOf), priority);
  }

  /** Reads once. Rejects with a CloudError. `startedAt` is when the request was sent, in monotonic ms. */
  read<A extends RpcAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
  ): Promise<ReadResult<RpcOutput<A>>> {
    return this.#gate.read(callOf(action), context, (sending) => this.#api.send(action, input, sending));
  }

  /** Reads page by page, by the token in each page. Rejects with a CloudError. */
  async *pages<A extends TokenAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
  ): AsyncGenerator<ReadResult<RpcOutput<A>>> {
    const met = new Set<string>();
    let token: string | undefined;
    do {
      if (met.size === maxPages) throw tooManyPages(action);
      const asked: RpcInput<A> & TokenPage = token === undefined ? input : { ...input, nextToken: token };
      const page = await this.read(action, asked, context);
      yield page;
      const { nextToken: next = '' } = page.output;
      if (met.has(next)) throw endless(action, 'the same page token came twice');
      met.add(next);
      token = next === '' ? undefined : next;
    } while (token !== undefined);
  }

  /** Reads page by page, by number, until all that the answer counts are there. Rejects with a CloudError. */
  async numbered<A extends NumberedAction, T>(
    action: A,
    { input, items }: { readonly input: RpcInput<A>; readonly items: (output: RpcOutput<A>) => readonly T[] },
    context: CallContext,
  ): Promise<{ readonly startedAt: number; readonly items: readonly T[] }> {
    const all: T[] = [];
    let first: number | undefined;
    for (let pageNumber = 1; pageNumber <= maxPages; pageNumber++) {
      const asked: RpcInput<A> & NumberedPage = { ...input, pageNumber, pageSize: numberedPage };
      const { startedAt, output } = await this.read(action, asked, context);
      first ??= startedAt;
      const page = items(output);
      all.push(...page);
      const total = totalOf(action, output);
      if (all.length >= total) return { startedAt: first, items: all };
      if (page.length === 0) throw unreadable(action, `it shows ${all.length} of ${total}`);
    }
    throw tooManyPages(action);
  }

  /** Sends a mutating call once. A housekeeping call whose denial is known is not sent: the denial is its answer. */
  write<A extends RpcAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
  ): Promise<WriteResult<RpcOutput<A>>> {
    const { networkInterfaceId } = input as { readonly networkInterfaceId?: string };
    const isHousekeeping = takingAway.has(action) && networkInterfaceId !== undefined;
    const call = { ...callOf(action), ...(isHousekeeping && { housekeepingOf: networkInterfaceId }) };
    return this.#gate.write(call, context, (sending) => this.#api.send(action, input, sending));
  }
}

function callOf(action: RpcAction): CloudCall {
  return { name: action, effect: effectOf(action), limits: [{ name: action }] };
}

function effectOf(action: RpcAction): CallEffect {
  if (action.startsWith('Describe')) return 'reads';
  return takingAway.has(action) ? 'takesAway' : 'adds';
}

function totalOf(action: RpcAction, { totalCount }: { readonly totalCount?: number | undefined }): number {
  if (totalCount === undefined) throw unreadable(action, 'TotalCount is missing');
  return totalCount;
}

/** The list that an answer must have. Without it the answer is an error: it never means "there are none". */
export function listed<T>(action: RpcAction, list: readonly T[] | undefined): readonly T[] {
  if (!Array.isArray(list)) throw unreadable(action, 'the answer has no list');
  return list as readonly T[];
}

/** The error for an answer that lacks what it must contain. */
export function unreadable(action: RpcAction, problem: string): CloudError {
  return new CloudError({
    kind: 'unreadable',
    action,
    code: 'UnreadableAnswer',
    message: problem,
    requestId: undefined,
  });
}

/** Each page is valid, but the listing never ends. Reading on costs calls, so it backs off like any other failure. */
function endless(action: RpcAction, message: string): CloudError {
  return new CloudError({ kind: 'unknown', action, code: 'EndlessPages', message, requestId: undefined });
}

function tooManyPages(action: RpcAction): CloudError {
  return endless(action, `it has more than ${maxPages} pages`);
}
