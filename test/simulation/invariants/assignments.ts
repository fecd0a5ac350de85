// The pod addresses that the cloud assigned to each instance, past and present. Primary addresses count only on a cloud
// whose pods use them, and there those of the primary interface do not count at all. An address that an instance lost and
// that returns as the primary address of a new interface stays lost to its pod.
import { formatIpv4, parseIpv4 } from '../../../src/simulator/cloud/ipv4.ts';
import { formatIpv6Block, parseIpv6Block } from '../../../src/simulator/cloud/ipv6.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';

/** Until when an instance had something, in ms; Infinity while it has it. */
type Until = number;

export class Assignments {
  readonly #now: () => number;
  readonly #usesPrimaries: boolean;
  /** By instance, by address or prefix. */
  readonly #until = new Map<string, Map<string, Until>>();
  /** By detached interface: what it gets later counts as held until then. */
  readonly #former = new Map<string, { readonly instanceId: string; readonly until: Until }>();

  constructor(now: () => number, usesPrimaries = false) {
    this.#now = now;
    this.#usesPrimaries = usesPrimaries;
  }

  /** Applies a change of an interface. */
  change(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    if (before !== undefined && after !== undefined && holdsTheSame(before, after)) return;
    if (before?.instanceId !== undefined) this.#leave(before, before.instanceId);
    if (after === undefined) return;
    const former = this.#former.get(after.id);
    if (after.instanceId !== undefined) this.#set(after.instanceId, after, Infinity);
    else if (former !== undefined) this.#set(former.instanceId, after, former.until);
  }

  #leave(item: NetworkInterface, instanceId: string): void {
    const until = this.#now();
    this.#set(instanceId, item, until);
    this.#former.set(item.id, { instanceId, until });
  }

  /** Whether the instance has the address for its pods. */
  has(instanceId: string, address: string): boolean {
    return this.lastHad(instanceId, address) === Infinity;
  }

  /** Until when the instance had the address, in ms; Infinity while it does, -Infinity if it never did. */
  lastHad(instanceId: string, address: string): number {
    const own = this.#until.get(instanceId);
    if (own === undefined) return -Infinity;
    return Math.max(own.get(address) ?? -Infinity, own.get(prefixOf(address)) ?? -Infinity);
  }

  /** Until when the instance had the prefix that contains the address; -Infinity if it never did. */
  lastInPrefix(instanceId: string, address: string): number {
    return this.#until.get(instanceId)?.get(prefixOf(address)) ?? -Infinity;
  }

  #set(instanceId: string, item: NetworkInterface, until: Until): void {
    let own = this.#until.get(instanceId);
    if (own === undefined) {
      own = new Map();
      this.#until.set(instanceId, own);
    }
    for (const address of singleAddressesOf(item, this.#usesPrimaries)) own.set(address, until);
    for (const prefix of [...item.prefixes, ...item.ipv6Prefixes]) own.set(prefix, until);
  }
}

/** The addresses of an interface that pods may use, besides those in its prefixes. */
export function singleAddressesOf(
  { addresses, primaryAddress, deviceIndex }: NetworkInterface,
  usesPrimaries: boolean,
): readonly string[] {
  if (!usesPrimaries) return addresses.filter((address) => address !== primaryAddress);
  return deviceIndex === 0 ? [] : addresses;
}

function holdsTheSame(a: NetworkInterface, b: NetworkInterface): boolean {
  return (
    a.instanceId === b.instanceId &&
    a.addresses === b.addresses &&
    a.prefixes === b.prefixes &&
    a.ipv6Prefixes === b.ipv6Prefixes
  );
}

/** The /28 that contains an address, or the /80 of IPv6. */
export function prefixOf(address: string): string {
  const ipv6 = address.includes(':') ? parseIpv6Block(`${address.split('/')[0]}/80`) : undefined;
  if (ipv6 !== undefined) return formatIpv6Block(ipv6);
  const number = parseIpv4(address) ?? 0;
  return `${formatIpv4(number - (number % 16))}/28`;
}

/** The addresses of a /28. */
export function membersOf(prefix: string): readonly string[] {
  const first = parseIpv4(prefix.replace(/\/28$/, '')) ?? 0;
  return Array.from({ length: 16 }, (_, index) => formatIpv4(first + index));
}

/** The addresses of these, each an address or a /28. */
export function addressesOf(holdings: readonly string[]): readonly string[] {
  return holdings.flatMap((holding) => (holding.includes('/') ? membersOf(holding) : [holding]));
}

/** Whether the CIDRs, each a /32, a /28 or a /80, cover the address. */
export function covers(cidrs: ReadonlySet<string>, address: string): boolean {
  return cidrs.has(`${address}/32`) || cidrs.has(prefixOf(address));
}

/** Describes a time of `lastHad`. */
export function heldText(until: Until): string {
  return until === -Infinity ? 'never had' : `had until ${(until / 1000).toFixed(1)} s`;
}
