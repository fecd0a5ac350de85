// The invariants of a cluster, checked against what the cloud truly holds and the agents truly use, never
// against a controller's own report.
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { formatIpv4, parseIpv4Block, sizeOf } from '../cloud/ipv4.ts';
import type { InstanceType } from '../cloud/instance-types.ts';
import type { NetworkInterface } from '../cloud/records.ts';
import { objectAt, textAt } from '../workload/json.ts';
import { agentCloudOf } from '../workload/clouds/known-clouds.ts';
import type { NodeFacts } from '../workload/node-facts.ts';
import type { NodeView } from '../workload/node-view.ts';
import type { CheckedCluster, InvariantViolation, ShownNodes } from './checked-cluster.ts';
import { hiddenAddresses } from './hidden-addresses.ts';
import { ipv6Violations } from './ipv6-prefixes.ts';

export type { InvariantViolation } from './checked-cluster.ts';

/** The invariants violated at this moment, of both families. */
export function invariantViolations(cluster: CheckedCluster): readonly InvariantViolation[] {
  const { network, workload, kubernetes } = cluster;
  return [
    ...unheld(network, workload.views),
    ...hidden(kubernetes, workload.views),
    ...usedTwice(workload.views),
    ...offeredTwice(kubernetes, workload.views),
    ...ipv6Violations(cluster),
    ...agentViolations(workload),
  ];
}

/** Detached interfaces. Every interface is one briefly between creation and attach. */
export function detachedInterfaces({
  network,
}: Pick<CheckedCluster, 'network'>): readonly NetworkInterface[] {
  return [...network.interfaces.values()].filter((item) => item.instanceId === undefined);
}

export interface NodeStanding {
  readonly node: string;
  /** Addresses that the cloud holds for the node's pods, plus those in use that the node may no longer have. */
  readonly held: number;
  readonly used: number;
  /** Free addresses that the node requests. */
  readonly preAllocate: number;
  /** Maximum addresses that it may have. */
  readonly max: number;
  readonly met: boolean;
  /** Addresses above what its watermarks keep (docs/ciliumnode-contract.md 2.2). */
  readonly excess: number;
}

/** Compares each node with its watermarks, by the cloud's addresses and the agent's use. */
export function standings({
  network,
  workload,
}: Pick<CheckedCluster, 'network' | 'workload'>): readonly NodeStanding[] {
  const held = heldBy(network);
  const { instanceTypes: types } = network.rules;
  return workload.views.map((view) => standingOf(view, held.get(view.facts.instanceId) ?? new Map(), types));
}

function standingOf(
  { facts, addressesInUse, nodeName }: NodeView,
  held: ReadonlyMap<string, HeldAddress>,
  types: ReadonlyMap<string, InstanceType>,
): NodeStanding {
  const { preAllocate = 8, minAllocate = 0, maxAllocate, maxAboveWatermark = 0 } = facts.ipam ?? {};
  const { firstInterfaceIndexOf, usesPrimaryAddresses } = agentCloudOf(facts);
  const first = firstInterfaceIndexOf(facts);
  const mostWithout = (unfitOnes: number): number => mostOf(facts, types, { unfit: unfitOnes, held });
  // An interface that pods may no longer use keeps its addresses in use.
  const retired = [...addressesInUse.keys()].filter((each) => (held.get(each)?.deviceIndex ?? first) < first);
  const fit = [...held.values()].filter(
    ({ deviceIndex, primary }) => deviceIndex >= first && (usesPrimaryAddresses || !primary),
  );
  const forPods = fit.length + retired.length;
  const used = addressesInUse.size;
  const unfit = new Set(
    [...held.values()].map(({ deviceIndex }) => deviceIndex).filter((each) => each < first),
  );
  // A node's own limit counts even above the instance's. The latter includes device indexes without an interface.
  const max =
    maxAllocate === undefined
      ? mostWithout(first)
      : Math.min(maxAllocate - retired.length, mostWithout(unfit.size));
  const wanted = Math.max(used + preAllocate, minAllocate);
  const floor = minAllocate + maxAboveWatermark;
  const kept = used + preAllocate <= floor ? floor : used + preAllocate + maxAboveWatermark;
  return {
    node: nodeName,
    held: forPods,
    used,
    preAllocate,
    max: max + retired.length,
    met: forPods >= Math.min(wanted, max + retired.length),
    excess: Math.max(0, forPods - kept),
  };
}

