// Carries operations out on EC2: one operation, one call.
import type { CallContext } from '../allocation-implementation.ts';
import { oneCopy } from '../../memory/one-copy.ts';
import { parseAddress, parseBlock } from '../ipv4.ts';
import type { Answer } from '../observation.ts';
import type {
  AllocateIPs,
  AssociateStaticIP,
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
} from '../operation.ts';
import type { Ec2Action, Ec2Input, Ec2Output } from './ec2-api.ts';
import { type Ec2Edge, unreadable } from './ec2-edge.ts';
import { tryRead } from './network-interface.ts';

export const actionOf = {
  createInterface: 'CreateNetworkInterface',
  attachInterface: 'AttachNetworkInterface',
  allocateIPs: 'AssignPrivateIpAddresses',
  allocatePrefixes: 'AssignPrivateIpAddresses',
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
  releaseIPs: release,
  releasePrefixes: release,
  associateStaticIP,
  setDeleteOnTermination,
  detachInterface,
  deleteInterface,
} satisfies { [K in OperationKind]: (call: Call, operation: Operation & { kind: K }) => Promise<Outcome> };

export function perform(edge: Ec2Edge, operation: Operation, context: CallContext): Promise<Outcome> {
  // Each takes operations of the kind under which it stands, which is the one that is looked up.
  const carryOut = performers[operation.kind] as (call: Call, operation: Operation) => Promise<Outcome>;
  return carryOut({ edge, context }, operation);
}

interface Call {
  readonly edge: Ec2Edge;
  readonly context: CallContext;
}

function createInterface(call: Call, operation: CreateInterface): Promise<Outcome> {
  const tags = Object.entries(operation.tags).map(([Key, Value]) => ({ Key, Value }));
  const input = {
    SubnetId: operation.subnetId,
    Description: operation.description,
    Groups: operation.securityGroupIds,
    ClientToken: operation.token,
    ...(operation.addressCount > 0 && { SecondaryPrivateIpAddressCount: operation.addressCount }),
    ...(operation.prefixCount > 0 && { Ipv4PrefixCount: operation.prefixCount }),
    ...(tags.length > 0 && {
      TagSpecifications: [{ ResourceType: 'network-interface' as const, Tags: tags }],
    }),
  };
  return write(call, 'CreateNetworkInterface', input, ({ NetworkInterface: shown }) => {
    const read = shown === undefined ? { problem: 'it holds no interface' } : tryRead(shown);
    if ('problem' in read) return read;
    // We asked for a plain one, whatever the answer calls it.
    return { kind: 'created', interface: { ...read.interface, reservedFor: undefined } };
  });
}

function attachInterface(call: Call, operation: AttachInterface): Promise<Outcome> {
  const { interfaceId, instanceId, deviceIndex } = operation;
  const input = {
    NetworkInterfaceId: interfaceId,
    InstanceId: instanceId,
    DeviceIndex: deviceIndex,
    NetworkCardIndex: 0,
  };
  return write(call, 'AttachNetworkInterface', input, ({ AttachmentId: attachmentId }) => {
    if (attachmentId === undefined) return { problem: 'it names no attachment' };
    return { kind: 'attached', interfaceId, instanceId, deviceIndex, attachmentId };
  });
}

function allocate(call: Call, operation: AllocateIPs | AllocatePrefixes): Promise<Outcome> {
  const { kind, interfaceId, count } = operation;
  const input = {
    NetworkInterfaceId: interfaceId,
    ...(kind === 'allocateIPs' ? { SecondaryPrivateIpAddressCount: count } : { Ipv4PrefixCount: count }),
  };
  return write(call, 'AssignPrivateIpAddresses', input, (output) => {
    const given = readAssigned(operation, output);
    if (!('kind' in given)) return given;
    const what = kind === 'allocateIPs' ? 'addresses' : 'prefixes';
    return given[what].length === 0 ? { problem: `it names no ${what}` } : given;
  });
}

