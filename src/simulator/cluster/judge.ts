// Whether all is well in a cluster, judged by what the cloud truly holds and what the agents truly remember: never by
// what a controller says of itself.
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { formatIpv4, parseIpv4Block, sizeOf } from '../cloud/ipv4.ts';
import { instanceTypes } from '../cloud/instance-types.ts';
import type { NetworkInterface } from '../cloud/records.ts';
import { type JsonObject, objectAt, textAt } from '../workload/json.ts';
import type { NodeView } from '../workload/node-view.ts';
import type { Violation } from '../workload/violation-log.ts';
import { hiddenAddresses } from './hidden-addresses.ts';

/** What is judged: an embedded cluster, or one whose Kubernetes API is another. */
export interface Judged {
  readonly ec2: { readonly network: CloudNetwork };
  readonly workload: { readonly views: readonly NodeView[]; readonly violations: readonly Violation[] };
  readonly kubernetes: ShownNodes;
}

/** CiliumNodes as the Kubernetes API has them. */
interface ShownNodes {
  readonly get: (resourcePath: 'ciliumnodes.cilium.io', name: string) => JsonObject | undefined;
  readonly list: (resourcePath: 'ciliumnodes.cilium.io') => readonly JsonObject[];
}

/** Something that must never be. */
export interface Breach {
  readonly what:
    | 'used-address-not-held'
    | 'used-address-hidden'
    | 'address-used-twice'
    | 'address-offered-twice'
    | 'agent-violation';
  readonly node: string;
  readonly address: string;
  /** Who uses the address: `namespace/name` of a pod, or what the agent took it for. */
  readonly user: string;
  readonly text: string;
}

/** What must never be, looked for at this very moment. */
export function breachesIn({ ec2, workload, kubernetes }: Judged): readonly Breach[] {
  return [
    ...unheld(ec2.network, workload.views),
    ...hidden(kubernetes, workload.views),
    ...usedTwice(workload.views),
    ...offeredTwice(kubernetes),
    ...violations(workload),
  ];
}

/** Interfaces that are attached to nothing. Between creation and attachment each is one for a moment. */
export function looseInterfaces({ ec2 }: Pick<Judged, 'ec2'>): readonly NetworkInterface[] {
  return [...ec2.network.interfaces.values()].filter((item) => item.instanceId === undefined);
}

export interface NodeStanding {
  readonly node: string;
  /** Addresses that the cloud holds for pods of the node. */
  readonly held: number;
  readonly used: number;
  /** Free addresses that the node is to have. */
  readonly preAllocate: number;
  /** Addresses that it may have at most. */
  readonly most: number;
  readonly met: boolean;
  /** Addresses beyond what its watermarks keep (contract 2.2). */
  readonly excess: number;
}

/** How each node stands to its watermarks, by what the cloud holds for it and the agent uses. */
export function standings({ ec2, workload }: Pick<Judged, 'ec2' | 'workload'>): readonly NodeStanding[] {
  const held = heldBy(ec2.network);
  return workload.views.map((view) => standingOf(view, held.get(view.facts.instanceId) ?? new Map()));
}

function standingOf(
  { facts, addressesInUse, nodeName }: NodeView,
  held: ReadonlyMap<string, HeldAddress>,
): NodeStanding {
  const {
    preAllocate = 8,
    minAllocate = 0,
    maxAllocate = Infinity,
    maxAboveWatermark = 0,
  } = facts.ipam ?? {};
  const { firstInterfaceIndex: first = 0 } = facts.eni ?? {};
  const forPods = [...held.values()].filter(
    ({ deviceIndex, primary }) => deviceIndex >= first && !primary,
  ).length;
  const used = addressesInUse.size;
  const most = Math.min(maxAllocate, mostOf(facts.instanceType, first));
  const wanted = Math.max(used + preAllocate, minAllocate);
  const floor = minAllocate + maxAboveWatermark;
  const kept = used + preAllocate <= floor ? floor : used + preAllocate + maxAboveWatermark;
  return {
    node: nodeName,
    held: forPods,
    used,
    preAllocate,
    most,
    met: forPods >= Math.min(wanted, most),
    excess: Math.max(0, forPods - kept),
  };
}

