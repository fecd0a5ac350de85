// Test cases of the alerts about networks that whole blocks come from.
import type { RuleCase, Values } from './rule-case.ts';

const at = 'cluster="c",pool="default",family="ipv4",job="headwater",instance="a"';

/** A network of 256 blocks. */
function blocks(free: string, held: string): Values {
  return {
    [`headwater_cidr_blocks{${at},state="free"}`]: free,
    [`headwater_cidr_blocks{${at},state="held"}`]: held,
  };
}

export const blockCases: readonly RuleCase[] = [
  {
    alert: 'HeadwaterBlocksNearlyGone',
    labels: { cluster: 'c', pool: 'default', family: 'ipv4' },
    fires: { series: blocks('16x1000', '240x1000'), pending: '5m', at: '15m', shows: '6.25%' },
    quiet: {
      because: 'more than a tenth is free',
      series: blocks('26x1000', '230x1000'),
      at: '1h',
    },
    clears: { series: blocks('16x30 100x1000', '240x30 156x1000'), firing: '20m', cleared: '32m' },
  },
];
