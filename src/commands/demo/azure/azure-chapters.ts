// Orders the chapters of the demonstration on Azure.
import type { Burst } from '../../../simulator/workload/workload.ts';
import type { AzureContext, Chapter } from '../chapter.ts';
import { exhaustedSubnet } from '../chapters/exhausted-subnet.ts';
import { crowdPods, departureOf, reportPods } from '../chapters/pods.ts';
import { join, scaleUp } from '../chapters/scale-up.ts';
import { nodesOfSmallSubnet, type SmallSubnetNodes } from '../chapters/small-zone.ts';
import { smallSet } from './azure-topology.ts';
import { lostUpdates } from './lost-updates.ts';
import { takeover } from './takeover.ts';

export function azureChapters(context: AzureContext): readonly Chapter[] {
  const { cluster, run } = context;
  const nodes = (): SmallSubnetNodes => nodesOfSmallSubnet(cluster, ({ subnetId }) => isSmall(subnetId));
  // Once they have left, the node holds enough for all pods that follow.
  const crowd = (nodeName: string): Burst => crowdPods(nodeName, 80);
  return [
    join(),
    scaleUp(context, 'Azure', () => nodes().generous),
    lostUpdates(context),
    exhaustedSubnet(context, {
      place: `the scale set ${smallSet.name}`,
      name: smallSet.subnet,
      id: [...cluster.arm.cloud.subnets.values()].find(({ id }) => isSmall(id))?.path ?? '',
      nodes,
      crowd,
      hint: 'No other scale set notices. Then the pods leave again.',
      longest: 16_000,
      relieve: () => {
        const { generous, inDeficit } = nodes();
        run(departureOf(crowd(inDeficit), 0, 1000));
        run(departureOf(reportPods(generous), 0, 1000));
      },
    }),
    takeover(context),
  ];
}

function isSmall(subnetId: string): boolean {
  return subnetId.endsWith(`/${smallSet.subnet}`);
}
