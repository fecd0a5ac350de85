// Calls ECS and VPC through the gate: what each action does, and where its answers have what is read of any.
import type { CallContext } from '../contract/cloud.ts';
import type { Outcome } from '../contract/operations.ts';
import { endless, unreadable } from '../contract/cloud-failure.ts';
import { ActionClient, type ActionRules, type ListedItems, maxPages } from '../gate/action-client.ts';
import type { CallGate } from '../gate/call-gate.ts';
import {
  lists,
  type NumberedAction,
  type NumberedPage,
  type RpcAction,
  type RpcApi,
  type RpcCalls,
  type RpcInput,
  type TokenAction,
} from './rpc-api.ts';

const rules: ActionRules<RpcAction> = {
  takingAway: new Set(['UnassignPrivateIpAddresses', 'DeleteNetworkInterface']),
  housekeeping: {
    UnassignPrivateIpAddresses: 'networkInterfaceId',
    DeleteNetworkInterface: 'networkInterfaceId',
  },
  lists,
  token: 'nextToken',
  requestId: ['requestId'],
  maxPages,
};

/** The most results in a page that is found by its number. */
const numberedPage = 50;

export class RpcClient extends ActionClient<RpcCalls, TokenAction> {
  constructor(api: RpcApi, gate: CallGate) {
    super(api, gate, rules);
  }

  /**
   * Reads page by page, by number, until all that the answer counts are there, or a page is empty and stays so: the cloud may
   * count what it does not show.
   */
  async numbered<A extends NumberedAction>(
    action: A,
    input: RpcInput<A>,
    context: CallContext,
  ): Promise<ListedItems<RpcCalls[A]['item']>> {
    const all: RpcCalls[A]['item'][] = [];
    let first: number | undefined;
    let isEmpty = false;
    for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += isEmpty ? 0 : 1) {
      const asked: RpcInput<A> & NumberedPage = { ...input, pageNumber, pageSize: numberedPage };
      const read = await this.read(action, asked, context);
      first ??= read.startedAt;
      const page = this.itemsIn(action, read).items;
      all.push(...page);
      const { totalCount } = read.output;
      if (totalCount === undefined) throw unreadable(action, 'TotalCount is missing');
      const isEmptyAgain = isEmpty && page.length === 0;
      if (all.length >= totalCount || isEmptyAgain) return { startedAt: first, items: all };
      isEmpty = page.length === 0;
    }
    throw endless(action, `it has more than ${maxPages} pages`);
  }

  /** Reports how a change ends that was accepted without an outcome. */
  reportEnd(action: RpcAction, context: CallContext, followed: Promise<Outcome>): Promise<Outcome> {
    return this.gate.reportEnd(context, action, { followed, read: (outcome) => outcome });
  }
}