/** Configurations of an interface on Azure, besides the primary one. */
const maxOnAzure = 255;

/**
 * Pod addresses on the first network card of an instance type, without this many interfaces. On Azure, on the interfaces
 * that are there.
 */
function mostOf(
  { cloud, instanceType }: NodeFacts,
  types: ReadonlyMap<string, InstanceType>,
  { unfit, held }: { readonly unfit: number; readonly held: ReadonlyMap<string, HeldAddress> },
): number {
  if (cloud === 'azure')
    return new Set([...held.values()].map(({ deviceIndex }) => deviceIndex)).size * maxOnAzure;
  const type = types.get(instanceType);
  if (type === undefined) return 0;
  const primaries = agentCloudOf({ cloud }).usesPrimaryAddresses ? 0 : 1;
  return ((type.cards[0] ?? 0) - unfit) * (type.ipv4PerInterface - primaries);
}

function unheld(network: CloudNetwork, views: readonly NodeView[]): InvariantViolation[] {
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

/** Addresses by instance; prefixes count by their members. */
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

function hidden(kubernetes: ShownNodes, views: readonly NodeView[]): InvariantViolation[] {
  return views.flatMap(({ nodeName: node, facts: { cloud }, protocol, addressesInUse: remembered }) => {
    const object = kubernetes.get('ciliumnodes.cilium.io', node);
    if (object === undefined) return [];
    return [...hiddenAddresses(object, { protocol, remembered, cloud })].map(([address, user]) => ({
      what: 'used-address-hidden' as const,
      node,
      address,
      user,
      text: `${address} is used by ${user} on ${node}, but its CiliumNode no longer shows it`,
    }));
  });
}

function usedTwice(views: readonly NodeView[]): InvariantViolation[] {
  const users = new Map<string, { readonly node: string; readonly user: string }>();
  const found: InvariantViolation[] = [];
  for (const { nodeName: node, addressesInUse, facts } of views) {
    for (const [address, user] of addressesInUse) {
      const key = `${facts.vpcId} ${address}`;
      const other = users.get(key);
      if (other === undefined) users.set(key, { node, user });
      else {
        const text = `${address} is used by ${user} on ${node} and by ${other.user} on ${other.node}`;
        found.push({ what: 'address-used-twice', node, address, user, text });
      }
    }
  }
  return found;
}

function offeredTwice(kubernetes: ShownNodes, views: readonly NodeView[]): InvariantViolation[] {
  const offers = new Map<string, string>();
  const found: InvariantViolation[] = [];
  for (const { node, network, address } of offersIn(kubernetes, views)) {
    const key = `${network} ${address}`;
    const other = offers.get(key);
    offers.set(key, other ?? node);
    if (other === undefined) continue;
    const text = `${address} is offered on ${node} and on ${other}`;
    found.push({ what: 'address-offered-twice', node, address, user: '', text });
  }
  return found;
}

function* offersIn(
  kubernetes: ShownNodes,
  views: readonly NodeView[],
): Generator<{ readonly node: string; readonly network: string; readonly address: string }> {
  const cloud = agentCloudOf(views[0]?.facts ?? {});
  for (const object of kubernetes.list('ciliumnodes.cilium.io')) {
    const node = textAt(object, 'metadata', 'name');
    const network = cloud.networkOf(object);
    for (const address of Object.keys(objectAt(object, 'spec', 'ipam', 'pool')))
      yield { node, network, address };
  }
}

function agentViolations(workload: CheckedCluster['workload']): InvariantViolation[] {
  return workload.violations.map(({ node, address, pod, what }) => ({
    what: 'agent-violation',
    node,
    address,
    user: pod,
    text: `the agent of ${node} finds for ${address}, used by ${pod}: ${what}`,
  }));
}
