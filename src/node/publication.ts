// What to write to a node's CiliumNode next, as a pure function of what it holds and what it should hold. The order is
// what keeps agents safe: an address leaves the pool before its interface leaves the status, and enters the pool after.
import type { CiliumNode, ReleaseState } from '../kubernetes/cilium-node.ts';
import { isObject, type Json, type JsonObject, memberOf } from '../kubernetes/json.ts';
import { mergePatch } from '../kubernetes/merge-patch.ts';
import { sameOnTheWire } from '../kubernetes/wire-form.ts';

export interface Desired {
  /** Undefined while nothing is known that could be offered, or that is not offered yet: what is published stays. */
  readonly offer: Offer | undefined;
  /** What `status.ipam.release-ips` should hold, by address; undefined while that is not known. */
  readonly handshake: ReadonlyMap<string, ReleaseState> | undefined;
  /** Why the node does not get what it needs; empty when it does. */
  readonly operatorError: string;
}

export interface Offer {
  /** The cloud's part of the status: its key, and all that belongs there. */
  readonly provider: { readonly key: string; readonly value: Json };
  /** Ids of the interfaces that are in it. */
  readonly interfaces: ReadonlySet<string>;
  /** Interface by address. */
  readonly pool: ReadonlyMap<string, string>;
  /** Public address of the primary interface, empty where it has none; undefined to leave what is published. */
  readonly staticIp: string | undefined;
  /** Written where the node has none. */
  readonly preAllocate: number;
}

export interface Write {
  readonly part: 'status' | 'spec';
  /** Merge patch of that part. */
  readonly patch: JsonObject;
}

/** The first write that brings the object nearer to what is desired; undefined when nothing is left to do. */
export function nextWrite(node: CiliumNode, desired: Desired): Write | undefined {
  const { offer } = desired;
  return (offer && strike(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));
}

/** Every write that the object lacks, in their order. */
export function lackingWrites(node: CiliumNode, desired: Desired): readonly Write[] {
  const { offer } = desired;
  const writes = [offer && strike(node, offer), writeStatus(node, desired), offer && grow(node, offer)];
  return writes.filter((write) => write !== undefined);
}

/** One that moved to another interface stays, unless its former one is about to leave the status. */
function strike(node: CiliumNode, { pool, interfaces }: Offer): Write | undefined {
  const isLeft = (address: string): boolean => {
    const id = node.ipam.pool.get(address)?.resource;
    return id !== undefined && id !== pool.get(address) && !interfaces.has(id);
  };
  const gone = node.base.pooled().filter((address) => !pool.has(address) || isLeft(address));
  if (gone.length === 0) return undefined;
  return specPatch({ pool: Object.fromEntries(gone.map((address) => [address, null])) });
}

function writeStatus(node: CiliumNode, { offer, handshake, operatorError }: Desired): Write | undefined {
  const section = offer && sectionPatch(node, offer);
  const ipam = {
    ...(handshake && handshakePatch(node, handshake)),
    ...errorPatch(node, operatorError),
    ...staticIpPatch(node, offer?.staticIp),
  };
  if (section === undefined && Object.keys(ipam).length === 0) return undefined;
  return { part: 'status', patch: { ...section, ...(Object.keys(ipam).length > 0 && { ipam }) } };
}

function sectionPatch(node: CiliumNode, { provider: { key, value } }: Offer): JsonObject | undefined {
  const section = memberOf(node.base.status, key) ?? undefined;
  const patch = sameOnTheWire(section, value) ? undefined : mergePatch(section, value);
  return patch === undefined ? undefined : { [key]: patch };
}

function handshakePatch({ base }: CiliumNode, handshake: ReadonlyMap<string, ReleaseState>): JsonObject {
  const published = memberOf(memberOf(base.status, 'ipam'), 'release-ips') ?? {};
  const known = Object.entries(isObject(published) ? published : {});
  const over = known
    .filter(([address]) => !handshake.has(address))
    .map(([address]) => [address, null] as const);
  const changed = [...handshake].filter(([address, state]) => memberOf(published, address) !== state);
  const patch = Object.fromEntries<Json>([...over, ...changed]);
  return Object.keys(patch).length === 0 ? {} : { 'release-ips': patch };
}

function errorPatch({ status }: CiliumNode, error: string): JsonObject {
  if ((status.operatorError ?? '') === error) return {};
  return { 'operator-status': error === '' ? null : { error } };
}

function staticIpPatch({ status }: CiliumNode, staticIp: string | undefined): JsonObject {
  if (staticIp === undefined || (status.assignedStaticIp ?? '') === staticIp) return {};
  return { 'assigned-static-ip': staticIp === '' ? null : staticIp };
}

function grow(node: CiliumNode, offer: Offer): Write | undefined {
  const { pool } = node.ipam;
  const entering = [...offer.pool].filter(([address, id]) => pool.get(address)?.resource !== id);
  const preAllocate = node.ipam.preAllocate === 0 ? offer.preAllocate : 0;
  if (entering.length === 0 && preAllocate === 0) return undefined;
  return specPatch({
    ...(entering.length > 0 && {
      pool: Object.fromEntries(entering.map(([address, resource]) => [address, { resource }])),
    }),
    ...(preAllocate > 0 && { 'pre-allocate': preAllocate }),
  });
}

function specPatch(ipam: JsonObject): Write {
  return { part: 'spec', patch: { ipam } };
}
