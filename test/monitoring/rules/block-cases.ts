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

/** Nodes that wait for a block, and the age of the oldest deficit in seconds. */
function waiting(nodes: string, oldest: string): Values {
  return {
    [`headwater_cidr_waiting_nodes{${at}}`]: nodes,
    'headwater_oldest_deficit_seconds{cluster="c",priority="high"}': oldest,
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
  {
    alert: 'HeadwaterNodesWaitForBlock',
    labels: { cluster: 'c', pool: 'default', family: 'ipv4' },
    fires: { series: waiting('3x30', '60+60x30'), pending: '3m', at: '8m', shows: '3' },
    quiet: {
      because: 'some node waits at any time, and none of them for long',
      series: waiting('3x60', '20x60'),
      at: '1h',
    },
    clears: { series: waiting('3x10 0x30', '60+60x10 0x30'), firing: '8m', cleared: '12m' },
  },
];
