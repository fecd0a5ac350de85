// Executes operations on EC2: one operation, one call.
import type { CallContext } from '../contract/cloud.ts';
import type {
  Answer,
  AllocateIPs,
  AssociateStaticIP,
  AllocateIpv6Prefix,
  AllocatePrefixes,
  AttachInterface,
  CreateInterface,
  DeleteInterface,
  DetachInterface,
  Operation,
  OperationKind,
  Outcome,
  ReleaseIPs,
  ReleasePrefixes,
  SetDeleteOnTermination,
} from '../contract/operations.ts';
import { intern } from '../../runtime/intern.ts';
import { parseAddress, parseBlock } from '../contract/ipv4.ts';
import { isIpv6Prefix } from '../contract/ipv6.ts';
import { repeated } from '../reading/plausible.ts';
import type { Ec2Action, Ec2Output } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';
import { isIdOf } from './ids.ts';
import { tryRead } from './network-interface.ts';

export const actionOf = {
  createInterface: 'CreateNetworkInterface',
  attachInterface: 'AttachNetworkInterface',
  allocateIPs: 'AssignPrivateIpAddresses',
  allocatePrefixes: 'AssignPrivateIpAddresses',
  allocateIpv6Prefix: 'AssignIpv6Addresses',
  releaseIPs: 'UnassignPrivateIpAddresses',
  releasePrefixes: 'UnassignPrivateIpAddresses',
  associateStaticIP: 'AssociateAddress',
  setDeleteOnTermination: 'ModifyNetworkInterfaceAttribute',
  detachInterface: 'DetachNetworkInterface',
  deleteInterface: 'DeleteNetworkInterface',
} as const satisfies Record<OperationKind, Ec2Action>;

const performers = {
  createInterface,
  attachInterface,
  allocateIPs: allocate,
  allocatePrefixes: allocate,
  allocateIpv6Prefix,
  releaseIPs: release,
  releasePrefixes: release,
  associateStaticIP,
  setDeleteOnTermination,
  detachInterface,
  deleteInterface,
} satisfies { [K in OperationKind]: (call: Call, operation: Operation & { kind: K }) => Promise<Outcome> };

export function perform(client: Ec2Client, operation: Operation, context: CallContext): Promise<Outcome> {
  // Each performer takes the kind of operation it is listed under, which is the kind looked up.
  const carryOut = performers[operation.kind] as (call: Call, operation: Operation) => Promise<Outcome>;
  return carryOut({ client, context }, operation);
}

interface Call {
  readonly client: Ec2Client;
  readonly context: CallContext;
}

function createInterface({ client, context }: Call, operation: CreateInterface): Promise<Outcome> {
  const tags = Object.entries(operation.tags).map(([Key, Value]) => ({ Key, Value }));
  const input = {
    SubnetId: operation.subnetId,
    Description: operation.description,
    Groups: operation.securityGroupIds,
    ClientToken: operation.token,
    ...(operation.addressCount > 0 && { SecondaryPrivateIpAddressCount: operation.addressCount }),
    ...(operation.prefixCount > 0 && { Ipv4PrefixCount: operation.prefixCount }),
    ...(operation.ipv6Prefix === true && { Ipv6PrefixCount: 1 }),
    ...(tags.length > 0 && {
      TagSpecifications: [{ ResourceType: 'network-interface' as const, Tags: tags }],
    }),
  };
  return client.change('CreateNetworkInterface', input, context, ({ NetworkInterface: shown }) => {
    const read = shown === undefined ? { problem: 'it holds no interface' } : tryRead(shown);
    if ('problem' in read) return read;
    if (read.interface.subnetId !== operation.subnetId) return { problem: 'it is in another subnet' };
    // We requested a plain interface, whatever type the answer shows.
    return { kind: 'created', interface: { ...read.interface, reservedFor: undefined } };
  });
}

function attachInterface({ client, context }: Call, operation: AttachInterface): Promise<Outcome> {
  const { interfaceId, instanceId, deviceIndex } = operation;
  const input = {
    NetworkInterfaceId: interfaceId,
    InstanceId: instanceId,
    DeviceIndex: deviceIndex,
    NetworkCardIndex: 0,
  };
  return client.change('AttachNetworkInterface', input, context, ({ AttachmentId: attachmentId }) => {
    if (!isIdOf('eni-attach', attachmentId)) return { problem: 'it names no attachment' };
    return { kind: 'attached', interfaceId, instanceId, deviceIndex, attachmentId };
  });
}

function allocate({ client, context }: Call, operation: AllocateIPs | AllocatePrefixes): Promise<Outcome> {
  const { kind, interfaceId, count } = operation;
  const input = {
    NetworkInterfaceId: interfaceId,
    ...(kind === 'allocateIPs' ? { SecondaryPrivateIpAddressCount: count } : { Ipv4PrefixCount: count }),
  };
  return client.change('AssignPrivateIpAddresses', input, context, (output) => {
    const given = readAssigned(operation, output);
    if (!('kind' in given)) return given;
    const what = kind === 'allocateIPs' ? 'addresses' : 'prefixes';
    return given[what].length === 0 ? { problem: `it names no ${what}` } : given;
  });
}

