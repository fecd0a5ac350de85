// Finds the two nodes that share a small subnet.
import type { EmbeddedCluster } from '../../../simulator/cluster/embedded-cluster.ts';
import { smallZone } from '../demo-topology.ts';

export interface SmallZoneNodes {
  /** Node names: `generous` loses pods first, `inDeficit` needs their addresses. */
  readonly generous: string;
  readonly inDeficit: string;
}

export function smallZoneNodes({ workload }: EmbeddedCluster): SmallZoneNodes {
  const [generous, inDeficit] = workload.views
    .filter(({ facts }) => facts.zone === smallZone.name)
    .map(({ nodeName }) => nodeName);
  if (generous === undefined || inDeficit === undefined) throw new Error('the small zone lacks nodes');
  return { generous, inDeficit };
}
