// The dashboard Subnets: which of them run out, when, who is affected, and whether prefixes still fit in.
import {
  type DashboardPlan,
  type PanelPlan,
  perSubnet,
  rate,
  subnetLegend,
  total,
  trendOfSubnets,
} from './dashboard-plan.ts';

const free = perSubnet('headwater_subnet_free_addresses');
const size = perSubnet('headwater_subnet_size_addresses');
/** Addresses that a subnet loses in a second; without a series where it loses none. */
const loss = `(-${trendOfSubnets('headwater_subnet_free_addresses', '6h')} > 0)`;
const daysLeft = `${free} / ${loss} / 86400`;
/** The unit and thresholds of `daysLeft`. Red, below a day, is when the alert fires. */
const inDays = {
  unit: 'd',
  thresholds: [
    { value: 1, color: 'orange' },
    { value: 7, color: 'green' },
  ],
  lowIsBad: true,
  runbooks: ['HeadwaterSubnetFullWithin24Hours'],
} as const;
const idle = `${total('headwater_addresses', { where: ['state="available"'] })} - ${total('headwater_addresses', { where: ['state="used"'] })}`;

const ofSubnet = { by: ['subnet_id'], where: ['subnet_id=~"$subnet"'] };

const now: readonly PanelPlan[] = [
  {
    kind: 'stat',
    title: 'Subnets nearly full',
    description: 'Subnets with less than a tenth of their addresses free that nodes have interfaces in.',
    queries: [
      {
        expr: `count(${free} / ${size} < 0.1 and ${perSubnet('headwater_subnet_nodes')} > 0) or 0 * count(${size})`,
        legend: '',
      },
    ],
    unit: 'short',
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterSubnetNearlyFull'],
  },
  {
    kind: 'stat',
    title: 'Fewest days until full',
    description:
      'When the first subnet is full if the trend of the last 6 hours continues. Nothing is shown while none gets fuller, or in the first hour.',
    queries: [{ expr: `min(${daysLeft})`, legend: '' }],
    ...inDays,
  },
  {
    kind: 'stat',
    title: 'Warm idle addresses',
    description:
      'Addresses that nodes have and no pod uses, over the cluster. They are what lets pods start at once, and what a smaller buffer would release.',
    queries: [{ expr: idle, legend: '' }],
    unit: 'short',
  },
  {
    kind: 'stat',
    title: 'Nodes without a subnet',
    description:
      'Nodes that get no addresses because every subnet that they may use is full, or none matches.',
    queries: [
      {
        expr: `sum(${total('headwater_blocked', { by: ['reason'], where: ['resource="node"', 'reason=~"SubnetsExhausted|SubnetsRefused|NoSubnetMatches"'] })}) or 0 * count(${size})`,
        legend: '',
      },
    ],
    unit: 'short',
    thresholds: [{ value: 1, color: 'red' }],
    runbooks: ['HeadwaterNodesBlocked'],
  },
];

const space: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Free addresses',
    description:
      'Addresses of each subnet that may still be asked for: what the cloud counted last, less what calls have taken since. 0 for 2 minutes after the cloud said that nothing is left.',
    queries: [{ expr: free, legend: subnetLegend }],
    unit: 'short',
    runbooks: ['HeadwaterSubnetNearlyFull'],
  },
  {
    kind: 'timeseries',
    title: 'Free addresses by zone',
    description:
      'A node can use the subnets of its own zone only. A zone near zero is in trouble though others have room.',
    queries: [
      {
        expr: `sum by (availability_zone) (${free})`,
        legend: '{{availability_zone}}',
      },
    ],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Free part',
    description: "Free addresses as a part of the subnet's block. An alert fires below 10 % for 10 minutes.",
    queries: [{ expr: `${free} / ${size}`, legend: subnetLegend }],
    unit: 'percentunit',
    max: 1,
    thresholds: [
      { value: 0.1, color: 'yellow' },
      { value: 0.25, color: 'green' },
    ],
    lowIsBad: true,
    runbooks: ['HeadwaterSubnetNearlyFull'],
  },
  {
    kind: 'timeseries',
    title: 'Days until full',
    description:
      'By the trend of the last 6 hours, from the first hour on. A subnet that does not get fuller has no line. The alert takes 3 hours, to see a rollout sooner.',
    queries: [{ expr: daysLeft, legend: subnetLegend }],
    ...inDays,
  },
  {
    kind: 'timeseries',
    title: 'Whole free /28 blocks',
    description:
      'Blocks that a prefix can be made of, at most: as the last full listing showed them. 0 after the subnet refused a prefix.',
    queries: [{ expr: perSubnet('headwater_subnet_free_blocks'), legend: subnetLegend }],
    unit: 'short',
    thresholds: [{ value: 1, color: 'green' }],
    lowIsBad: true,
    runbooks: ['HeadwaterSubnetWithoutBlocks'],
  },
  {
    kind: 'timeseries',
    title: 'Fragmentation',
    description:
      'Part of the free addresses that lies in no whole /28 block. Near 1 a subnet has room for single addresses and none for prefixes.',
    queries: [{ expr: perSubnet('headwater_subnet_fragmentation_ratio'), legend: subnetLegend }],
    unit: 'percentunit',
    max: 1,
    thresholds: [
      { value: 0.7, color: 'yellow' },
      { value: 0.95, color: 'orange' },
    ],
    runbooks: ['HeadwaterSubnetWithoutBlocks'],
  },
];

