// How many more pod addresses a cloud would give to a node that gets interfaces of its own.
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import { agentCloudOf } from '../../../src/simulator/workload/clouds/known-clouds.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';

/**
 * Free pod addresses in subnets where a node has an interface with room, or may have another one, which may take an
 * address for itself.
 */
export function roomOn(network: CloudNetwork, facts: NodeFacts): number {
  const { cards = [], ipv4PerInterface = 0 } = network.rules.instanceTypes.get(facts.instanceType) ?? {};
  const held = [...network.interfaces.values()].filter(({ instanceId }) => instanceId === facts.instanceId);
  const { firstInterfaceIndexOf, usesPrimaryAddresses } = agentCloudOf(facts);
  const first = firstInterfaceIndexOf(facts);
  const takingMore = held.filter(
    ({ deviceIndex = 0, addresses, prefixes }) =>
      deviceIndex >= first && addresses.length + prefixes.length < ipv4PerInterface,
  );
  const reached = new Set(takingMore.map(({ subnetId }) => subnetId));
  const mayHaveAnother = held.length < (cards[0] ?? 0);
  return [...network.subnets.values()]
    .map(({ id, zone, tags, available }) => {
      if (reached.has(id)) return available;
      const takesAnother = mayHaveAnother && zone === facts.zone && tags['purpose'] === 'pods';
      return takesAnother ? Math.max(0, available - (usesPrimaryAddresses ? 0 : 1)) : 0;
    })
    .reduce((sum, room) => sum + room, 0);
}
