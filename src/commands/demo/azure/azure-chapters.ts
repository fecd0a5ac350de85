// Orders the chapters of the demonstration on Azure.
import type { AzureCluster } from '../../../simulator/cluster/embedded-cluster.ts';
import type { Chapter, ChapterContext } from '../chapter.ts';
import { exhaustedSubnet } from '../chapters/exhausted-subnet.ts';
import { crowdPods, departureOf } from '../chapters/pods.ts';
import { join, scaleUp } from '../chapters/scale-up.ts';
import { nodesOfSmallSubnet } from '../chapters/small-zone.ts';
import { smallSet } from './azure-topology.ts';
import { lostUpdates } from './lost-updates.ts';
import { takeover } from './takeover.ts';

export type AzureContext = ChapterContext<AzureCluster>;

export function azureChapters(context: AzureContext): readonly Chapter[] {
  const { cluster, run } = context;
  const { generous, inDeficit } = nodesOfSmallSubnet(cluster, ({ subnetId }) => isSmall(subnetId));
  return [
    join(),
    scaleUp(context, 'Azure', generous),
    lostUpdates(context),
    exhaustedSubnet(context, {
      place: `the scale set ${smallSet.name}`,
      name: smallSet.subnet,
      id: [...cluster.arm.cloud.subnets.values()].find(({ id }) => isSmall(id))?.path ?? '',
      node: inDeficit,
      hint: 'No other scale set notices. Then the pods leave again.',
      relieve: () => run(departureOf(crowdPods(inDeficit), 0, 1000)),
    }),
    takeover(context),
  ];
}

function isSmall(subnetId: string): boolean {
  return subnetId.endsWith(`/${smallSet.subnet}`);
}
