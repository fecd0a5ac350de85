// Draws the scenario of a seed on Alibaba Cloud: seeds whose names begin with `alibaba:`.
import { Random } from '../../src/runtime/random.ts';
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import { replacement, timed } from './draw-azure.ts';
import { callPhases, drawers } from './draw-faults.ts';
import { drawRestrictions } from './draw-restrictions.ts';
import { drawSilence } from './draw-silence.ts';
import { drawWorkloads } from './draw-workloads.ts';
import type {
  AlibabaPlan,
  CloudPlan,
  FaultPlan,
  NodePlan,
  PortCall,
  Scenario,
  ZonePlan,
} from './scenario.ts';

export const alibabaChanges = [
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'AssignPrivateIpAddresses',
  'UnassignPrivateIpAddresses',
] as const;

const reads = [
  'DescribeNetworkInterfaces',
  'DescribeNetworkInterfaces',
  'DescribeInstances',
  'DescribeVSwitches',
  'DescribeVpcs',
  'DescribeSecurityGroups',
  'DescribeInstanceTypes',
] as const;

const portCalls = [
  ...alibabaChanges,
  ...alibabaChanges,
  'DeleteNetworkInterface',
  'DescribeNetworkInterfaces',
  'patch spec',
  'patch status',
  'read node',
  'lease',
] as const satisfies readonly PortCall[];

/** Mostly small types: their nodes need an interface for every few pods. */
const types = ['ecs.g7.large', 'ecs.g7.large', 'ecs.c6.large', 'ecs.g7.xlarge', 'ecs.g6.4xlarge'] as const;

const second = 1000;

export function drawAlibabaScenario(seed: string): Scenario {
  const random = new Random(`simulation-${seed}`);
  const minutes = 36 + random.integer(40);
  const zones = drawZones(random.fork('zones'));
  const faults = random.fork('faults');
  const drawn = [
    ...Array.from({ length: 45 + faults.integer(45) }, () => timed(faults, minutes, oneFault(faults))),
    ...Array.from({ length: 16 + faults.integer(8) }, () => timed(faults, minutes, replacement(faults))),
    ...drawSilence(random.fork('silence'), minutes),
    ...drawRestrictions(random.fork('restrictions'), minutes).filter(
      (fault) => fault.kind !== 'restrict' || fault.what === 'max-allocate',
    ),
  ];
  return {
    seed,
    minutes,
    leastMinutes: 60,
    leastMutations: 120,
    zones,
    nodes: drawNodes(random.fork('nodes'), zones.length),
    flags: drawFlags(random.fork('flags')),
    replicas: random.pick([1, 1, 2, 2, 3]),
    cloud: drawCloud(random.fork('cloud')),
    alibaba: drawTimes(random.fork('alibaba')),
    workloads: drawWorkloads(random.fork('workloads'), minutes),
    faults: drawn.toSorted((a, b) => a.at - b.at),
  };
}

function drawTimes(random: Random): AlibabaPlan {
  const longest = random.pick([3, 10, 30, 60]) * second;
  return {
    attachMs: { min: second, max: longest },
    createMs: { min: 0, max: random.pick([500, 1000, 5000]) },
  };
}

function drawZones(random: Random): readonly ZonePlan[] {
  return Array.from({ length: 1 + random.integer(3) }, (_, index) => ({
    zone: `cn-hangzhou-${'abc'.charAt(index)}`,
    nodeBlock: `10.0.${index}.0/24`,
    podBlocks: Array.from(
      { length: 1 + random.integer(2) },
      (__, subnet) => `10.0.${64 + index * 32 + subnet * 8}.0/${24 - random.integer(2)}`,
    ),
  }));
}

function drawNodes(random: Random, zones: number): readonly NodePlan[] {
  const isLimited = random.pick([0, 0.2, 0.7]);
  return Array.from({ length: 4 + random.integer(12) }, (_, index) => ({
    zone: index % zones,
    type: random.pick(types),
    protocol: 'crd-allocator',
    ipam: {
      preAllocate: 1 + random.integer(9),
      ...(random.chance(0.3) && { minAllocate: random.integer(12) }),
      ...(random.chance(0.2) && { maxAboveWatermark: random.integer(6) }),
      ...(random.chance(isLimited) && { maxAllocate: 8 + random.integer(12) }),
    },
    eni: {},
    alibaba: { vSwitchTags: { purpose: 'pods' } },
  }));
}

/** Windows so small that a few nodes fill them. */
const narrowWindows = ['CreateNetworkInterface', 'AttachNetworkInterface', 'AssignPrivateIpAddresses'];

function drawFlags(random: Random): Scenario['flags'] {
  const lease = random.pick([
    ['15s', '10s', '2s'],
    ['30s', '20s', '10s'],
    ['60s', '40s', '20s'],
  ] as const);
  const most = 3 + random.integer(6);
  return {
    ipam: 'alibabacloud',
    'cluster-name': 'simulation',
    'alibaba-cloud-release-excess-ips': String(random.chance(0.7)),
    'excess-ip-release-delay': `${random.pick([5, 5, 20, 60])}s`,
    'eni-gc-interval': `${random.pick([1, 1, 2])}m`,
    'resync-interval': `${random.pick([1, 2, 4])}m`,
    'leader-election-lease-duration': lease[0],
    'leader-election-renew-deadline': lease[1],
    'leader-election-retry-period': lease[2],
    ...(random.chance(0.3) && {
      'cloud-quota-overrides': narrowWindows.map((action) => `${action}=${most}:1`).join(','),
    }),
  };
}

