// Calls EC2 through the gate: what each action does, and where its answers have what is read of any.
import type { CallContext } from '../contract/cloud.ts';
import { ActionClient, type ActionRules } from '../gate/action-client.ts';
import type { CallGate } from '../gate/call-gate.ts';
import type {
  DryRunAction,
  Ec2Action,
  Ec2Api,
  Ec2Calls,
  Ec2Input,
  ListMember,
  ReadAction,
} from './ec2-api.ts';

const rules = {
  takingAway: new Set<Ec2Action>([
    'UnassignPrivateIpAddresses',
    'DetachNetworkInterface',
    'DeleteNetworkInterface',
  ]),
  housekeeping: {
    UnassignPrivateIpAddresses: 'NetworkInterfaceId',
    DetachNetworkInterface: 'AttachmentId',
    DeleteNetworkInterface: 'NetworkInterfaceId',
    ModifyNetworkInterfaceAttribute: 'NetworkInterfaceId',
    AssociateAddress: 'NetworkInterfaceId',
  },
  lists: {
    DescribeNetworkInterfaces: ['NetworkInterfaces'],
    DescribeAddresses: ['Addresses'],
    DescribeSubnets: ['Subnets'],
    DescribeVpcs: ['Vpcs'],
    DescribeRouteTables: ['RouteTables'],
    DescribeSecurityGroups: ['SecurityGroups'],
    DescribeInstanceTypes: ['InstanceTypes'],
    DescribeInstances: ['Reservations'],
    GetSubnetCidrReservations: ['SubnetIpv4CidrReservations'],
  } satisfies { readonly [A in ReadAction]: readonly [ListMember<A>] },
  token: 'NextToken',
  // The SDK adds it to each output.
  requestId: ['$metadata', 'requestId'],
  // A page may be as small as five items: --aws-max-results-per-call. So these are a million items.
  maxPages: 200_000,
} satisfies ActionRules<Ec2Action>;

export class Ec2Client extends ActionClient<Ec2Calls, ReadAction> {
  constructor(api: Ec2Api, gate: CallGate) {
    super(api, gate, rules);
  }

  /** Asks whether a call would be permitted. Rejects with a CloudError, also if it would be; it resolves if the call was made. */
  async dryRun<A extends DryRunAction>(action: A, input: Ec2Input<A>, context: CallContext): Promise<void> {
    const asked = { ...input, DryRun: true };
    const call = { ...this.callOf(action), effect: 'reads' as const };
    await this.gate.read(call, context, (sending) => this.api.send(action, asked, sending));
  }
}
