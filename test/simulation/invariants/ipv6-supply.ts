// What the nodes with IPv6 must have once faults are over: one /80 where the cloud can give one, shown to the agent.
import { carriesPrefixes, instanceTypes } from '../../../src/simulator/cloud/instance-types.ts';
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { SimulatedCluster } from '../../../src/simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';
import { ipv6PrefixesShown } from './ipv6-prefixes.ts';
import type { Invariant } from './violation.ts';

type Report = (invariant: Invariant, text: string) => void;

export function checkIpv6(
  { network, kubernetes }: Pick<SimulatedCluster, 'network' | 'kubernetes'>,
  { facts, nodeName, protocol }: NodeView,
  report: Report,
): void {
  const all = interfacesOf(network, facts);
  const held = all.flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
  const shown = ipv6PrefixesShown(kubernetes.get('ciliumnodes.cilium.io', nodeName));
  const stale = shown.filter((prefix) => !held.includes(prefix));
  if (stale.length > 0) report('stale-offer', `${nodeName} shows ${stale.join(' ')}, which it does not have`);
  if (facts.ipv6 !== true || protocol !== 'multi-pool') return;
  const fit = all.filter(isFit(facts)).flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
  if (fit.length === 0 && mayHaveIpv6(network, facts)) report('in-deficit', `${nodeName} has no IPv6 prefix`);
  if (fit.some((prefix) => !shown.includes(prefix)))
    report('in-deficit', `${nodeName} does not show ${fit.join(' ')}`);
}

/** Whether an agent waits for an IPv6 prefix that the cloud cannot give. */
export function isWithoutIpv6(
  { network }: Pick<SimulatedCluster, 'network'>,
  { facts, phase, protocol }: NodeView,
): boolean {
  const isWaiting = phase !== 'serving' && facts.ipv6 === true && protocol === 'multi-pool';
  return isWaiting && !mayHaveIpv6(network, facts);
}

/** Whether a node has an IPv6 prefix for its pods, or the cloud would give it one. */
function mayHaveIpv6(network: CloudNetwork, facts: NodeFacts): boolean {
  const all = interfacesOf(network, facts);
  const fit = all.filter(isFit(facts));
  if (fit.some(({ ipv6Prefixes }) => ipv6Prefixes.length > 0)) return true;
  const type = instanceTypes.get(facts.instanceType);
  if (type === undefined || !carriesPrefixes(type)) return false;
  if (fit.some(({ subnetId }) => network.subnets.get(subnetId)?.ipv6Block !== undefined)) return true;
  const mayHaveAnother = all.length < (type.cards[0] ?? 0);
  return (
    mayHaveAnother &&
    [...network.subnets.values()].some(
      ({ ipv6Block, zone, tags, available }) =>
        ipv6Block !== undefined && zone === facts.zone && tags['purpose'] === 'pods' && available > 1,
    )
  );
}

function interfacesOf(network: CloudNetwork, { instanceId }: NodeFacts): readonly NetworkInterface[] {
  return [...network.interfaces.values()].filter((item) => item.instanceId === instanceId);
}

function isFit({ eni }: NodeFacts): (item: NetworkInterface) => boolean {
  return ({ deviceIndex = 0 }) => deviceIndex >= (eni?.firstInterfaceIndex ?? 0);
}
