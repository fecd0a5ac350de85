// CiliumNodes as objects that hold blocks of pools: `spec.ipam.pools`, of which agents write what they ask for and give back,
// and we only what they get.
import type { AllocatedPool, RequestedPool } from '../../kubernetes/cilium-node/cilium-node.ts';
import { readCiliumNodePools } from '../../kubernetes/cilium-node/cilium-node-pools.ts';
import { allocatorWroteAt } from '../../kubernetes/field-managers.ts';
import { isObject, type Json, type JsonObject, listAt, textAt } from '../../runtime/json.ts';
import { type CiliumNodeHolder, ciliumNodeHolder } from '../cluster-pool/cilium-node-holders.ts';
import { type Cidr, cidrOf, cidrText, isSame, overlaps } from '../set/cidr.ts';
import type { ListedBlock } from './pool-book.ts';

export interface PoolNodeHolder extends CiliumNodeHolder {
  /** Blocks that cluster-pool gave it, as long as it shows them. */
  readonly podCidrs: readonly string[];
  readonly requested: readonly RequestedPool[];
  /** Why some requests are not read; the others count. */
  readonly requestProblem: string | undefined;
  readonly allocated: readonly AllocatedPool[];
  /** The list as it stands in the object. */
  readonly rawAllocated: readonly Json[];
  /** All that is asked for and listed, as one text. */
  readonly digest: string;
}

export function poolNodeHolder(raw: JsonObject): PoolNodeHolder {
  const { problem: _, ...holder } = ciliumNodeHolder(raw);
  const { problem, ...pools } = readCiliumNodePools(raw);
  return {
    ...holder,
    podCidrs: holder.blocks,
    blocks: pools.allocated.flatMap(({ cidrs }) => cidrs),
    allocatorWroteAt: allocatorWroteAt(raw, 'spec', 'ipam', 'pools', 'allocated'),
    ...(problem !== undefined && { problem }),
    ...pools,
    digest: JSON.stringify([pools.requested, pools.allocated, holder.blocks]),
  };
}

/** The patch of `spec`. */
export function allocatedPatch(allocated: readonly Json[]): JsonObject {
  return { ipam: { pools: { allocated } } };
}

/** The blocks that an object lists, each once. Text that is no CIDR is none: agents skip it, too. */
export function listedBlocks({ allocated }: Pick<PoolNodeHolder, 'allocated'>): readonly ListedBlock[] {
  const blocks: ListedBlock[] = [];
  for (const { pool, cidrs } of allocated)
    for (const text of cidrs) {
      const cidr = cidrOf(text);
      if (cidr !== undefined && !blocks.some((block) => isSame(block.cidr, cidr)))
        blocks.push({ pool, cidr });
    }
  return blocks;
}

export interface RepeatedBlock extends ListedBlock {
  readonly within: ListedBlock;
}

/** A listed block of which another one has the same addresses, if agents would give them out twice. */
export function repeatedBlock({ allocated }: Pick<PoolNodeHolder, 'allocated'>): RepeatedBlock | undefined {
  const all = allocated.flatMap(({ pool, cidrs }) =>
    cidrs.flatMap((text) => cidrOf(text) ?? []).map((cidr) => ({ pool, cidr })),
  );
  return withinOthers(all).find(
    ({ pool, cidr, within }) => !(pool === within.pool && isSame(cidr, within.cidr)),
  );
}

/** Blocks that no other one contains. */
export function outermost(blocks: readonly ListedBlock[]): readonly ListedBlock[] {
  const inner = new Set(withinOthers(blocks).map(({ cidr }) => cidr));
  return blocks.filter(({ cidr }) => !inner.has(cidr));
}

/** Blocks within others: two CIDRs have no address in common, or one contains the other. */
function withinOthers(blocks: readonly ListedBlock[]): readonly RepeatedBlock[] {
  const repeated: RepeatedBlock[] = [];
  let outer: ListedBlock | undefined;
  for (const block of blocks.toSorted((a, b) => byAddress(a.cidr, b.cidr)))
    if (outer !== undefined && overlaps(outer.cidr, block.cidr)) repeated.push({ ...block, within: outer });
    else outer = block;
  return repeated;
}

/** The outer one of two that begin alike goes first. */
function byAddress(a: Cidr, b: Cidr): number {
  if (a.family !== b.family) return a.family === 'ipv4' ? -1 : 1;
  if (a.base !== b.base) return a.base < b.base ? -1 : 1;
  return a.length - b.length;
}

/**
 * The list with these blocks added: sorted as agents sort it, and with everything that it had. `endsOf`: what an entry says of the
 * first and last addresses of its blocks.
 */
export function withBlocks(
  raw: readonly Json[],
  added: readonly ListedBlock[],
  endsOf: (pool: string) => JsonObject,
): readonly Json[] {
  const entries = new Map<string, JsonObject>();
  const unread: Json[] = [];
  for (const entry of raw) {
    const pool = textAt(entry, 'pool') ?? '';
    if (!isObject(entry) || pool === '' || entries.has(pool)) unread.push(entry);
    else entries.set(pool, entry);
  }
  for (const pool of new Set(added.map((each) => each.pool))) {
    const entry = entries.get(pool) ?? { pool };
    const texts = added.filter((each) => each.pool === pool).map(({ cidr }) => cidrText(cidr));
    const cidrs = [...listAt(entry, 'cidrs'), ...texts].toSorted(byPlace);
    entries.set(pool, { ...entry, ...endsOf(pool), cidrs });
  }
  const sorted = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  return [...sorted, ...unread];
}

/** IPv4 goes before IPv6, low addresses before high ones; what is no CIDR keeps its place at the end. */
function byPlace(a: Json, b: Json): number {
  const [first, second] = [readOf(a), readOf(b)];
  if (first === undefined || second === undefined)
    return Number(first === undefined) - Number(second === undefined);
  return byAddress(first, second);
}

function readOf(text: Json): Cidr | undefined {
  return typeof text === 'string' ? cidrOf(text) : undefined;
}
