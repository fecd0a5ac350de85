// Draws the scenario of a seed. A seed draws the same scenario as long as this file and the files it draws from do not
// change.
import { Random } from '../../src/runtime/random.ts';
import { drawReleaseCongestion, drawFaults } from './draw-faults.ts';
import { drawHostile } from './draw-hostile.ts';
import { withIpv6 } from './draw-ipv6.ts';
import { withPodVpc } from './draw-pod-vpc.ts';
import { drawRestrictions } from './draw-restrictions.ts';
import { drawSilence } from './draw-silence.ts';
import { drawWorkloads } from './draw-workloads.ts';
import { publicAddressTags } from './topology.ts';
import type { CloudPlan, NodePlan, Scenario, TimedFault, ZonePlan } from './scenario.ts';

/** Mostly small types: their nodes need an interface for every few pods. */
const types = [
  't3.small',
  't3.small',
  't3.medium',
  't3.medium',
  'm5.large',
  'c5.large',
  'm5.xlarge',
  'm4.large',
] as const;

export function drawScenario(seed: string): Scenario {
  const random = new Random(`simulation-${seed}`);
  const scenario = withIpv6(drawIpv4Scenario(seed, random), random.fork('ipv6'));
  return withPodVpc(scenario, random.fork('pod VPC'));
}

function drawIpv4Scenario(seed: string, random: Random): Scenario {
  // Convergence afterwards extends it to an hour at least.
  const minutes = Math.round(36 + 160 * random.next() ** 6);
  const zones = drawZones(random.fork('zones'));
  const { nodes, publicAddresses } = withStaticAddresses(
    drawNodes(random.fork('nodes'), zones.length),
    random.fork('public addresses'),
  );
  const isCongested = random.fork('theme').chance(0.1);
  const flags = drawFlags(random.fork('flags'));
  const common = {
    seed,
    minutes,
    minMinutes: 60,
    minMutations: 200,
    zones,
    nodes,
    ...(random.fork('provider IDs').chance(0.2) && { withoutProviderIds: true }),
    replicas: random.pick([1, 1, 1, 2, 2, 2, 2, 3]),
    workloads: drawWorkloads(random.fork('workloads'), minutes),
  };
  const churn = drawChurn(random.fork('churn'), { minutes, flags, isCongested });
  const cloud = { ...drawCloud(random.fork('cloud')), ...publicAddresses };
  const faults = random.fork('faults');
  const others = [...churn, ...drawHostile(random.fork('hostile'), minutes)];
  if (!isCongested) {
    const restrictions = drawRestrictions(random.fork('restrictions'), minutes);
    const silence = drawSilence(random.fork('silence'), minutes);
    return {
      ...common,
      flags,
      cloud,
      faults: inOrder([...drawFaults(faults, minutes), ...others, ...restrictions, ...silence]),
    };
  }
  return {
    ...common,
    flags: {
      ...flags,
      'excess-ip-release-delay': '5s',
      'parallel-alloc-workers': '2',
      'cloud-quota-overrides': 'UnassignPrivateIpAddresses=1:0.05',
    },
    cloud: { ...cloud, limits: Math.max(1, cloud.limits) },
    faults: inOrder([...drawReleaseCongestion(faults, minutes), ...others]),
    maxWait: 60_000,
  };
}

interface ChurnContext {
  readonly minutes: number;
  readonly isCongested: boolean;
  readonly flags: Scenario['flags'];
}

function inOrder(faults: readonly TimedFault[]): readonly TimedFault[] {
  return faults.toSorted((a, b) => a.at - b.at);
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
  const [fromFirst, minimum] = [random.chance(0.75), random.chance(0.3)];
  const maxPreAllocate = random.pick([5, 9, 9]);
  return Array.from({ length: count }, (_, index) => ({
    zone: index % zones,
    type: random.pick(types),
    protocol: random.chance(multiPool) ? 'multi-pool' : 'crd-allocator',
    ipam: {
      preAllocate: 1 + random.integer(maxPreAllocate),
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

/** In one of eight seeds, half of the nodes ask for a public address, and perhaps more than there are. */
function withStaticAddresses(
  nodes: readonly NodePlan[],
  random: Random,
): { readonly nodes: readonly NodePlan[]; readonly publicAddresses: Pick<CloudPlan, 'publicAddresses'> } {
  if (!random.chance(0.125)) return { nodes, publicAddresses: {} };
  const asking = nodes.map((node) =>
    random.chance(0.5) ? { ...node, ipam: { ...node.ipam, staticIpTags: publicAddressTags } } : node,
  );
  return { nodes: asking, publicAddresses: { publicAddresses: random.pick([2, 3 * nodes.length]) } };
}

function drawFlags(random: Random): Scenario['flags'] {
  // With the default lease, a third of all events are renewals.
  const lease = random.chance(0.1)
    ? (['15s', '10s', '2s'] as const)
    : random.pick([
        ['30s', '20s', '10s'],
        ['60s', '40s', '20s'],
        ['90s', '60s', '30s'],
      ] as const);
  return {
    'cluster-name': 'simulation',
    'aws-release-excess-ips': String(random.chance(0.97)),
    'aws-enable-prefix-delegation': String(random.chance(0.3)),
    'excess-ip-release-delay': `${random.pick([5, 5, 20, 60])}s`,
    'idle-interface-delay': `${random.pick([30, 60, 120])}s`,
    'eni-gc-interval': `${random.pick([1, 1, 2])}m`,
    'resync-interval': `${random.pick([1, 2, 4])}m`,
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

/** Longer than EC2 takes to show an instance as running, in ms. */
const untilRunning = 25_000;

/**
 * Constant node replacement; each new node needs an interface or two. Seeds with prefixes get more of it, because their
 * pods change the cloud less.
 */
function drawChurn(random: Random, { minutes, flags, isCongested }: ChurnContext): readonly TimedFault[] {
  const count = 18 + random.integer(6) + (flags['aws-enable-prefix-delegation'] === 'true' ? 4 : 0);
  const [start, end] = [90_000, (minutes - 2) * 60_000];
  return Array.from({ length: count }, () => ({
    at: Math.round(start + random.next() * (end - start)),
    kind: 'replace-node',
    node: random.next(),
    sameName: random.chance(0.5),
    gap: random.integer(20) * 1000,
    boot: isCongested || random.chance(0.7) ? untilRunning : random.integer(untilRunning),
  }));
}