/** Pod addresses that an instance of the type can have, on the interfaces of its first network card. */
function mostOf(instanceType: string, firstInterfaceIndex: number): number {
  const type = instanceTypes.get(instanceType);
  if (type === undefined) return 0;
  return ((type.cards[0] ?? 0) - firstInterfaceIndex) * (type.ipv4PerInterface - 1);
}

function unheld(network: CloudNetwork, views: readonly NodeView[]): Breach[] {
  const held = heldBy(network);
  return views.flatMap(({ nodeName, facts, addressesInUse }) => {
    const own = held.get(facts.instanceId);
    return [...addressesInUse]
      .filter(([address]) => own?.has(address) !== true)
      .map(([address, user]) => ({
        what: 'used-address-not-held' as const,
        node: nodeName,
        address,
        user,
        text: `${address} is used by ${user} on ${nodeName}, and the cloud does not hold it on ${facts.instanceId}`,
      }));
  });
}

interface HeldAddress {
  readonly deviceIndex: number;
  readonly primary: boolean;
}

/** Addresses by instance, prefixes by their members. */
function heldBy(network: CloudNetwork): ReadonlyMap<string, ReadonlyMap<string, HeldAddress>> {
  const held = new Map<string, Map<string, HeldAddress>>();
  for (const item of network.interfaces.values()) {
    if (item.instanceId === undefined) continue;
    const own = held.get(item.instanceId) ?? new Map<string, HeldAddress>();
    held.set(item.instanceId, own);
    const deviceIndex = item.deviceIndex ?? 0;
    for (const address of item.addresses)
      own.set(address, { deviceIndex, primary: address === item.primaryAddress });
    for (const address of item.prefixes.flatMap(membersOf)) own.set(address, { deviceIndex, primary: false });
  }
  return held;
}

function membersOf(prefix: string): string[] {
  const block = parseIpv4Block(prefix);
  if (block === undefined) return [];
  return Array.from({ length: sizeOf(block) }, (_, offset) => formatIpv4(block.first + offset));
}

function hidden(kubernetes: ShownNodes, views: readonly NodeView[]): Breach[] {
  return views.flatMap(({ nodeName: node, protocol, addressesInUse: remembered }) => {
    const object = kubernetes.get('ciliumnodes.cilium.io', node);
    if (object === undefined) return [];
    return [...hiddenAddresses(object, { protocol, remembered })].map(([address, user]) => ({
      what: 'used-address-hidden' as const,
      node,
      address,
      user,
      text: `${address} is used by ${user} on ${node}, and its CiliumNode does not show it any more`,
    }));
  });
}

function usedTwice(views: readonly NodeView[]): Breach[] {
  const users = new Map<string, { readonly node: string; readonly user: string }>();
  const breaches: Breach[] = [];
  for (const { nodeName: node, addressesInUse, facts } of views) {
    for (const [address, user] of addressesInUse) {
      const key = `${facts.vpcId} ${address}`;
      const other = users.get(key);
      if (other === undefined) users.set(key, { node, user });
      else {
        const text = `${address} is used by ${user} on ${node} and by ${other.user} on ${other.node}`;
        breaches.push({ what: 'address-used-twice', node, address, user, text });
      }
    }
  }
  return breaches;
}

function offeredTwice(kubernetes: ShownNodes): Breach[] {
  const offers = new Map<string, string>();
  const breaches: Breach[] = [];
  for (const { node, network, address } of offersIn(kubernetes)) {
    const key = `${network} ${address}`;
    const other = offers.get(key);
    offers.set(key, other ?? node);
    if (other === undefined) continue;
    const text = `${address} is offered on ${node} and on ${other}`;
    breaches.push({ what: 'address-offered-twice', node, address, user: '', text });
  }
  return breaches;
}

function* offersIn(
  kubernetes: ShownNodes,
): Generator<{ readonly node: string; readonly network: string; readonly address: string }> {
  for (const object of kubernetes.list('ciliumnodes.cilium.io')) {
    const node = textAt(object, 'metadata', 'name');
    const network = textAt(object, 'spec', 'eni', 'vpc-id');
    for (const address of Object.keys(objectAt(object, 'spec', 'ipam', 'pool')))
      yield { node, network, address };
  }
}

function violations(workload: Judged['workload']): Breach[] {
  return workload.violations.map(({ node, address, pod, what }) => ({
    what: 'agent-violation',
    node,
    address,
    user: pod,
    text: `the agent of ${node} finds for ${address}, used by ${pod}: ${what}`,
  }));
}
