// Public IP prefixes with the tags that nodes ask for, as what they still have to give: Azure chooses the address when one
// is taken. They are looked for in the resource groups of the nodes.
import type { CallContext, ObservedPublicAddresses } from '../contract/allocation-implementation.ts';
import { carries, type PublicAddress, type Tags } from '../contract/network-interface.ts';
import { isObject, type Json, list, member, text } from './arm-api.ts';
import type { ArmClient } from './arm-client.ts';
import { groupKey, type InstanceRef } from './ids.ts';
import { publicIpPrefixes } from './requests.ts';
import type { Spellings } from './spellings.ts';

/** Azure's largest public IP prefix is a /24 (https://learn.microsoft.com/azure/virtual-network/ip-services/public-ip-address-prefix). */
const maxAddresses = 256;

export class PublicIpPrefixes {
  readonly #client: ArmClient;
  readonly #spellings: Spellings;
  readonly #groups = new Map<string, Pick<InstanceRef, 'subscriptionId' | 'resourceGroup'>>();

  constructor(client: ArmClient, spellings: Spellings) {
    this.#client = client;
    this.#spellings = spellings;
  }

  /** There is a node in the resource group of this instance. */
  note(instance: InstanceRef): void {
    const { subscriptionId, resourceGroup } = instance;
    this.#groups.set(groupKey(instance), { subscriptionId, resourceGroup });
  }

  /** Rejects with a CloudError. */
  async read(tags: Tags, context: CallContext): Promise<ObservedPublicAddresses> {
    const lists = await Promise.all(
      [...this.#groups.values()].map((group) =>
        this.#client.readList(publicIpPrefixes(group), (item) => readPrefix(item, this.#spellings), context),
      ),
    );
    const prefixes = lists.flatMap(({ items }) => items).filter((prefix) => carries(prefix.tags, tags));
    prefixes.sort((a, b) => (a.id < b.id ? -1 : 1));
    return {
      startedAt: Math.min(...lists.map(({ startedAt }) => startedAt)),
      addresses: prefixes.flatMap(addressesOf),
    };
  }
}

/** The prefix that an address of `read` is taken from. */
export function prefixOf(addressId: string): string {
  return addressId.slice(0, addressId.lastIndexOf('#'));
}

interface Prefix {
  readonly id: string;
  readonly tags: Tags;
  readonly size: number;
  /** How many of its addresses are taken. */
  readonly taken: number;
}

/** Undefined for what gives no IPv4 address now. */
function readPrefix(shown: Json, spellings: Spellings): Prefix | undefined {
  const id = text(shown, 'id');
  const isReady = text(shown, 'properties', 'provisioningState')?.toLowerCase() === 'succeeded';
  const isIpv6 = text(shown, 'properties', 'publicIPAddressVersion')?.toLowerCase() === 'ipv6';
  if (id === undefined || !isReady || isIpv6) return undefined;
  const taken = list(shown, 'properties', 'publicIPAddresses')?.length ?? 0;
  const size = sizeOf(text(shown, 'properties', 'ipPrefix'), taken);
  return { id: spellings.of(id), tags: tagsOf(shown), size, taken };
}

/** Of a prefix that does not say its size, one more may be had. */
function sizeOf(prefix: string | undefined, taken: number): number {
  const length = Number(/\/(\d{1,2})$/.exec(prefix ?? '')?.[1] ?? NaN);
  return length <= 32 ? Math.min(2 ** (32 - length), maxAddresses) : taken + 1;
}

function tagsOf(shown: Json): Tags {
  const tags = member(shown, 'tags');
  const entries = isObject(tags) ? Object.entries(tags) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** One for each that is left. The lowest number goes first: a listing after that begins with the next one. */
function addressesOf({ id, tags, size, taken }: Prefix): readonly PublicAddress[] {
  const shared = { address: '', tags, interfaceId: undefined };
  if (taken >= size) return [{ ...shared, id: `${id}#full`, taken: true }];
  return Array.from({ length: size - taken }, (_, index) => ({
    ...shared,
    id: `${id}#${taken + index}`,
    taken: false,
  }));
}
