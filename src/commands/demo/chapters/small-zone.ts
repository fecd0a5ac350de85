// Finds the two nodes that share a small subnet.
import type { SimulatedCluster } from '../../../simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../../simulator/workload/node-facts.ts';
import { smallZone } from '../demo-topology.ts';

export interface SmallSubnetNodes {
  /** Node names: `generous` loses pods first, `inDeficit` needs their addresses. */
  readonly generous: string;
  readonly inDeficit: string;
}

export function smallZoneNodes(
  cluster: Pick<SimulatedCluster, 'workload'>,
  name: string = smallZone.name,
): SmallSubnetNodes {
  return nodesOfSmallSubnet(cluster, ({ zone }) => zone === name);
}

export function nodesOfSmallSubnet(
  { workload }: Pick<SimulatedCluster, 'workload'>,
  isThere: (facts: NodeFacts) => boolean,
): SmallSubnetNodes {
  const [generous, inDeficit] = workload.views
    .filter(({ facts }) => isThere(facts))
    .map(({ nodeName }) => nodeName);
  if (generous === undefined || inDeficit === undefined) throw new Error('the small subnet lacks nodes');
  return { generous, inDeficit };
}
