// Finds addresses in use that a CiliumNode no longer shows to its agent. After a restart the agent could not
// assign them, or would take them from their pods.
import { contains, type Ipv4Block, parseIpv4, parseIpv4Block } from '../cloud/ipv4.ts';
import { agentCloudOf } from '../workload/clouds/known-clouds.ts';
import { type JsonObject, listAt, objectAt, textAt, textsAt } from '../workload/json.ts';
import type { CloudName, Protocol } from '../workload/node-facts.ts';

export interface AddressesInUse {
  readonly protocol: Protocol;
  /** AWS by default. */
  readonly cloud?: CloudName | undefined;
  /** User by address, as the agent remembers it. */
  readonly remembered: ReadonlyMap<string, string>;
}

/**
 * Users by hidden address. A CRD agent finds its addresses in the pool and never agrees to release one in
 * use. A multi-pool agent finds them on the interfaces. If it reported a block as dropped, it gave up the
 * addresses in it.
 */
export function hiddenAddresses(node: JsonObject, use: AddressesInUse): ReadonlyMap<string, string> {
  return use.protocol === 'crd-allocator' ? notInPool(node, use) : notOnInterfaces(node, use);
}

function notInPool(node: JsonObject, { remembered }: AddressesInUse): ReadonlyMap<string, string> {
  const pool = objectAt(node, 'spec', 'ipam', 'pool');
  const used = Object.entries(objectAt(node, 'status', 'ipam', 'used')).map(
    ([address, entry]) => [address, textAt(entry, 'owner')] as const,
  );
  return new Map([...used, ...remembered].filter(([address]) => !Object.hasOwn(pool, address)));
}

function notOnInterfaces(node: JsonObject, use: AddressesInUse): ReadonlyMap<string, string> {
  const { remembered, protocol } = use;
  const kept = listAt(node, 'spec', 'ipam', 'pools', 'allocated').flatMap((pool) => textsAt(pool, 'cidrs'));
  const shown = agentCloudOf(use)
    .interfacesOf(node, protocol)
    .flatMap(({ addresses, prefixes }) => [...addresses.map((address) => `${address}/32`), ...prefixes]);
  const [keptBlocks, shownBlocks] = [blocksOf(kept), blocksOf(shown)];
  return new Map(
    [...remembered].filter(([address]) => isIn(keptBlocks, address) && !isIn(shownBlocks, address)),
  );
}

function blocksOf(texts: readonly string[]): Ipv4Block[] {
  return texts.flatMap((text) => parseIpv4Block(text) ?? []);
}

function isIn(blocks: readonly Ipv4Block[], text: string): boolean {
  const address = parseIpv4(text);
  return address !== undefined && blocks.some((block) => contains(block, address));
}