/** Some EC2 look-alikes answer with more than was asked for: whatever is named is on the interface. */
function readAssigned(
  { interfaceId, instanceId }: AllocateIPs | AllocatePrefixes,
  output: Ec2Output<'AssignPrivateIpAddresses'>,
): Extract<Answer, { kind: 'allocated' }> | { readonly problem: string } {
  const addresses = (output.AssignedPrivateIpAddresses ?? []).map((item) =>
    oneCopy(item.PrivateIpAddress ?? ''),
  );
  const wrong = addresses.find((address) => parseAddress(address) === undefined);
  if (wrong !== undefined) return { problem: `${JSON.stringify(wrong)} is not an IPv4 address` };
  const prefixes = (output.AssignedIpv4Prefixes ?? []).map((item) => item.Ipv4Prefix ?? '');
  const broken = prefixes.find((prefix) => parseBlock(prefix)?.length !== 28);
  if (broken !== undefined) return { problem: `${JSON.stringify(broken)} is not an IPv4 /28 prefix` };
  return { kind: 'allocated', interfaceId, instanceId, addresses, prefixes };
}

function release(call: Call, operation: ReleaseIPs | ReleasePrefixes): Promise<Outcome> {
  const { interfaceId, instanceId } = operation;
  const holdings = operation.kind === 'releaseIPs' ? operation.addresses : operation.prefixes;
  const input = {
    NetworkInterfaceId: interfaceId,
    ...(operation.kind === 'releaseIPs' ? { PrivateIpAddresses: holdings } : { Ipv4Prefixes: holdings }),
  };
  const answer: Answer = { kind: 'released', interfaceId, instanceId, holdings };
  return write(call, 'UnassignPrivateIpAddresses', input, () => answer);
}

function associateStaticIP(call: Call, operation: AssociateStaticIP): Promise<Outcome> {
  const { interfaceId, instanceId, addressId, publicAddress } = operation;
  const input = {
    AllocationId: addressId,
    NetworkInterfaceId: interfaceId,
    // EC2's own default would take it from whatever has it.
    AllowReassociation: false as const,
  };
  const answer: Answer = { kind: 'staticIPAssociated', interfaceId, instanceId, publicAddress };
  return write(call, 'AssociateAddress', input, ({ AssociationId: associationId }) =>
    associationId === undefined ? { problem: 'it names no association' } : answer,
  );
}

function detachInterface(call: Call, operation: DetachInterface): Promise<Outcome> {
  const { interfaceId, instanceId, attachmentId } = operation;
  const answer: Answer = { kind: 'detached', interfaceId, instanceId };
  return write(call, 'DetachNetworkInterface', { AttachmentId: attachmentId }, () => answer);
}

function setDeleteOnTermination(call: Call, operation: SetDeleteOnTermination): Promise<Outcome> {
  const { interfaceId, instanceId, attachmentId } = operation;
  const input = {
    NetworkInterfaceId: interfaceId,
    Attachment: { AttachmentId: attachmentId, DeleteOnTermination: true },
  };
  const answer: Answer = { kind: 'deleteOnTerminationSet', interfaceId, instanceId };
  return write(call, 'ModifyNetworkInterfaceAttribute', input, () => answer);
}

function deleteInterface(call: Call, operation: DeleteInterface): Promise<Outcome> {
  const { interfaceId } = operation;
  const answer: Answer = { kind: 'deleted', interfaceId };
  return write(call, 'DeleteNetworkInterface', { NetworkInterfaceId: interfaceId }, () => answer);
}

/** An answer that says "done" and cannot be read leaves open what was done. */
async function write<A extends Ec2Action>(
  call: Call,
  action: A,
  input: Ec2Input<A>,
  read: (output: Ec2Output<A>) => Answer | { readonly problem: string },
): Promise<Outcome> {
  const result = await call.edge.write(action, input, call.context);
  if (result.kind !== 'answered') return result;
  const answer = read(result.output);
  if ('kind' in answer) return { kind: 'done', answer };
  return {
    kind: 'ambiguous',
    failure: unreadable(action, `cannot understand the answer: ${answer.problem}`).failure,
  };
}
