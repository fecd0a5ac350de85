// Calls EC2 through the gate: what each action does and spends, and listings page by page.
import type { CallContext } from '../contract/cloud.ts';
import type { Outcome } from '../contract/operations.ts';
import { ActionClient } from '../gate/action-client.ts';
import type { CallGate, ReadResult, WriteResult } from '../gate/call-gate.ts';
import type { Sending } from '../gate/cloud-call.ts';
import type { DryRunAction, Ec2Action, Ec2Api, Ec2Input, Ec2Output, ListInput } from './ec2-api.ts';

/** A page may be as small as five items: --aws-max-results-per-call. So these are a million items. */
const maxEc2Pages = 200_000;

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

/** The SDK adds it to each output. */
function requestId(output: object): string | undefined {
  return (output as { readonly $metadata?: { readonly requestId?: string } }).$metadata?.requestId;
}

export type ReadAction = {
  [A in Ec2Action]: Ec2Input<A> extends ListInput
    ? A extends `${'Describe' | 'Get'}${string}`
      ? A
      : never
    : never;
}[Ec2Action];

export class Ec2Client extends ActionClient<Ec2Action> {
  readonly #api: Ec2Api;

  constructor(api: Ec2Api, gate: CallGate) {
    super(gate, takingAway);
    this.#api = api;
  }

  /** Reads page by page. Rejects with a CloudError. `startedAt` is when the page was requested, in monotonic ms. */
  pages<A extends ReadAction>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): AsyncGenerator<ReadResult<Ec2Output<A>>> {
    const read = (token: string | undefined): Promise<ReadResult<Ec2Output<A>>> => {
      const asked = token === undefined ? input : { ...input, NextToken: token };
      return this.gate.read(this.callOf(action), context, (sending) =>
        this.#api.send(action, asked, sending),
      );
    };
    return this.follow(action, read, (output) => (output as ListInput).NextToken, maxEc2Pages);
  }

  /** Asks whether a call would be permitted. Rejects with a CloudError, also if it would be; it resolves if the call was made. */
  async dryRun<A extends DryRunAction>(action: A, input: Ec2Input<A>, context: CallContext): Promise<void> {
    const asked = { ...input, DryRun: true };
    const call = { ...this.callOf(action), effect: 'reads' as const };
    await this.gate.read(call, context, (sending) => this.#api.send(action, asked, sending));
  }

  /** Sends a mutating call once. A housekeeping call whose denial is known is not sent: the denial is its answer. */
  write<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
    outcome?: (output: Ec2Output<A>) => Outcome,
  ): Promise<WriteResult<Ec2Output<A>>> {
    const housekeepingOf = housekeeping[action]?.(input);
    const call = { ...this.callOf(action), ...(housekeepingOf !== undefined && { housekeepingOf }) };
    const send = (sending: Sending): Promise<Ec2Output<A>> => this.#api.send(action, input, sending);
    return this.gate.write(call, context, send, { requestId, ...(outcome && { outcome }) });
  }
}