function drawCloud(random: Random): CloudPlan {
  return {
    reuse: random.pick([0, 0.3, 0.9]),
    listingLagMs: random.pick([0, 1000, 3000]),
    visibilityDelayMs: random.pick([0, 500, 2000]),
    // A minute then has 40 reads of interfaces, or 16.
    limits: random.pick([0.02, 0.05, 1, 1]),
  };
}

const sameOnEveryCloud = [
  'stale-listings',
  'torn-listings',
  'slow-visibility',
  'squeeze',
  'squeeze',
  'restart-agent',
  'watch',
  'watch',
  'api',
  'api',
  'api',
  'api-away',
  'touch-node',
  'clock-jump',
  'lease',
  'restart-controller',
  'zone-loss',
  'scale-down',
  'foreign',
  'foreign',
  'foreign',
  'stall',
  'stall',
  'snatch',
  'outlive',
  'straggle',
] as const satisfies readonly (keyof typeof drawers)[];

function oneFault(random: Random): FaultPlan {
  const roll = random.next();
  if (roll < 0.35) return cloudFault(random);
  if (roll < 0.5) return interruption(random);
  if (roll < 0.58) return trouble(random);
  if (roll < 0.62) return { kind: 'terminate', node: random.next(), during: random.pick(alibabaChanges) };
  return drawers[random.pick(sameOnEveryCloud)][1](random);
}

function interruption(random: Random): FaultPlan {
  const call = random.pick(portCalls);
  if (random.chance(0.25)) {
    const phase = random.pick(['once it is sent', 'before its answer is taken in'] as const);
    return { kind: 'freeze', call, phase, ms: (1 + random.integer(60)) * second };
  }
  return {
    kind: 'kill',
    call,
    phase: random.pick(callPhases),
    nth: random.integer(3),
    restartAfter: (1 + random.integer(20)) * second,
  };
}

/** All calls of a kind fail for a time, or attachments take long: some never end for anyone who waits. */
function trouble(random: Random): FaultPlan {
  const roll = random.next();
  const ms = (20 + random.integer(300)) * second;
  if (roll < 0.4) return { kind: 'slow-operations', ms: (60 + random.integer(540)) * second, for: ms };
  if (roll < 0.7) {
    const action = random.pick(['*', ...alibabaChanges]);
    return { kind: 'throttle-storm', action, rate: 0.3 + 0.7 * random.next(), for: ms };
  }
  const [code, status] = random.pick([
    ['Forbidden.RAM', 403],
    ['InternalError', 500],
    ['ServiceUnavailable', 503],
  ] as const);
  return { kind: 'refusals', action: random.pick(['*', ...alibabaChanges]), code, status, for: ms };
}

function cloudFault(random: Random): FaultPlan {
  const action = random.chance(0.75) ? random.pick(alibabaChanges) : random.pick(reads);
  return {
    kind: 'cloud',
    action,
    count: 1 + random.integer(3),
    rate: random.pick([1, 1, 0.5]),
    fault: faultOf(random, action),
  };
}

/** By action: errors with which the cloud refuses a valid request. */
const refusals: Readonly<Record<string, readonly string[]>> = {
  CreateNetworkInterface: [
    'InvalidVSwitchId.IpNotEnough',
    'QuotaExceed.NetworkInterface',
    'IdempotentProcessing',
  ],
  AttachNetworkInterface: [
    'InvalidOperation.InvalidEniState',
    'OperationConflict',
    'EniPerInstanceLimitExceeded',
    'InvalidEniId.NotFound',
  ],
  AssignPrivateIpAddresses: [
    'InvalidVSwitchId.IpNotEnough',
    'InvalidOperation.InvalidEniState',
    'InvalidOperation.Ipv4CountExceeded',
    'IdempotentProcessing',
    'OperationConflict',
  ],
  UnassignPrivateIpAddresses: ['InvalidOperation.InvalidEniState', 'OperationConflict'],
};

function faultOf(random: Random, action: string): CloudFault {
  const roll = random.next();
  const message = 'by the simulation';
  // The interface is available again.
  if (action === 'AttachNetworkInterface' && roll < 0.3) return { kind: 'failed', code: '', message };
  if (roll < 0.4) {
    const code = random.pick(['InternalError', 'ServiceUnavailable', ...(refusals[action] ?? [])]);
    const status = code === 'InternalError' ? 500 : code === 'ServiceUnavailable' ? 503 : 403;
    return { kind: 'error', code, status, message };
  }
  if (roll < 0.5) return { kind: 'throttle' };
  if (roll < 0.62) return { kind: 'slow', ms: random.integer(20) * second };
  if (roll < 0.93) {
    return {
      kind: 'lost',
      effect: random.pick(['before', 'after', 'late']),
      connection: random.pick(['drop', 'hang']),
      delayMs: random.integer(20) * second,
    };
  }
  return {
    kind: 'garbled',
    form: random.pick(['truncated', 'empty', 'idsMissing', 'unknownEnum', 'html502']),
  };
}
