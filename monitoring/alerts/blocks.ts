// Alerts about networks that whole blocks come from: they run out slowly, and somebody has to add one before they are gone.
import { type AlertGroup, atCluster } from '../alert.ts';

/** Only the leader has these series. */
function blocks(state: 'free' | 'held'): string {
  return `max by (cluster, pool, family) (headwater_cidr_blocks{state="${state}"})`;
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
  ],
};
