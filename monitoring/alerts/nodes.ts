// Alerts about nodes and pods: who has to wait, and for whom nothing can be done until somebody acts.
import { type AlertGroup, atCluster, ofCluster } from '../alert.ts';

/** Reasons that somebody chose: nothing is broken there. */
export const chosen = 'InstanceNotManaged|OutsideNetwork|MutationsPaused';

/** Warnings of nodes that are served although their blocks need somebody to act. */
const misheld = 'PodCIDRConflict|PodCIDROutsidePools|PodCIDRIncomplete|PodCIDRUnreadable';

export const nodeAlerts: AlertGroup = {
  name: 'headwater-nodes',
  alerts: [
    {
      name: 'HeadwaterPodsPending',
      // In a large fleet some pod waits at any time; what counts is that one node has had to wait for long.
      expr: `${ofCluster('headwater_pending_pods')} > 0
and ${ofCluster('headwater_oldest_deficit_seconds{priority=~"critical|high"}')} > 120`,
      for: '3m',
      severity: 'critical',
      summary: `pods wait for addresses${atCluster}`,
      description:
        '{{ $value | humanize }} pods wait for an address on nodes that have had no free address for minutes. They do not start.',
    },
    {
      name: 'HeadwaterNodesUnknown',
      // What a node lacks is not known before the cloud was read: it may be that no pod waits yet.
      expr: `${ofCluster('headwater_nodes{state="unknown"}')} / ${ofCluster('headwater_nodes{state="total"}')} > 0.5`,
      for: '5m',
      severity: 'critical',
      summary: `most nodes are not served, because the cloud was not read yet${atCluster}`,
      description:
        '{{ $value | humanizePercentage }} of the nodes wait until Headwater has read the cloud. They get no addresses. New pods use addresses that these nodes still have, then wait.',
    },
    {
      name: 'HeadwaterNodesInDeficit',
      expr: `${ofCluster('headwater_oldest_deficit_seconds')} > 300`,
      for: '1m',
      severity: 'warning',
      summary: `a node has been in deficit for more than 5 minutes${atCluster}`,
      description:
        'The oldest deficit is {{ $value | humanizeDuration }} old, of a node that lacks addresses or that could not be read. Pods still start from what the nodes have left, until that is used up.',
    },
    {
      name: 'HeadwaterNodesBlocked',
      // These nodes are served, but two may have one block, a family has none, or a block is accounted for nowhere.
      expr: `sum by (cluster, reason) (headwater_blocked{resource="node",reason!~"${chosen}"}) > 0
or sum by (cluster, reason) (headwater_warnings{reason=~"${misheld}"}) > 0`,
      for: '10m',
      severity: 'warning',
      summary: `nodes cannot be satisfied: {{ $labels.reason }}${atCluster}`,
      description:
        '{{ $value | humanize }} nodes get no further addresses for this reason until an operator acts. The status of their CiliumNodes says what to do.',
    },
  ],
};
