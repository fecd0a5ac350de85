// Reads of a CiliumNode what matters for pools: what its agent asks for, and which blocks it lists. Anyone who may write one may
// write anything into it, so every field is bounded.
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  memberOf,
  textAt,
  valueAt,
} from '../../runtime/json.ts';
import type { AllocatedPool, RequestedPool } from './cilium-node.ts';

export interface CiliumNodePools {
  /** `spec.ipam.pools.requested`: in order, each pool once. Requests for no address are left out. */
  readonly requested: readonly RequestedPool[];
  /** `spec.ipam.pools.allocated`: in order; CIDRs are any text. */
  readonly allocated: readonly AllocatedPool[];
  /** The same list as it stands there, for a patch that only adds to it. */
  readonly rawAllocated: readonly Json[];
  /** Why something of `requested` is not read; undefined if all is. */
  readonly requestProblem: string | undefined;
  /** The same for `allocated`. */
  readonly problem: string | undefined;
}

/** How many CIDRs of a node are read: it gets no more. */
export const maxCidrsRead = 1024;
/** Entries, CIDRs of all entries, and characters of a text. */
const maxBlocksRead = { pools: 64, cidrs: maxCidrsRead, characters: 253 };

/** The most addresses that a node can ask of one pool: no machine runs as many pods. */
export const maxAddressesAsked = 65_536;

const place = 'spec.ipam.pools';

export function readCiliumNodePools(raw: JsonObject): CiliumNodePools {
  const [requested, allocated] = [listOf(raw, 'requested'), listOf(raw, 'allocated')];
  const [wanted, listed] = [requestsOf(requested.list), allocationsOf(allocated.list)];
  return {
    requested: wanted.requests,
    allocated: listed.pools,
    rawAllocated: allocated.list,
    requestProblem: requested.problem ?? wanted.problem,
    problem: allocated.problem ?? listed.problem,
  };
}

interface RawList {
  readonly list: readonly Json[];
  readonly problem: string | undefined;
}

function listOf(raw: JsonObject, list: string): RawList {
  const found = valueAt(raw, 'spec', 'ipam', 'pools', list) ?? [];
  if (!isList(found)) return { list: [], problem: `${place}.${list} is not a list` };
  const problem =
    found.length > maxBlocksRead.pools
      ? `${place}.${list} has more than ${maxBlocksRead.pools} entries`
      : undefined;
  return { list: found, problem };
}

function poolNameOf(entry: Json): string | undefined {
  const name = textAt(entry, 'pool') ?? '';
  return name === '' || name.length > maxBlocksRead.characters ? undefined : name;
}

function requestsOf(list: readonly Json[]): {
  readonly requests: readonly RequestedPool[];
  readonly problem: string | undefined;
} {
  const byPool = new Map<string, RequestedPool>();
  let problem: string | undefined;
  for (const entry of list.slice(0, maxBlocksRead.pools)) {
    const pool = poolNameOf(entry);
    const [ipv4, ipv6] = ['ipv4-addrs', 'ipv6-addrs'].map((family) => countOf(entry, family));
    if (pool === undefined || ipv4 === undefined || ipv6 === undefined) {
      problem ??= requestProblem(pool);
      continue;
    }
    const known = byPool.get(pool) ?? { pool, ipv4: 0, ipv6: 0 };
    if (ipv4 + ipv6 > 0)
      byPool.set(pool, { pool, ipv4: Math.max(known.ipv4, ipv4), ipv6: Math.max(known.ipv6, ipv6) });
  }
  return { requests: [...byPool.values()], problem };
}

function requestProblem(pool: string | undefined): string {
  if (pool === undefined) return `${place}.requested has an entry without the name of a pool`;
  return `${place}.requested asks pool ${JSON.stringify(pool)} for what is no number of addresses up to ${maxAddressesAsked}`;
}

function countOf(entry: Json, family: string): number | undefined {
  const count = memberOf(memberOf(entry, 'needed'), family) ?? 0;
  const isCount = typeof count === 'number' && Number.isInteger(count) && count <= maxAddressesAsked;
  return isCount ? Math.max(0, count) : undefined;
}

function allocationsOf(list: readonly Json[]): {
  readonly pools: readonly AllocatedPool[];
  readonly problem: string | undefined;
} {
  const pools: AllocatedPool[] = [];
  let problem: string | undefined;
  let left = maxBlocksRead.cidrs;
  for (const entry of list.slice(0, maxBlocksRead.pools)) {
    const pool = poolNameOf(entry);
    const found = isObject(entry) ? (entry['cidrs'] ?? []) : undefined;
    if (pool === undefined || !isList(found)) {
      problem ??= `${place}.allocated has an entry without the name of a pool or its CIDRs`;
      continue;
    }
    const cidrs = found
      .flatMap((text) => (typeof text === 'string' ? [text.slice(0, 80)] : []))
      .slice(0, left);
    if (cidrs.length < found.length)
      problem ??= `${place}.allocated has more than ${maxBlocksRead.cidrs} CIDRs, or what is no text`;
    left -= cidrs.length;
    pools.push({ pool, cidrs, ...endsOf(entry) });
  }
  return { pools, problem };
}

function endsOf(entry: Json): Pick<AllocatedPool, 'allowFirstIp' | 'allowLastIp'> {
  return {
    ...(memberOf(entry, 'allowFirstIP') === true && { allowFirstIp: true }),
    ...(memberOf(entry, 'allowLastIP') === true && { allowLastIp: true }),
  };
}
