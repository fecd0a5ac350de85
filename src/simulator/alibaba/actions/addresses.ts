// Assigns secondary addresses to network interfaces and unassigns them.
import { assign, unassign } from '../../cloud/assignments.ts';
import { type Claim, nothing } from '../../cloud/claims.ts';
import type { NetworkInterface } from '../../cloud/records.ts';
import { maxSecondaryAddresses } from '../ecs-instance-types.ts';
import { integer, requiredText, text, texts } from '../parameters.ts';
import { rpcAction } from '../rpc-action.ts';
import { conflictingParameters, missingParameter, RpcRefusal } from '../rpc-refusal.ts';
import { refuseUnless } from '../states.ts';

const assignAddresses = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    NetworkInterfaceId: requiredText,
    PrivateIpAddress: texts(maxSecondaryAddresses),
    SecondaryPrivateIpAddressCount: integer(1, maxSecondaryAddresses),
    ClientToken: { ...text, max: 64 },
  },
  run: (input, { network }) => {
    const wanted = addressesOf(input);
    const { addresses } = wanted;
    if (wanted.count + addresses.length === 0) throw missingParameter('SecondaryPrivateIpAddressCount');
    const record = network.find('interfaces', input.NetworkInterfaceId);
    refuseUnless(record, 'Available', 'InUse');
    const present = addresses.find((address) => record.addresses.includes(address));
    if (present !== undefined) {
      throw new RpcRefusal('InvalidIp.IpAssigned', `The specified IP ${present} has been assigned.`, 403);
    }
    refuseBeyondDetached(record, wanted.count + addresses.length);
    const assigned = assign(network, record.id, wanted, false);
    return {
      AssignedPrivateIpAddressesSet: {
        NetworkInterfaceId: record.id,
        PrivateIpSet: { PrivateIpAddress: assigned.addresses },
        Ipv4PrefixSet: { Ipv4Prefixes: [] },
      },
    };
  },
});

const unassignAddresses = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    NetworkInterfaceId: requiredText,
    PrivateIpAddress: { ...texts(maxSecondaryAddresses + 1), required: true },
  },
  run: (input, { network }) => {
    const record = network.find('interfaces', input.NetworkInterfaceId);
    refuseUnless(record, 'Available', 'InUse');
    unassign(network, record.id, { addresses: input.PrivateIpAddress, prefixes: [] });
    return {};
  },
});

/** Before an interface is attached, a limit of its own counts; then that of the instance type. */
function refuseBeyondDetached({ attachment, addresses }: NetworkInterface, more: number): void {
  if (attachment !== undefined || addresses.length - 1 + more <= maxSecondaryAddresses) return;
  throw new RpcRefusal(
    'SecondaryPrivateIpAddressesLimitExceeded',
    'The maximum number of secondary private IP addresses is exceeded.',
    403,
  );
}

/** The secondary addresses of a request: so many of any, or given ones. */
export function addressesOf(input: {
  readonly PrivateIpAddress: readonly string[];
  readonly SecondaryPrivateIpAddressCount: number | undefined;
}): Claim {
  const { SecondaryPrivateIpAddressCount: count = 0, PrivateIpAddress: addresses } = input;
  if (count === 0 || addresses.length === 0) return { ...nothing, count, addresses };
  throw conflictingParameters('PrivateIpAddress and SecondaryPrivateIpAddressCount exclude each other.');
}

export const addressActions = {
  AssignPrivateIpAddresses: assignAddresses,
  UnassignPrivateIpAddresses: unassignAddresses,
};
