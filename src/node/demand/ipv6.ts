// Whether a node gets an IPv6 prefix: one for its life, if its agent asks for any IPv6 address. A prefix has more addresses than
// pods ever take, so the number that the agent asks for says only that it does. Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CloudTraits } from '../../providers/contract/cloud-traits.ts';
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import { isOfIpv6 } from '../../providers/contract/ipv6.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { poolName } from './demand.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

export type Ipv6State =
  | 'notAsked'
  | 'held'
  /** Nothing is to be requested, and nothing can be shown yet: a read of an interface, or of what it has, is awaited. */
  | 'awaited'
  | 'missing';

/** Whether the agent waits for a prefix. */
export function lacksIpv6(state: Ipv6State): boolean {
  return state === 'missing' || state === 'awaited';
}

/** Whether the agent asks for IPv6 addresses. */
export function asksForIpv6({ ipam }: Pick<CiliumNode, 'ipam'>): boolean {
  return ipam.requested.some(({ pool, ipv6 }) => pool === poolName && ipv6 > 0);
}

/** `certain`: the view without awaited interfaces. */
export function ipv6StateOf(
  node: CiliumNode,
  { view, certain }: { readonly view: InstanceView; readonly certain: InstanceView },
  requirements: NodeRequirements,
  { ipv6: isUsable }: Pick<CloudTraits, 'ipv6'>,
): Ipv6State {
  if (!isUsable || !asksForIpv6(node)) return 'notAsked';
  if (ipv6PrefixesIn(certain, requirements).length > 0) return 'held';
  return mayHaveIpv6(view, requirements) ? 'awaited' : 'missing';
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
export function mayHaveIpv6(
  { interfaces, unconfirmed }: InstanceView,
  requirements: NodeRequirements,
): boolean {
  const mayHave = (item: NetworkInterface): boolean =>
    item.ipv6Prefixes !== undefined ||
    item.ipv6Problem !== undefined ||
    unconfirmed.get(item.id)?.some(isOfIpv6) === true;
  return interfaces.some((item) => mayHave(item) && exclusionOf(item, requirements) === undefined);
}
