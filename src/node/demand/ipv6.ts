// Whether a node gets an IPv6 prefix: one for its life, if its agent asks for any IPv6 address. A prefix has more addresses than
// pods ever take, so the number that the agent asks for says only that it does. Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import { isOfIpv6 } from '../../providers/contract/ipv6.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { poolName } from './demand.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

export type Ipv6State =
  | 'notAsked'
  | 'held'
  /** Nothing is to be requested, and nothing can be shown yet: a read of an interface, or of what it has, is awaited. */
  | 'awaited'
  /** An interface has one that no agent can use, and the node gets no other beside it. */
  | 'unusable'
  /** The API server drops it from a status, so the agent would not see one. */
  | 'unshowable'
  | 'missing';

/** Whether the agent waits for a prefix. */
export function lacksIpv6(state: Ipv6State): boolean {
  return lacking.has(state);
}

const lacking: ReadonlySet<Ipv6State> = new Set(['awaited', 'unusable', 'unshowable', 'missing']);

/** Whether the agent asks for IPv6 addresses. */
export function asksForIpv6({ ipam }: Pick<CiliumNode, 'ipam'>): boolean {
  return ipam.requested.some(({ pool, ipv6 }) => pool === poolName && ipv6 > 0);
}

export interface Ipv6Views {
  readonly view: InstanceView;
  /** The view without awaited interfaces. */
  readonly certain: InstanceView;
  /** Whether the API server keeps IPv6 prefixes in a status. */
  readonly isShowable: boolean;
}

export function ipv6StateOf(
  node: CiliumNode,
  { view, certain, isShowable }: Ipv6Views,
  requirements: NodeRequirements,
  { ipv6: isUsable }: Pick<CloudTraits, 'ipv6'>,
): Ipv6State {
  if (!isUsable || !asksForIpv6(node)) return 'notAsked';
  const isHeld = ipv6PrefixesIn(certain, requirements).length > 0;
  if (!isShowable) return isHeld && showsIpv6(node, certain, requirements) ? 'held' : 'unshowable';
  if (isHeld) return 'held';
  if (isIpv6Coming(view, requirements)) return 'awaited';
  return unusableIpv6On(view, requirements).length > 0 ? 'unusable' : 'missing';
}

/** Whether the status shows one of those that the node has, which somebody else may have written. */
function showsIpv6(
  { status }: Pick<CiliumNode, 'status'>,
  view: InstanceView,
  requirements: NodeRequirements,
): boolean {
  const shown = [...status.interfaces.values()].flatMap(({ ipv6Prefixes = none }) => ipv6Prefixes);
  return ipv6PrefixesIn(view, requirements).some((prefix) => shown.includes(prefix));
}

/** IPv6 prefixes that pods of the node may use, each once. */
export function ipv6PrefixesIn(
  { interfaces }: Pick<InstanceView, 'interfaces'>,
  requirements: NodeRequirements,
): readonly string[] {
  return interfaces.flatMap(({ ipv6Prefixes, ...item }) =>
    ipv6Prefixes === undefined || exclusionOf(item, requirements) !== undefined ? none : ipv6Prefixes,
  );
}

const none: readonly string[] = [];

/** Whether an interface for pods has a prefix, as far as anything says: then none is requested. */
export function mayHaveIpv6(view: InstanceView, requirements: NodeRequirements): boolean {
  return isIpv6Coming(view, requirements) || unusableIpv6On(view, requirements).length > 0;
}

/** Whether one is there, or may be, that can be shown. */
function isIpv6Coming({ interfaces, unconfirmed }: InstanceView, requirements: NodeRequirements): boolean {
  const mayHave = (item: NetworkInterface): boolean =>
    item.ipv6Prefixes !== undefined || unconfirmed.get(item.id)?.some(isOfIpv6) === true;
  return interfaces.some((item) => mayHave(item) && exclusionOf(item, requirements) === undefined);
}

/** Interfaces for pods that have something of IPv6 that no agent can use. */
export function unusableIpv6On(
  { interfaces }: Pick<InstanceView, 'interfaces'>,
  requirements: NodeRequirements,
): readonly NetworkInterface[] {
  return interfaces.filter(
    (item) => item.ipv6Problem !== undefined && exclusionOf(item, requirements) === undefined,
  );
}
