// Test cases of the alerts about nodes.
import type { RuleCase, Values } from './rule-case.ts';

const labels = { cluster: 'c' };

function pending(pods: string, oldest: string, priority = 'critical'): Values {
  return {
    'headwater_pending_pods{cluster="c"}': pods,
    [`headwater_oldest_deficit_seconds{cluster="c",priority="${priority}"}`]: oldest,
  };
}

function blocked(reason: string, count: string): Values {
  return { [`headwater_blocked{cluster="c",resource="node",reason="${reason}"}`]: count };
}

function unread(count: string): Values {
  return {
    'headwater_nodes{cluster="c",instance="leader",state="unknown"}': count,
    'headwater_nodes{cluster="c",instance="leader",state="total"}': '10x60',
    'headwater_nodes{cluster="c",instance="standby",state="unknown"}': '0x60',
    'headwater_nodes{cluster="c",instance="standby",state="total"}': '0x60',
  };
}

export const nodeCases: readonly RuleCase[] = [
  {
    alert: 'HeadwaterPodsPending',
    labels,
    fires: { series: pending('5x30', '60+60x30'), pending: '3m', at: '8m', shows: '5' },
    quiet: {
      because: 'pods wait at any time, and none of them for long',
      series: pending('5x60', '20x60'),
      at: '1h',
    },
    alsoQuiet: [
      { because: 'no pod waits', series: pending('0x60', '60+60x60'), at: '30m' },
      {
        because: 'pods wait for seconds, and only a warm buffer is not filled for long',
        series: pending('5x60', '60+60x60', 'normal'),
        at: '30m',
      },
    ],
    clears: { series: pending('5x10 0x30', '60+60x10 0x30'), firing: '8m', cleared: '12m' },
  },
  {
    alert: 'HeadwaterNodesUnknown',
    labels,
    fires: { series: unread('10x60'), pending: '3m', at: '8m', shows: '100%' },
    quiet: { because: 'a few nodes are not read yet', series: unread('4x60'), at: '30m' },
    clears: { series: unread('10x10 0x60'), firing: '8m', cleared: '12m' },
  },
  {
    alert: 'HeadwaterNodesInDeficit',
    labels,
    fires: { series: pending('0x30', '0+60x30', 'normal'), pending: '6m', at: '8m', shows: '8m 0s' },
    quiet: { because: 'each deficit ends within minutes', series: pending('0x60', '240x60'), at: '1h' },
    clears: { series: pending('0x30', '0+60x10 0x30', 'normal'), firing: '8m', cleared: '12m' },
  },
  {
    alert: 'HeadwaterNodesBlocked',
    labels: { cluster: 'c', reason: 'NoSubnetMatches' },
    fires: { series: blocked('NoSubnetMatches', '2x30'), pending: '5m', at: '15m', shows: '2' },
    quiet: {
      because: '--vpc-id leaves these nodes out',
      series: blocked('OutsideNetwork', '2x60'),
      at: '1h',
    },
    alsoFires: [
      {
        because: 'pods wait in vain on an instance that can have no more addresses',
        labels: { cluster: 'c', reason: 'InstanceFull' },
        series: blocked('InstanceFull', '2x60'),
        pending: '5m',
        at: '15m',
        shows: '2',
      },
      {
        because: 'two nodes have one block',
        labels: { cluster: 'c', reason: 'PodCIDRConflict' },
        series: { 'headwater_warnings{cluster="c",reason="PodCIDRConflict"}': '1x60' },
        pending: '5m',
        at: '15m',
        shows: '1',
      },
      {
        because: 'nodes that are served have blocks of no pool',
        labels: { cluster: 'c', reason: 'PodCIDROutsidePools' },
        series: { 'headwater_warnings{cluster="c",reason="PodCIDROutsidePools"}': '2x60' },
        pending: '5m',
        at: '15m',
        shows: '2',
      },
    ],
    clears: { series: blocked('NoSubnetMatches', '2x20 _ stale'), firing: '15m', cleared: '25m' },
  },
];
