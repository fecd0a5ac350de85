// Alerts about networks that whole blocks come from: they run out slowly, and somebody has to add one before they are gone.
import { type AlertGroup, atCluster, ofCluster } from '../alert.ts';

const byPool = 'max by (cluster, pool, family)';

/** Only the leader has these series. */
function blocks(state: 'free' | 'held'): string {
  return `${byPool} (headwater_cidr_blocks{state="${state}"})`;
}

export const blockAlerts: AlertGroup = {
  name: 'headwater-blocks',
  alerts: [
    {
      name: 'HeadwaterBlocksNearlyGone',
      expr: `${blocks('free')} / (${blocks('free')} + ${blocks('held')}) < 0.1`,
      for: '10m',
      severity: 'warning',
      summary: `few {{ $labels.family }} blocks of pool {{ $labels.pool }} are free${atCluster}`,
      description:
        '{{ $value | humanizePercentage }} of the blocks are free. When they are gone, new nodes get none, and their pods do not start.',
    },
    {
      name: 'HeadwaterNodesWaitForBlock',
      // In a fleet that grows some node waits at any time; what counts is that one has had to wait for long.
      expr: `${byPool} (headwater_cidr_waiting_nodes) > 0
and on (cluster) ${ofCluster('headwater_oldest_deficit_seconds')} > 120`,
      for: '3m',
      severity: 'warning',
      summary: `nodes wait for {{ $labels.family }} blocks of pool {{ $labels.pool }}${atCluster}`,
      description:
        '{{ $value | humanize }} nodes have had no such block for minutes. A node without a block starts no pods but those of the host network.',
    },
  ],
};
