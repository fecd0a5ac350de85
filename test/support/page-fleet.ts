// A fleet for the pictures of the page: 600 nodes in three zones, of which one has no address left.
const zones = ['a', 'b', 'c'] as const;
const names = Array.from(
  { length: 600 },
  (_, index) => `ip-10-20-${index >> 6}-${(index & 63) * 4 + 5}.eu-central-1.compute.internal`,
);
const [beyond = ''] = names;
const lacking = names.filter((_, index) => index % 67 === 41);
const well = names.filter((name) => !lacking.includes(name));

const full = 'subnet-0db846c3cbec3f8a1';
const why = `no address is left in ${full}: add a subnet that the node's subnet selection matches, or free addresses there`;

/** The node that is explained. */
const pictured = lacking[1] ?? '';

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** `reads`: how often it was read before. */
export function fleetReport(reads: number, withNodes: boolean): object {
  const free = [0, 731 - 9 * reads, 1204 - 4 * reads + 7 * (reads % 3)];
  const held = free.map((left) => 8192 - left - 205);
  const used = [6612, 5021, 4108];
  return {
    version: '0.1.0',
    ready: true,
    readyForSeconds: 93_600 + 5 * reads,
    state: 'leading',
    identity: 'headwater-6c9f7d5b8-x2x4q',
    paused: [],
    denied: [],
    reasons: { SubnetsExhausted: lacking.length },
    nodes: {
      total: names.length,
      satisfied: well.length,
      in_deficit: lacking.length,
      at_capacity: 0,
      blocked: 0,
      unknown: 0,
      leftAlone: 0,
    },
    addresses: { available: sum(held), used: sum(used), needed: 84, releasing: 0 },
    pendingPods: 12,
    cloudRead: { ageSeconds: 20 + 5 * reads },
    ...(withNodes && { nodeNames: { satisfied: well, in_deficit: lacking } }),
    subnets: free.map((left, index) => ({
      id: ['subnet-0db846c3cbec3f8a1', 'subnet-08fc080e157342306', 'subnet-0b1e7c5b9d20d932e'][index],
      name: `pods-${zones[index]}`,
      zone: `eu-central-1${zones[index]}`,
      cidr: `10.20.${128 + 32 * index}.0/19`,
      counted: true,
      size: 8192,
      free: left,
      reserved: 0,
      exhausted: left === 0,
      fragmented: false,
      held: held[index],
      used: used[index],
      ...(index === 1 && { daysLeft: 3.2 }),
    })),
    inDeficit: lacking.map((name) => ({ name, reason: 'SubnetsExhausted', why })),
    warnings: [
      {
        node: beyond,
        reason: 'MaxPodsTooHigh',
        why: 'the kubelet admits 110 pods, although m5.large can hold 27 addresses; set maxPods of the kubelet to what headwater max-pods says: pods beyond it never get an address',
      },
    ],
    excluded: [],
    buckets: ['AssignPrivateIpAddresses', 'CreateNetworkInterface', 'DescribeSubnets'].map(
      (action, index) => ({
        action,
        tokens: index === 0 ? 11.5 : 50,
        capacity: 50,
        refillPerSecond: 2.5,
        learnedRatio: 1,
        throttled: 0,
        waiting: {},
      }),
    ),
  };
}

export const picturedNode = {
  known: true,
  name: pictured,
  standing: 'in_deficit',
  instance: 'i-0f0e718760f1c67e5',
  reason: 'SubnetsExhausted',
  why,
  inDeficitForSeconds: 95,
  available: 30,
  used: 22,
  wanted: 20,
  pendingPods: 2,
  watermarks: { preAllocate: 8, minAllocate: 50, maxAllocate: 0, maxAboveWatermark: 0 },
  capacity: {
    instanceType: 'm5.4xlarge',
    interfaces: 8,
    attached: 2,
    addressesPerInterface: 30,
    addresses: 203,
    prefixes: false,
  },
  selection: {
    rule: 'the subnets of its zone',
    subnets: [
      {
        id: full,
        name: 'pods-a',
        zone: 'eu-central-1a',
        free: 0,
        isEligible: false,
        why: 'no address is free',
      },
    ],
  },
  calls: [
    {
      secondsAgo: 4,
      operation: 'allocateIPs',
      resource: 'eni-0cba2882ccf8a026d',
      outcome: 'failed',
      action: 'AssignPrivateIpAddresses',
      code: 'InsufficientFreeAddressesInSubnet',
      message: 'the subnet has no free address',
      requestId: '5c8cb5d4-3a3b-4a4e-9c1d-0d6a8c0f2b11',
    },
  ],
  next: {
    inSeconds: 26,
    what: 'a subnet has room',
    sooner: ['an address that is freed in its subnets', 'a new subnet that it selects'],
  },
};
