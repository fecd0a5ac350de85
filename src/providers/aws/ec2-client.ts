// Calls EC2 through the gate: what each action does and spends, and listings page by page.
import type { CallContext } from '../contract/allocation-implementation.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import type { Priority } from '../contract/priority.ts';
import type { CallGate, ReadResult, WriteResult } from '../gate/call-gate.ts';
import type { CallEffect, CloudCall } from '../gate/cloud-call.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output, ListInput } from './ec2-api.ts';

const takingAway: ReadonlySet<Ec2Action> = new Set([
  'UnassignPrivateIpAddresses',
  'DetachNetworkInterface',
  'DeleteNetworkInterface',
]);

/** Actions that no address waits for, each with what a call of it changes. */
const housekeeping: { readonly [A in Ec2Action]?: (input: Ec2Input<A>) => string } = {
  UnassignPrivateIpAddresses: ({ NetworkInterfaceId }) => NetworkInterfaceId,
  DetachNetworkInterface: ({ AttachmentId }) => AttachmentId,
  DeleteNetworkInterface: ({ NetworkInterfaceId }) => NetworkInterfaceId,
  ModifyNetworkInterfaceAttribute: ({ NetworkInterfaceId }) => NetworkInterfaceId,
  AssociateAddress: ({ NetworkInterfaceId }) => NetworkInterfaceId,
};

export type ReadAction = {
  [A in Ec2Action]: Ec2Input<A> extends ListInput ? (A extends `Describe${string}` ? A : never) : never;
}[Ec2Action];

export class Ec2Client {
  readonly #api: Ec2Api;
  readonly #gate: CallGate;

  constructor(api: Ec2Api, gate: CallGate) {
    this.#api = api;
    this.#gate = gate;
  }

  /** Waits until the rate limits admit one call of each action together. The returned function refunds the tokens. */
  async admit(
    actions: readonly Ec2Action[],
    context: CallContext,
  ): Promise<(unsent?: readonly Ec2Action[]) => void> {
    const refund = await this.#gate.admit(actions.map(callOf), context);
    return (unsent = actions) => refund(unsent.map(callOf));
  }

  reconsider(): void {
    this.#gate.reconsider();
  }

  /** Expected wait for the rate limits for one call of each action, in ms. */
  expectedWait(actions: readonly Ec2Action[], priority: Priority): number {
    return this.#gate.expectedWait(actions.map(callOf), priority);
  }

  /** Reads page by page. Rejects with a CloudError. `startedAt` is when the page was requested, in monotonic ms. */
  async *pages<A extends ReadAction>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): AsyncGenerator<ReadResult<Ec2Output<A>>> {
    const met = new Set<string>();
    let token: string | undefined;
    do {
      const asked = token === undefined ? input : { ...input, NextToken: token };
      const { startedAt, output } = await this.#gate.read(callOf(action), context, (sending) =>
        this.#api.send(action, asked, sending),
      );
      yield { startedAt, output };
      const { NextToken: next = '' } = output as ListInput;
      if (met.has(next)) throw endless(action);
      met.add(next);
      token = next === '' ? undefined : next;
    } while (token !== undefined);
  }

  /** Sends a mutating call once. A housekeeping call whose denial is known is not sent: the denial is its answer. */
  write<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): Promise<WriteResult<Ec2Output<A>>> {
    const housekeepingOf = housekeeping[action]?.(input);
    const call = { ...callOf(action), ...(housekeepingOf !== undefined && { housekeepingOf }) };
    return this.#gate.write(call, context, (sending) => this.#api.send(action, input, sending));
  }
}

function callOf(action: Ec2Action): CloudCall {
  return { name: action, effect: effectOf(action), limits: [{ name: action }] };
}

function effectOf(action: Ec2Action): CallEffect {
  if (action.startsWith('Describe')) return 'reads';
  return takingAway.has(action) ? 'takesAway' : 'adds';
}

/** The error for an answer that lacks what it must contain. */
export function unreadable(action: Ec2Action, problem: string): CloudError {
  return new CloudError({
    kind: 'unreadable',
    action,
    code: 'UnreadableAnswer',
    message: problem,
    requestId: undefined,
  });
}

/** Each page is valid, but the listing never ends. Reading on costs calls, so it backs off like any other failure. */
function endless(action: Ec2Action): CloudError {
  const message = 'the same page token came twice';
  return new CloudError({ kind: 'unknown', action, code: 'EndlessPages', message, requestId: undefined });
}
