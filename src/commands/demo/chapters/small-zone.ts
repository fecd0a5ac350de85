// Finds the two nodes that share a small subnet.
import type { EmbeddedCluster } from '../../../simulator/cluster/embedded-cluster.ts';
import { smallZone } from '../demo-topology.ts';

export interface SmallZoneNodes {
  /** Node names: `generous` loses pods first, `short` needs their addresses. */
  readonly generous: string;
  readonly short: string;
}

export function smallZoneNodes({ workload }: EmbeddedCluster): SmallZoneNodes {
  const [generous, short] = workload.views
    .filter(({ facts }) => facts.zone === smallZone.name)
    .map(({ nodeName }) => nodeName);
  if (generous === undefined || short === undefined) throw new Error('the small zone lacks nodes');
  return { generous, short };
}