const demand: readonly PanelPlan[] = [
  {
    kind: 'timeseries',
    title: 'Assigned addresses',
    description: 'Addresses of each subnet that nodes have for pods, those of prefixes included.',
    queries: [{ expr: perSubnet('headwater_subnet_assigned_addresses'), legend: subnetLegend }],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Nodes in the subnet',
    description: 'Nodes with an interface in the subnet: those that feel it when it is full.',
    queries: [{ expr: perSubnet('headwater_subnet_nodes'), legend: subnetLegend }],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Reserved addresses',
    description:
      'Addresses that calls have taken or may take since the cloud counted last: zero when nothing changes.',
    queries: [{ expr: perSubnet('headwater_subnet_reserved_addresses'), legend: subnetLegend }],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Assigned and released addresses a second',
    description: 'What nodes get out of each subnet, and what they release to it.',
    queries: [
      {
        expr: rate('cilium_operator_ipam_ip_allocation_ops', ofSubnet),
        legend: 'assigned {{subnet_id}}',
      },
      {
        expr: rate('cilium_operator_ipam_ip_release_ops', ofSubnet),
        legend: 'released {{subnet_id}}',
      },
    ],
    unit: 'short',
  },
  {
    kind: 'timeseries',
    title: 'Warm idle and leaving addresses',
    description:
      'Addresses that no pod uses, and those on their way back to their subnets. What leaves and never goes is stuck.',
    queries: [
      { expr: idle, legend: 'idle' },
      { expr: total('headwater_addresses', { where: ['state="releasing"'] }), legend: 'leaving' },
    ],
    unit: 'short',
    runbooks: ['HeadwaterReleaseStuck'],
  },
  {
    kind: 'timeseries',
    title: 'Subnets and interfaces blocked by reason',
    description: 'Subnets that give no addresses for now, and interfaces that are not understood, by reason.',
    queries: [
      {
        expr: total('headwater_blocked', { by: ['resource', 'reason'], where: ['resource!="node"'] }),
        legend: '{{resource}} {{reason}}',
      },
    ],
    unit: 'short',
    isStacked: true,
    runbooks: ['HeadwaterNodesBlocked'],
  },
  {
    kind: 'table',
    title: 'All subnets',
    description: 'Free addresses, whole blocks and nodes of each subnet now.',
    queries: [
      { expr: free, legend: 'free' },
      { expr: size, legend: 'size' },
      { expr: perSubnet('headwater_subnet_free_blocks'), legend: 'whole blocks' },
      { expr: perSubnet('headwater_subnet_nodes'), legend: 'nodes' },
    ],
    unit: 'short',
  },
];

export const subnetsDashboard: DashboardPlan = {
  uid: 'headwater-subnets',
  title: 'Headwater / Subnets',
  description: 'Which subnets run out, when, who is affected, and whether prefixes still fit in.',
  variables: ['cluster', 'zone', 'subnet'],
  rows: [
    { title: 'Now', panels: now },
    { title: 'Space', panels: space },
    { title: 'Demand', panels: demand },
  ],
};
