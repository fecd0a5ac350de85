// Public IP prefixes with the tags that nodes ask for, as what they still have to give: Azure chooses the address when one
// is taken. They are looked for in the resource groups of the nodes.
import type { CallContext, ObservedPublicAddresses } from '../contract/cloud.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { carries, type PublicAddress, type Tags } from '../contract/network-interface.ts';
import type { Clock } from '../../runtime/clock.ts';
import { list, text } from './arm-api.ts';
import { isObject, type Json, valueAt } from '../../runtime/json.ts';
import type { ArmClient } from './arm-client.ts';
import { groupKey, type InstanceRef, type Spellings } from './ids.ts';
import { publicIpPrefixes } from './requests.ts';

/** Azure's largest public IP prefix is a /24 (https://learn.microsoft.com/azure/virtual-network/ip-services/public-ip-address-prefix). */
const maxAddresses = 256;

type Group = Pick<InstanceRef, 'subscriptionId' | 'resourceGroup'>;

export class PublicIpPrefixes {
  readonly #client: ArmClient;
  readonly #spellings: Spellings;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #groups = new Map<string, Group>();

  constructor(client: ArmClient, spellings: Spellings, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client;
    this.#clock = clock;
    this.#spellings = spellings;
  }

  /** There is a node in the resource group of this instance. */
  note(instance: InstanceRef): void {
    const { subscriptionId, resourceGroup } = instance;
    this.#groups.set(groupKey(instance), { subscriptionId, resourceGroup });
  }

  /** Rejects with a CloudError if what could be read has none, and something could not be read. */
  async read(tags: Tags, context: CallContext): Promise<ObservedPublicAddresses> {
    const lists = await Promise.all([...this.#groups].map((group) => this.#readGroup(group, context)));
    const prefixes = lists.flatMap(({ items }) => items).filter((prefix) => carries(prefix.tags, tags));
    const error = lists.find((each) => each.error !== undefined)?.error;
    if (prefixes.length === 0 && error !== undefined) throw error;
    prefixes.sort((a, b) => (a.id < b.id ? -1 : 1));
    return {
      startedAt: Math.min(...lists.map(({ startedAt }) => startedAt), this.#clock.monotonic()),
      addresses: prefixes.flatMap(addressesOf),
    };
  }

  /** Anyone who writes a CiliumNode can name a group, so one that cannot be read keeps no others from being used. */
  async #readGroup([key, group]: readonly [string, Group], context: CallContext): Promise<ReadGroup> {
    const startedAt = this.#clock.monotonic();
    try {
      const convert = (item: Json): Prefix | undefined => readPrefix(item, this.#spellings);
      return await this.#client.readList(publicIpPrefixes(group), convert, context);
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      if (error.failure.code !== 'ResourceGroupNotFound') return { startedAt, items: [], error };
      // Noted again with the next read of a node in it.
      this.#groups.delete(key);
      return { startedAt, items: [] };
    }
  }
}

interface ReadGroup {
  readonly startedAt: number;
  readonly items: readonly Prefix[];
  readonly error?: CloudError;
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

/** The number of addresses in a prefix. A prefix that does not say its size counts as one larger than what is taken. */
function sizeOf(prefix: string | undefined, taken: number): number {
  const length = Number(/\/(\d{1,2})$/.exec(prefix ?? '')?.[1] ?? NaN);
  return length <= 32 ? Math.min(2 ** (32 - length), maxAddresses) : taken + 1;
}

function tagsOf(shown: Json): Tags {
  const tags = valueAt(shown, 'tags');
  const entries = isObject(tags) ? Object.entries(tags) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/**
 * An entry for each free address of a prefix. The lowest number goes first, because a later listing begins with the next
 * one.
 */
function addressesOf({ id, tags, size, taken }: Prefix): readonly PublicAddress[] {
  const shared = { address: '', source: id, tags, interfaceId: undefined };
  if (taken >= size) return [{ ...shared, id: `${id}#full`, taken: true }];
  return Array.from({ length: size - taken }, (_, index) => ({
    ...shared,
    id: `${id}#${taken + index}`,
    taken: false,
  }));
}
