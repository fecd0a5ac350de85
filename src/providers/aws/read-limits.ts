// Reads from EC2 how many interfaces and addresses instance types can hold.
import type { CallContext } from '../contract/cloud.ts';
import type { InstanceLimits, UnreadableLimits } from '../contract/facts.ts';
import { unreadable } from '../contract/cloud-failure.ts';
import { allInParts } from '../reading/in-parts.ts';
import type { Ec2InstanceType } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';
import { isInstanceType } from './ids.ts';
import { isAddressLimit, isInterfaceLimit, refuseRepeated, refuseUnrequested } from '../reading/plausible.ts';
import { maxFilterValues } from './read-list.ts';

/** The largest page of DescribeInstanceTypes. */
const maxInstanceTypes = 100;

export async function readLimits(
  client: Ec2Client,
  instanceTypes: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, InstanceLimits | UnreadableLimits>> {
  // Uses a filter: EC2 rejects a whole list of names if one is unknown.
  const parts = await allInParts(instanceTypes.filter(isInstanceType), maxFilterValues, async (part) => {
    const input = { Filters: [{ Name: 'instance-type', Values: part }], MaxResults: maxInstanceTypes };
    const { items } = await client.list('DescribeInstanceTypes', input, context);
    refuseRepeated('DescribeInstanceTypes', items, typeOf);
    refuseUnrequested('DescribeInstanceTypes', part, items, typeOf);
    return items;
  });
  return new Map(
    parts.flat().map((shown) => {
      const type = typeOf(shown);
      if (type === undefined) throw unreadable('DescribeInstanceTypes', 'InstanceType is missing');
      return [type, limitsOf(shown)] as const;
    }),
  );
}

function typeOf({ InstanceType: type }: Ec2InstanceType): string | undefined {
  return type;
}

function limitsOf({
  NetworkInfo: network,
  Hypervisor,
  BareMetal,
}: Ec2InstanceType): InstanceLimits | UnreadableLimits {
  const card = network?.NetworkCards?.find(
    (item) => (item.NetworkCardIndex ?? 0) === (network.DefaultNetworkCardIndex ?? 0),
  );
  const interfaces = card?.MaximumNetworkInterfaces ?? network?.MaximumNetworkInterfaces;
  const addressesPerInterface = network?.Ipv4AddressesPerInterface;
  if (!isInterfaceLimit(interfaces)) return { problem: `MaximumNetworkInterfaces is ${String(interfaces)}` };
  if (!isAddressLimit(addressesPerInterface))
    return { problem: `Ipv4AddressesPerInterface is ${String(addressesPerInterface)}` };
  // Only Nitro instances support prefixes. Bare metal names no hypervisor
  // (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-prefix-eni.html).
  const prefixes = Hypervisor === 'nitro' || BareMetal === true;
  return { interfaces, addressesPerInterface, prefixes, ...ipv6LimitOf(network, prefixes) };
}

/** The limit of IPv6 addresses. A value that cannot be understood says nothing about IPv4. */
function ipv6LimitOf(
  network: Ec2InstanceType['NetworkInfo'],
  hasPrefixes: boolean,
): Pick<InstanceLimits, 'ipv6PerInterface'> {
  const { Ipv6Supported: isSupported = true, Ipv6AddressesPerInterface: ipv6PerInterface } = network ?? {};
  return hasPrefixes && isSupported && isAddressLimit(ipv6PerInterface) ? { ipv6PerInterface } : {};
}
