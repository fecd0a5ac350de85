// The IPv6 prefixes of a cluster: what the cloud holds for each node, what its CiliumNode shows, and what its pods use of them.
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { containsIpv6, parseIpv6, parseIpv6Block } from '../cloud/ipv6.ts';
import { agentCloudOf } from '../workload/clouds/known-clouds.ts';
import { type JsonObject, listAt, textsAt } from '../workload/json.ts';
import type { NodeFacts } from '../workload/node-facts.ts';
import type { NodeView } from '../workload/node-view.ts';
import type { CheckedCluster, InvariantViolation } from './checked-cluster.ts';

export interface Ipv6Standing {
  readonly node: string;
  /** Prefixes that the cloud holds on interfaces of the node for its pods. */
  readonly held: readonly string[];
  /** Prefixes that its CiliumNode shows. */
  readonly shown: readonly string[];
}

/** Each node whose agent asks for IPv6. */
export function ipv6Standings({ network, workload, kubernetes }: CheckedCluster): readonly Ipv6Standing[] {
  return workload.views
    .filter(({ facts, protocol }) => facts.ipv6 === true && protocol === 'multi-pool')
    .map((view) => ({
      node: view.nodeName,
      held: heldBy(network, view.facts, agentCloudOf(view.facts).firstInterfaceIndexOf(view.facts)),
      shown: shownOn(kubernetes.get('ciliumnodes.cilium.io', view.nodeName), view),
    }));
}

/** Whether the node has exactly one prefix, and its agent is shown that one. */
export function hasItsPrefix({ held, shown }: Ipv6Standing): boolean {
  return held.length === 1 && shown.length === 1 && held[0] === shown[0];
}

/** Faults of the IPv6 addresses in use, and with the prefixes that nodes show. */
export function ipv6Violations({
  network,
  workload,
  kubernetes,
}: CheckedCluster): readonly InvariantViolation[] {
  const users = new Map<string, string>();
  const offers = new Map<string, string>();
  return workload.views.flatMap((view) => {
    const { nodeName: node, facts, ipv6InUse } = view;
    const object = kubernetes.get('ciliumnodes.cilium.io', node);
    const [held, shown] = [heldBy(network, facts, 0), shownOn(object, view)];
    const kept = listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((pool) =>
      textsAt(pool, 'cidrs'),
    );
    const found: InvariantViolation[] = [];
    for (const [address, user] of ipv6InUse) {
      const report = (what: InvariantViolation['what'], text: string): void =>
        void found.push({
          what,
          node,
          address,
          user,
          text: `${address} is used by ${user} on ${node}${text}`,
        });
      const isIn = (prefixes: readonly string[]): boolean =>
        prefixes.some((prefix) => covers(prefix, address));
      if (!isIn(held))
        report('used-address-not-held', `, and the cloud does not hold it on ${facts.instanceId}`);
      if (object !== undefined && isIn(kept) && !isIn(shown))
        report('used-address-hidden', ', but its CiliumNode no longer shows it');
      const other = users.get(`${facts.vpcId} ${address}`);
      if (other !== undefined) report('address-used-twice', ` and on ${other}`);
      users.set(`${facts.vpcId} ${address}`, node);
    }
    for (const prefix of shown) {
      const other = offers.get(`${facts.vpcId} ${prefix}`);
      const text = `${prefix} is offered on ${node} and on ${other}`;
      if (other !== undefined)
        found.push({ what: 'address-offered-twice', node, address: prefix, user: '', text });
      offers.set(`${facts.vpcId} ${prefix}`, node);
    }
    return found;
  });
}

function heldBy(network: CloudNetwork, { instanceId }: NodeFacts, first: number): readonly string[] {
  return [...network.interfaces.values()].flatMap((item) =>
    item.instanceId === instanceId && (item.deviceIndex ?? 0) >= first ? item.ipv6Prefixes : [],
  );
}

function shownOn(node: JsonObject | undefined, { facts, protocol }: NodeView): readonly string[] {
  if (node === undefined) return [];
  return agentCloudOf(facts)
    .interfacesOf(node, protocol)
    .flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
}

function covers(prefix: string, address: string): boolean {
  const [block, number] = [parseIpv6Block(prefix), parseIpv6(address)];
  return block !== undefined && number !== undefined && containsIpv6(block, number);
}
