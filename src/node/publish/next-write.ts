// Decides the next write to a CiliumNode from its current and desired content. Pure. The order protects
// agents: an address leaves the pool before its interface leaves the status, and enters the pool after it. If
// a conflicting writer replaced the status, the interfaces that stay in the pool are restored before anything
// is removed.
import type { CiliumNode, ReleaseState } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isObject, type Json, type JsonObject, memberOf } from '../../runtime/json.ts';
import type { StatusLayout } from '../../providers/contract/cilium-node-section.ts';
import { protocolOf } from '../demand/demand.ts';
import { repairOf } from './status-repair.ts';
import { sectionPatch } from './status-section.ts';

export interface Desired {
  /** Undefined while nothing is known to offer, or the offer may not be published yet. What is published stays. */
  readonly offer: Offer | undefined;
  /** Desired `status.ipam.release-ips`, by address; undefined while unknown. */
  readonly handshake: ReadonlyMap<string, ReleaseState> | undefined;
  /** Why the node cannot be satisfied; empty if it can. */
  readonly operatorError: string;
}

export interface Offer {
  /** The cloud's section of the status: its key, layout and full content. */
  readonly provider: { readonly key: string; readonly layout: StatusLayout; readonly value: Json };
  /** Ids of the interfaces in the section. */
  readonly interfaces: ReadonlySet<string>;
  /** Interface id by address. */
  readonly pool: ReadonlyMap<string, string>;
  /** Public address of the primary interface, empty if it has none; undefined keeps what is published. */
  readonly staticIp: string | undefined;
  /** Written if the node has no pre-allocate. */
  readonly preAllocate: number;
}

export interface Write {
  readonly part: 'status' | 'spec';
  /** Merge patch of that part. */
  readonly patch: JsonObject;
  /** Adds to the pool what the status shows already. */
  readonly isOnlyPool?: true;
}

/** The first write toward the desired content; undefined when nothing differs. */
export function nextWrite(node: CiliumNode, desired: Desired): Write | undefined {
  const { offer } = desired;
  const repair = offer && repairBeforeShrink(node, offer);
  if (repair !== undefined) return repair;
  return (offer && shrink(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));
}

/** All missing writes, in order. */
export function missingWrites(node: CiliumNode, desired: Desired): readonly Write[] {
  const { offer } = desired;
  const writes = [offer && shrink(node, offer), writeStatus(node, desired), offer && grow(node, offer)];
  return writes.filter((write) => write !== undefined);
}

/** If nothing is to be removed from the pool, the status write makes the repair. */
function repairBeforeShrink(node: CiliumNode, offer: Offer): Write | undefined {
  const patch = shrink(node, offer) && repairOf(node, offer);
  return patch && { part: 'status', patch };
}

/**
 * An address that moved to another interface stays, unless its former interface is about to leave the status. A
 * multi-pool agent gives no address of the pool, but sets up no new interface while the pool names an address on an
 * interface that does not show it.
 */
function shrink(node: CiliumNode, { pool, interfaces }: Offer): Write | undefined {
  const isRead = protocolOf(node) === 'crd';
  const isLeft = (address: string): boolean => {
    const id = node.ipam.pool.get(address)?.resource;
    return id !== undefined && id !== pool.get(address) && !(isRead && interfaces.has(id));
  };
  const gone = node.base.pooled().filter((address) => !pool.has(address) || isLeft(address));
  if (gone.length === 0) return undefined;
  return specPatch({ pool: Object.fromEntries(gone.map((address) => [address, null])) });
}

function writeStatus(node: CiliumNode, { offer, handshake, operatorError }: Desired): Write | undefined {
  const section = offer && providerPatch(node, offer);
  const ipam = {
    ...(handshake && handshakePatch(node, handshake)),
    ...errorPatch(node, operatorError),
    ...staticIpPatch(node, offer?.staticIp),
  };
  if (section === undefined && Object.keys(ipam).length === 0) return undefined;
  return { part: 'status', patch: { ...section, ...(Object.keys(ipam).length > 0 && { ipam }) } };
}

function providerPatch(
  node: CiliumNode,
  { provider: { key, layout, value } }: Offer,
): JsonObject | undefined {
  const patch = sectionPatch(memberOf(node.base.status, key) ?? undefined, value, layout);
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

/** Members of others beside the error stay. */
function errorPatch({ base, status }: CiliumNode, error: string): JsonObject {
  if ((status.operatorError ?? '') === error) return {};
  const published = memberOf(memberOf(base.status, 'ipam'), 'operator-status');
  const isAlone = !isObject(published) || Object.keys(published).every((member) => member === 'error');
  return { 'operator-status': error === '' && isAlone ? null : { error: error === '' ? null : error } };
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
  const growth = specPatch({
    ...(entering.length > 0 && {
      pool: Object.fromEntries(entering.map(([address, resource]) => [address, { resource }])),
    }),
    ...(preAllocate > 0 && { 'pre-allocate': preAllocate }),
  });
  return { ...growth, isOnlyPool: true };
}

function specPatch(ipam: JsonObject): Write {
  return { part: 'spec', patch: { ipam } };
}
