// Test cases of the alerts about subnets.
import type { RuleCase, Values } from './rule-case.ts';

const at = 'cluster="c",subnet_id="s",availability_zone="z"';
const pod = 'job="headwater",instance="a"';
const labels = { cluster: 'c', subnet_id: 's', availability_zone: 'z' };

/** A leader, and a /24 that three nodes are in, with so many free addresses. */
function subnet(free: string, more: Values = {}): Values {
  return {
    [`headwater_leader{cluster="c",${pod}}`]: '1x1000',
    [`headwater_subnet_nodes{${at},${pod}}`]: '3x1000',
    [`headwater_subnet_size_addresses{${at},${pod}}`]: '256x1000',
    [`headwater_subnet_free_addresses{${at},${pod}}`]: free,
    ...more,
  };
}

/** Nodes have prefixes, and the subnet so many whole blocks. */
function blocks(free: string, whole: string, more: Values = {}): Values {
  return subnet(free, {
    [`headwater_subnet_free_blocks{${at},${pod}}`]: whole,
    [prefixes]: '4x1000',
    ...more,
  });
}

const prefixes = `headwater_prefixes{cluster="c",${pod}}`;
const fragmented = `headwater_blocked{cluster="c",${pod},resource="subnet",reason="PrefixSpaceFragmented"}`;
const unused = { [`headwater_subnet_nodes{${at},${pod}}`]: '0x1000' };
const standby = { [`headwater_leader{cluster="c",${pod}}`]: '0x1000' };

export const subnetCases: readonly RuleCase[] = [
  {
    alert: 'HeadwaterSubnetFullWithin24Hours',
    labels,
    fires: { series: subnet('120-0.2x600'), pending: '80m', at: '4h', shows: '-216' },
    quiet: {
      because: 'it falls slowly enough to last for days',
      series: subnet('120-0.02x600'),
      at: '4h',
    },
    alsoQuiet: [
      { because: 'more than half of it is free', series: subnet('200-0.2x600'), at: '4h' },
      { because: 'no node is in it', series: subnet('120-0.2x600', unused), at: '4h' },
      {
        because: 'less than an hour says so',
        series: subnet('120-0.5x50 95x600'),
        at: '50m',
      },
      { because: 'who says so leads no longer', series: subnet('120-0.2x600', standby), at: '4h' },
    ],
    // Free addresses come back at once, and the trend forgets the fall after three hours.
    clears: { series: subnet('120-0.2x240 200x600'), firing: '4h', cleared: '8h' },
  },
  {
    alert: 'HeadwaterSubnetNearlyFull',
    labels,
    fires: { series: subnet('16x1000'), pending: '5m', at: '15m', shows: '6.25%' },
    quiet: { because: 'more than a tenth is free', series: subnet('26x1000'), at: '1h' },
    alsoQuiet: [{ because: 'no node is in it', series: subnet('16x1000', unused), at: '1h' }],
    clears: { series: subnet('16x30 100x1000'), firing: '20m', cleared: '32m' },
  },
  {
    alert: 'HeadwaterSubnetWithoutBlocks',
    labels,
    fires: { series: blocks('80x1000', '0x1000'), pending: '10m', at: '20m' },
    quiet: {
      because: 'no node has prefixes, so that nobody needs a block',
      series: blocks('80x1000', '0x1000', { [prefixes]: '0x1000' }),
      at: '1h',
    },
    alsoFires: [
      {
        because: 'the first prefix was refused',
        series: blocks('80x1000', '0x1000', { [prefixes]: '0x1000', [fragmented]: '1x1000' }),
        pending: '10m',
        at: '20m',
      },
    ],
    alsoQuiet: [
      { because: 'it has no addresses for a block either', series: blocks('12x1000', '0x1000'), at: '1h' },
      { because: 'no node is in it', series: blocks('80x1000', '0x1000', unused), at: '1h' },
    ],
    clears: { series: blocks('80x1000', '0x30 2x1000'), firing: '20m', cleared: '32m' },
  },
];
