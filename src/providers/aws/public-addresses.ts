// Reads Elastic IP addresses from EC2.
import type { CallContext, ObservedPublicAddresses } from '../contract/cloud.ts';
import { parseAddress } from '../contract/ipv4.ts';
import { carries, type Tags, type PublicAddress } from '../contract/network-interface.ts';
import type { Ec2Address } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';
import { readTags } from './network-interface.ts';
import { literalFiltersOf } from './read-list.ts';

/**
 * Maximum tags of a resource, and characters of a key and a value
 * (https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html).
 */
const maxTags = 50;
const maxKeyCharacters = 128;
const maxValueCharacters = 256;

/** Addresses that carry all of the tags. Skips addresses that cannot be parsed. */
export async function readPublicAddresses(
  client: Ec2Client,
  tags: Tags,
  context: CallContext,
): Promise<ObservedPublicAddresses> {
  // No resource can carry them, and EC2 rejects such a filter.
  if (!areTags(tags)) return { startedAt: 0, addresses: [] };
  const input = { Filters: literalFiltersOf(tags) };
  const { startedAt, items } = await client.list('DescribeAddresses', input, context);
  const addresses = items.flatMap((shown) => readAddress(shown) ?? []);
  const matching = addresses.filter((item) => carries(item.tags, tags));
  return { startedAt, addresses: matching.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

function areTags(tags: Tags): boolean {
  const entries = Object.entries(tags);
  const fits = ([key, value]: readonly [string, string]): boolean =>
    key !== '' && key.length <= maxKeyCharacters && value.length <= maxValueCharacters;
  return entries.length <= maxTags && entries.every(fits);
}

function readAddress(shown: Ec2Address): PublicAddress | undefined {
  const { AllocationId: id, PublicIp: address, AssociationId, NetworkInterfaceId, InstanceId } = shown;
  if (id === undefined || address === undefined || parseAddress(address) === undefined) return undefined;
  const taken = [AssociationId, NetworkInterfaceId, InstanceId].some((item) => (item ?? '') !== '');
  return {
    id,
    address,
    tags: readTags(shown.Tags),
    taken,
    interfaceId: NetworkInterfaceId === '' ? undefined : NetworkInterfaceId,
  };
}
