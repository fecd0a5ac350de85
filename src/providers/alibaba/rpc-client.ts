// Calls ECS and VPC through the gate: what each action does and spends, and listings page by page.
import type { CallContext } from '../contract/cloud.ts';
import type { Outcome } from '../contract/operations.ts';
import { endless, unreadable } from '../contract/cloud-failure.ts';
import { ActionClient, maxPages } from '../gate/action-client.ts';
import type { CallGate, ReadResult, WriteResult } from '../gate/call-gate.ts';
import type { Sending } from '../gate/cloud-call.ts';
import type { NumberedPage, RpcAction, RpcApi, RpcInput, RpcOutput, TokenPage } from './rpc-api.ts';

/** No address waits for these actions. Each changes the interface that it names. */
const takingAway: ReadonlySet<RpcAction> = new Set(['UnassignPrivateIpAddresses', 'DeleteNetworkInterface']);

export type NumberedAction = 'DescribeVpcs' | 'DescribeVSwitches';
export type TokenAction =
  | 'DescribeNetworkInterfaces'
  | 'DescribeInstances'
  | 'DescribeInstanceTypes'
  | 'DescribeSecurityGroups';

/** The most results in a page that is found by its number. */
const numberedPage = 50;

export class RpcClient extends ActionClient<RpcAction> {
  readonly #api: RpcApi;

  constructor(api: RpcApi, gate: CallGate) {
    super(gate, takingAway);
    this.#api = api;
  }

  /** Reads once. Rejects with a CloudError. `startedAt` is when the request was sent, in monotonic ms. */
  read<A extends RpcAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
  ): Promise<ReadResult<RpcOutput<A>>> {
    return this.gate.read(this.callOf(action), context, (sending) => this.#api.send(action, input, sending));
  }

  /** Reads page by page, by the token in each page. Rejects with a CloudError. */
  pages<A extends TokenAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
  ): AsyncGenerator<ReadResult<RpcOutput<A>>> {
    const read = (token: string | undefined): Promise<ReadResult<RpcOutput<A>>> => {
      const asked: RpcInput<A> & TokenPage = token === undefined ? input : { ...input, nextToken: token };
      return this.read(action, asked, context);
    };
    return this.follow(action, read, ({ nextToken }) => nextToken);
  }

  /**
   * Reads page by page, by number, until all that the answer counts are there, or a page is empty and stays so: the cloud may
   * count what it does not show. Rejects with a CloudError.
   */
  async numbered<A extends NumberedAction, T>(
    action: A,
    { input, items }: { readonly input: RpcInput<A>; readonly items: (output: RpcOutput<A>) => readonly T[] },
    context: CallContext,
  ): Promise<{ readonly startedAt: number; readonly items: readonly T[] }> {
    const all: T[] = [];
    let first: number | undefined;
    let isEmpty = false;
    for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += isEmpty ? 0 : 1) {
      const asked: RpcInput<A> & NumberedPage = { ...input, pageNumber, pageSize: numberedPage };
      const { startedAt, output } = await this.read(action, asked, context);
      first ??= startedAt;
      const page = items(output);
      all.push(...page);
      const total = totalOf(action, output);
      const isEmptyAgain = isEmpty && page.length === 0;
      if (all.length >= total || isEmptyAgain) return { startedAt: first, items: all };
      isEmpty = page.length === 0;
    }
    throw endless(action, `it has more than ${maxPages} pages`);
  }

  /** Sends a mutating call once. A housekeeping call whose denial is known is not sent: the denial is its answer. */
  write<A extends RpcAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
    outcome?: (output: RpcOutput<A>) => Outcome,
  ): Promise<WriteResult<RpcOutput<A>>> {
    const { networkInterfaceId } = input as { readonly networkInterfaceId?: string };
    const isHousekeeping = takingAway.has(action) && networkInterfaceId !== undefined;
    const call = { ...this.callOf(action), ...(isHousekeeping && { housekeepingOf: networkInterfaceId }) };
    const send = (sending: Sending): Promise<RpcOutput<A>> => this.#api.send(action, input, sending);
    return this.gate.write(call, context, send, { requestId, ...(outcome && { outcome }) });
  }

  /** Reports how a change ends that was accepted without an outcome. */
  reportEnd(action: RpcAction, context: CallContext, followed: Promise<Outcome>): Promise<Outcome> {
    return this.gate.reportEnd(context, action, { followed, read: (outcome) => outcome });
  }
}

/** The models of all answers have it. */
function requestId(output: object): string | undefined {
  return (output as { readonly requestId?: string }).requestId;
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