/** Some EC2 emulators return more than was requested. Everything named is on the interface. */
function readAssigned(
  { interfaceId, instanceId }: AllocateIPs | AllocatePrefixes,
  output: Ec2Output<'AssignPrivateIpAddresses'>,
): Extract<Answer, { kind: 'allocated' }> | { readonly problem: string } {
  const { NetworkInterfaceId: given = interfaceId } = output;
  if (given !== interfaceId) return { problem: `it is about ${given}` };
  const addresses = (output.AssignedPrivateIpAddresses ?? []).map((item) =>
    intern(item.PrivateIpAddress ?? ''),
  );
  const wrong = addresses.find((address) => parseAddress(address) === undefined);
  if (wrong !== undefined) return { problem: `${JSON.stringify(wrong)} is not an IPv4 address` };
  const prefixes = (output.AssignedIpv4Prefixes ?? []).map((item) => item.Ipv4Prefix ?? '');
  const broken = prefixes.find((prefix) => parseBlock(prefix)?.length !== 28);
  if (broken !== undefined) return { problem: `${JSON.stringify(broken)} is not an IPv4 /28 prefix` };
  const twice = repeated([...addresses, ...prefixes]);
  if (twice !== undefined) return { problem: `it names ${twice} twice` };
  return { kind: 'allocated', interfaceId, instanceId, addresses, prefixes };
}

function allocateIpv6Prefix({ client, context }: Call, operation: AllocateIpv6Prefix): Promise<Outcome> {
  const { interfaceId, instanceId } = operation;
  const input = { NetworkInterfaceId: interfaceId, Ipv6PrefixCount: 1 };
  return client.change('AssignIpv6Addresses', input, context, (output) => {
    const { NetworkInterfaceId: given = interfaceId } = output;
    if (given !== interfaceId) return { problem: `it is about ${given}` };
    const ipv6Prefixes = (output.AssignedIpv6Prefixes ?? []).map((text) => text ?? '');
    const broken = ipv6Prefixes.find((prefix) => !isIpv6Prefix(prefix));
    if (broken !== undefined) return { problem: `${JSON.stringify(broken)} is not an IPv6 /80 prefix` };
    if (ipv6Prefixes.length === 0) return { problem: 'it names no prefixes' };
    return { kind: 'allocated', interfaceId, instanceId, addresses: [], prefixes: [], ipv6Prefixes };
  });
}

function release({ client, context }: Call, operation: ReleaseIPs | ReleasePrefixes): Promise<Outcome> {
  const { interfaceId, instanceId } = operation;
  const holdings = operation.kind === 'releaseIPs' ? operation.addresses : operation.prefixes;
  const input = {
    NetworkInterfaceId: interfaceId,
    ...(operation.kind === 'releaseIPs' ? { PrivateIpAddresses: holdings } : { Ipv4Prefixes: holdings }),
  };
  const answer: Answer = { kind: 'released', interfaceId, instanceId, holdings };
  return client.change('UnassignPrivateIpAddresses', input, context, confirmed(answer));
}

function associateStaticIP({ client, context }: Call, operation: AssociateStaticIP): Promise<Outcome> {
  const { interfaceId, instanceId, addressId, publicAddress } = operation;
  const input = {
    AllocationId: addressId,
    NetworkInterfaceId: interfaceId,
    // EC2's default would move the address away from its current holder.
    AllowReassociation: false as const,
  };
  const answer: Answer = { kind: 'staticIPAssociated', interfaceId, instanceId, publicAddress };
  return client.change('AssociateAddress', input, context, ({ AssociationId: associationId }) =>
    associationId === undefined ? { problem: 'it names no association' } : answer,
  );
}

function detachInterface({ client, context }: Call, operation: DetachInterface): Promise<Outcome> {
  const { interfaceId, instanceId, attachmentId } = operation;
  const answer: Answer = { kind: 'detached', interfaceId, instanceId };
  return client.change('DetachNetworkInterface', { AttachmentId: attachmentId }, context, confirmed(answer));
}

function setDeleteOnTermination(
  { client, context }: Call,
  operation: SetDeleteOnTermination,
): Promise<Outcome> {
  const { interfaceId, instanceId, attachmentId } = operation;
  const input = {
    NetworkInterfaceId: interfaceId,
    Attachment: { AttachmentId: attachmentId, DeleteOnTermination: true },
  };
  const answer: Answer = { kind: 'deleteOnTerminationSet', interfaceId, instanceId };
  return client.change('ModifyNetworkInterfaceAttribute', input, context, confirmed(answer));
}

function deleteInterface({ client, context }: Call, operation: DeleteInterface): Promise<Outcome> {
  const { interfaceId } = operation;
  const answer: Answer = { kind: 'deleted', interfaceId };
  return client.change(
    'DeleteNetworkInterface',
    { NetworkInterfaceId: interfaceId },
    context,
    confirmed(answer),
  );
}

/** Reads an answer that confirms a change, or says that it was not made. */
function confirmed(
  answer: Answer,
): (output: { readonly Return?: boolean | undefined }) => Answer | { readonly problem: string } {
  return ({ Return }) => (Return === false ? { problem: 'it says that nothing was done' } : answer);
}
