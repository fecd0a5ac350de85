// Whether the cloud shows the addresses of Nodes on their instances: what ties a Node to its machine where no provider ID does. Pure.
import {
  hasAddress,
  isPrimaryInterface,
  type NetworkInterface,
} from '../../providers/contract/network-interface.ts';
import type { Observation } from '../../providers/contract/facts.ts';
import { type AskingNode, interfacesIn } from './cloud-facts.ts';
import { type Finding, rowOnAny, rowsAbout } from './finding.ts';
import type { ShownNode } from './shown-objects.ts';

/** Instances that the cloud showed whole, with their interfaces. */
type WholeInstances = ReadonlyMap<string, readonly NetworkInterface[]>;

/** Nothing follows from the addresses of an instance of which an interface is missing or cannot be read. */
export function wholeInstances(observations: readonly Observation[]): WholeInstances {
  const unread = new Set(
    observations.flatMap((each) => (each.kind === 'unreadableInterface' ? [each.interface.instanceId] : [])),
  );
  const whole = [...interfacesIn(observations)].filter(
    ([id, interfaces]) =>
      !unread.has(id) &&
      interfaces.some(isPrimaryInterface) &&
      interfaces.every(({ primaryAddress }) => primaryAddress !== ''),
  );
  return new Map(whole);
}

/**
 * Nodes without a provider ID whose address is the primary one of the instance that their CiliumNode names: the controller takes
 * that for proof. `networkId`: the only network that is served; undefined for all.
 */
export function confirmedNodes(
  nodes: readonly ShownNode[],
  asking: readonly AskingNode[],
  instances: WholeInstances,
  networkId: string | undefined,
): ReadonlySet<string> {
  const primaries = [...instances.values()].flat().filter(isPrimaryInterface);
  const networks = new Set(primaries.map((item) => item.networkId));
  // Other networks have the same addresses. Interfaces of pods may be elsewhere than their instance.
  if (networkId === undefined && networks.size > 1) return new Set();
  const named = new Map(asking.map(({ name, instanceId }) => [name, instanceId]));
  const confirmed = nodes.filter(({ name, providerId, addresses }) => {
    const interfaces = instances.get(named.get(name) ?? '');
    const own = interfaces?.find(isPrimaryInterface)?.primaryAddress;
    return providerId === '' && own !== undefined && addresses.includes(own);
  });
  return new Set(confirmed.map(({ name }) => name));
}

/** Nodes that name an instance and show none of its addresses. One that shows no address says nothing. */
export function addressFindings(nodes: readonly ShownNode[], instances: WholeInstances): readonly Finding[] {
  const elsewhere = nodes.filter(({ instanceId = '', addresses, isIgnored }) => {
    const interfaces = instances.get(instanceId);
    if (interfaces === undefined || addresses.length === 0 || isIgnored) return false;
    return !addresses.some((address) => interfaces.some((item) => hasAddress(item, address)));
  });
  return rowOnAny(elsewhere, 'Node', (names) =>
    rowsAbout('objects').warning(
      `${names} with an InternalIP that the cloud shows nowhere on its instance`,
      'compare spec.providerID of the Node with its machine, and --node-ip of its kubelet: addresses are given to the instance of the provider ID',
    ),
  );
}
