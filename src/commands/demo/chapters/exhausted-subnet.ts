// Chapter about a subnet with too few addresses for its nodes. It shows what the node reports about it.
import { textAt } from '../../../simulator/workload/json.ts';
import type { Burst } from '../../../simulator/workload/workload.ts';
import type { Chapter, ChapterContext, SmallSubnetNodes } from '../chapter.ts';

/** How long that report stands alone, in ms. */
const readingTime = 1500;

export interface SmallSubnet {
  /** Where its two nodes are. */
  readonly place: string;
  /** The name that its cloud has for it. */
  readonly kind: 'subnet' | 'vSwitch';
  readonly name: string;
  readonly id: string;
  /** Its two nodes, once there are agents. */
  readonly nodes: () => SmallSubnetNodes;
  /** The pods that crowd on a node. */
  readonly crowd: (nodeName: string) => Burst;
  /** The thing to watch besides. */
  readonly hint: string;
  /** Makes room once the report was read, unless a later chapter does. */
  readonly relieve?: () => void;
}

export function exhaustedSubnet(context: ChapterContext, subnet: SmallSubnet): Chapter {
  const { cluster } = context;
  let reportedAt: number | undefined;
  let isRelieved = false;
  let node = '';
  return {
    title: `a ${subnet.kind} runs out`,
    hints: [
      `Pods crowd on one of the two nodes of ${subnet.place}, and its only pod ${subnet.kind}, ${subnet.name}, has too little left.`,
      `Look at what the node says: why, and what to do about it. ${subnet.hint}`,
    ],
    beginChapter: () => {
      node = subnet.nodes().inDeficit;
      context.run(subnet.crowd(node));
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
          `(${subnet.id} is ${subnet.name}); Events say the same: ${eventsOf(context, node, error)}`,
        );
      }
      if (elapsed < reportedAt + readingTime) return 'running';
      if (!isRelieved) subnet.relieve?.();
      isRelieved = true;
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
