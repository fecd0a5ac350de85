// What a seed stands for. The same seed draws the same scenario for as long as this file and what it draws from stay.
import { Random } from '../../src/scheduling/random.ts';
import type { Workload } from '../../src/simulator/workload/workload.ts';
import { drawCrowding, drawFaults } from './draw-faults.ts';
import type { CloudPlan, NodePlan, Scenario, ZonePlan } from './scenario.ts';

const types = [
  't3.medium',
  'm5.large',
  'm5.large',
  'c5.large',
  'm5.xlarge',
  'm6i.large',
  'm4.large',
] as const;

export function drawScenario(seed: string): Scenario {
  const random = new Random(`simulation-${seed}`);
  const minutes = Math.round(60 + 180 * random.next() ** 6);
  const zones = drawZones(random.fork('zones'));
  const nodes = drawNodes(random.fork('nodes'), zones.length);
  const isCrowded = random.fork('theme').chance(0.1);
  const flags = drawFlags(random.fork('flags'));
  const common = {
    seed,
    minutes,
    leastMutations: 200,
    zones,
    nodes,
    replicas: random.pick([1, 2, 2, 3]),
    workloads: drawWorkloads(random.fork('workloads'), { nodes: nodes.length, minutes, flags }),
  };
  const cloud = drawCloud(random.fork('cloud'));
  const faults = random.fork('faults');
  if (!isCrowded) return { ...common, flags, cloud, faults: drawFaults(faults, minutes) };
  return {
    ...common,
    flags: {
      ...flags,
      'excess-ip-release-delay': '5s',
      'parallel-alloc-workers': '2',
      'cloud-quota-overrides': 'UnassignPrivateIpAddresses=1:0.05',
    },
    cloud: { ...cloud, limits: Math.max(1, cloud.limits) },
    faults: drawCrowding(faults, minutes),
    longestWait: 60_000,
  };
}

interface Surroundings {
  readonly nodes: number;
  readonly minutes: number;
  readonly flags: Scenario['flags'];
}

function drawZones(random: Random): readonly ZonePlan[] {
  const count = 1 + random.integer(3);
  return Array.from({ length: count }, (_, index) => {
    const podSubnets = 1 + random.integer(2);
    return {
      zone: `us-east-1${'abc'.charAt(index)}`,
      nodeBlock: `10.0.${index}.0/24`,
      podBlocks: Array.from(
        { length: podSubnets },
        (_, subnet) => `10.0.${64 + index * 32 + subnet * 8}.0/${24 - random.integer(2)}`,
      ),
    };
  });
}

function drawNodes(random: Random, zones: number): readonly NodePlan[] {
  const count = 5 + Math.floor(36 * random.next() ** 5);
  const multiPool = random.pick([0, 0.3, 0.5, 0.7, 1]);
  const [fromFirst, minimum] = [random.chance(0.3), random.chance(0.3)];
  return Array.from({ length: count }, (_, index) => ({
    zone: index % zones,
    type: random.pick(types),
    protocol: random.chance(multiPool) ? 'multi-pool' : 'crd-allocator',
    ipam: {
      preAllocate: 1 + random.integer(5),
      ...(minimum && { minAllocate: random.integer(12) }),
      ...(random.chance(0.2) && { maxAboveWatermark: random.integer(6) }),
      ...(random.chance(0.2) && { maxAllocate: 8 + random.integer(12) }),
    },
    eni: {
      subnetTags: { purpose: 'pods' },
      ...(fromFirst && { firstInterfaceIndex: 1 }),
      ...(random.chance(0.1) && { deleteOnTermination: false }),
      ...(random.chance(0.4) && { disablePrefixDelegation: true }),
    },
  }));
}

function drawFlags(random: Random): Scenario['flags'] {
  const lease = random.pick([
    ['15s', '10s', '5s'],
    ['30s', '20s', '10s'],
    ['45s', '30s', '15s'],
  ] as const);
  return {
    'cluster-name': 'simulation',
    'aws-release-excess-ips': String(random.chance(0.97)),
    'aws-enable-prefix-delegation': String(random.chance(0.3)),
    'excess-ip-release-delay': `${random.pick([5, 5, 20, 60])}s`,
    'idle-interface-delay': `${random.pick([60, 120, 240])}s`,
    'eni-gc-interval': `${random.pick([1, 2, 5])}m`,
    'resync-interval': `${random.pick([1, 2, 3])}m`,
    'leader-election-lease-duration': lease[0],
    'leader-election-renew-deadline': lease[1],
    'leader-election-retry-period': lease[2],
  };
}

function drawCloud(random: Random): CloudPlan {
  return {
    reuse: random.pick([0, 0.3, 0.9]),
    listingLagMs: random.pick([0, 1000, 3000]),
    visibilityDelayMs: random.pick([0, 500, 2000]),
    limits: random.pick([0.2, 1, 1, 5]),
  };
}

/**
 * Pods that come and go one by one cost a call each way; those that come to one node together need new interfaces, which
 * stay empty afterwards.
 */
function drawWorkloads(random: Random, { nodes, minutes, flags }: Surroundings): readonly Workload[] {
  const end = minutes * 60_000;
  // Where addresses come in blocks, or stay, a call serves more pods.
  const blocks = flags['aws-enable-prefix-delegation'] === 'true' ? 2 : 1;
  const stay = flags['aws-release-excess-ips'] === 'true' ? 1 : 1.5;
  const slot = end / 5;
  const bursts = Array.from({ length: 4 }, (_, index): Workload => {
    const at = Math.round(60_000 + (index + 0.5 * random.next()) * slot);
    return {
      kind: 'burst',
      name: `burst-${index}`,
      at,
      pods: 10 + random.integer(14),
      over: random.pick([1000, 20_000, 60_000]),
      lifetime: Math.round((0.2 + 0.4 * random.next()) * slot),
      placement: random.pick(['pack', 'pack', 'random']),
    };
  });
  const steady: Workload = {
    kind: 'steady',
    name: 'steady',
    arrivalsPerMinute: ((100 + random.integer(60)) * blocks * stay) / minutes,
    meanLifetime: 200_000 + random.integer(400_000),
    placement: 'random',
  };
  const deploy: Workload = {
    kind: 'rolling-deploy',
    name: 'deploy',
    replicas: 5 + random.integer(nodes),
    every: end / (2 + random.integer(2)),
    surge: 1 + random.integer(5),
    settle: 20_000,
  };
  return [steady, ...bursts, ...(random.chance(0.4) ? [deploy] : [])];
}
