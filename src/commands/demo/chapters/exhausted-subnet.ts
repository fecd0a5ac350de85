// Chapter about a subnet with too few addresses for its nodes. It shows what the node reports about it.
import { textAt } from '../../../simulator/workload/json.ts';
import type { Chapter, ChapterContext } from '../chapter.ts';
import { smallZone } from '../demo-topology.ts';
import { crowdPods } from './pods.ts';
import { smallZoneNodes } from './small-zone.ts';

/** How long that report stands alone, in ms. */
const readingTime = 1500;

export function exhaustedSubnet(context: ChapterContext): Chapter {
  const { cluster } = context;
  let reportedAt: number | undefined;
  let node = '';
  return {
    title: 'a subnet runs out',
    hints: [
      `Pods crowd on one of the two nodes of ${smallZone.name}, and its only pod subnet, ${smallZone.subnet}, has too little left.`,
      'Look at what the node says: why, and what to do about it. No other zone notices.',
    ],
    longest: 9000,
    begin: () => {
      node = smallZoneNodes(cluster).inDeficit;
      context.run(crowdPods(node));
    },
    watch: ({ elapsed }) => {
      const error = operatorError(context, node);
      if (reportedAt === undefined) {
        if (error === '' || elapsed < 1000 || eventsOf(context, node, error) === '') return 'running';
        reportedAt = elapsed;
        const { size } = cluster.workload.view(node).pendingPods;
        context.report(
          `${node} is in deficit, and ${size} of its pods wait. Its status.ipam.operator-status.error:`,
        );
        context.report(`"${error}"`);
        context.report(
          `(${subnetId(context)} is ${smallZone.subnet}); Events say the same: ${eventsOf(context, node, error)}`,
        );
      }
      if (elapsed < reportedAt + readingTime) return 'running';
      const { pendingPods } = cluster.workload.view(node);
      if (error !== '' || pendingPods.size > 0) return 'continues';
      const seconds = ((elapsed - reportedAt) / 1000).toFixed(1);
      context.report(
        `SERVED: ${node} was in deficit for ${seconds} s; all its pods have addresses now, and the error is gone`,
      );
      return 'over';
    },
  };
}

function operatorError({ cluster }: ChapterContext, node: string): string {
  const object = cluster.kubernetes.get('ciliumnodes.cilium.io', node);
  return textAt(object, 'status', 'ipam', 'operator-status', 'error');
}

/** Events that say this, by reason and object. The node may have others, of an earlier chapter. */
function eventsOf({ cluster }: ChapterContext, node: string, said: string): string {
  const events = cluster.kubernetes
    .list('events')
    .filter((event) => textAt(event, 'involvedObject', 'name') === node && textAt(event, 'message') === said);
  const named = events.map(
    (event) => `${textAt(event, 'reason')} on its ${textAt(event, 'involvedObject', 'kind')}`,
  );
  return [...new Set(named)].toSorted().join(', ');
}

function subnetId({ cluster }: ChapterContext): string {
  const subnets = [...cluster.ec2.network.subnets.values()];
  return subnets.find(({ tags }) => tags['Name'] === smallZone.subnet)?.id ?? '';
}
