// Draws the scenario of a seed on Alibaba Cloud: seeds whose names begin with `alibaba:`.
import type { Random } from '../../src/runtime/random.ts';
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import { drawers, garbledAnswer, lostAnswer } from './draw-faults.ts';
import { drawInterruption, drawLease, drawNodes, drawOnCloud, drawWatermarks } from './draw-on-cloud.ts';
import type { AlibabaPlan, CloudPlan, FaultPlan, PortCall, Scenario } from './scenario.ts';

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
  return drawOnCloud(seed, {
    minMutations: 120,
    faults: { min: 45, more: 45 },
    replacements: { min: 16, more: 8 },
    fault: drawFault,
    zone: (random, index) => ({
      zone: `cn-hangzhou-${'abc'.charAt(index)}`,
      nodeBlock: `10.0.${index}.0/24`,
      podBlocks: Array.from(
        { length: 1 + random.integer(2) },
        (_, subnet) => `10.0.${64 + index * 32 + subnet * 8}.0/${24 - random.integer(2)}`,
      ),
    }),
    nodes: (random, zones) => {
      const isLimited = random.pick([0, 0.2, 0.7]);
      return drawNodes(random, zones, () => ({
        type: random.pick(types),
        protocol: 'crd-allocator',
        ipam: drawWatermarks(random, isLimited),
        eni: {},
        alibaba: { vSwitchTags: { purpose: 'pods' } },
      }));
    },
    flags: drawFlags,
    cloud: (random) => ({
      cloud: drawCloud(random.fork('cloud')),
      alibaba: drawTimes(random.fork('alibaba')),
    }),
  });
}

function drawTimes(random: Random): AlibabaPlan {
  const max = random.pick([3, 10, 30, 60]) * second;
  return {
    attachMs: { min: second, max },
    createMs: { min: 0, max: random.pick([500, 1000, 5000]) },
  };
}

/** Windows so small that a few nodes fill them. */
const narrowWindows = ['CreateNetworkInterface', 'AttachNetworkInterface', 'AssignPrivateIpAddresses'];

function drawFlags(random: Random): Scenario['flags'] {
  const lease = drawLease(random);
  const max = 3 + random.integer(6);
  return {
    ipam: 'alibabacloud',
    'cluster-name': 'simulation',
    'alibaba-cloud-release-excess-ips': String(random.chance(0.7)),
    'excess-ip-release-delay': `${random.pick([5, 5, 20, 60])}s`,
    'eni-gc-interval': `${random.pick([1, 1, 2])}m`,
    'resync-interval': `${random.pick([1, 2, 4])}m`,
    ...lease,
    ...(random.chance(0.3) && {
      'cloud-quota-overrides': narrowWindows.map((action) => `${action}=${max}:1`).join(','),
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

function drawFault(random: Random): FaultPlan {
  const roll = random.next();
  if (roll < 0.35) return cloudFault(random);
  if (roll < 0.5) return drawInterruption(random, portCalls);
  if (roll < 0.58) return trouble(random);
  if (roll < 0.62) return { kind: 'terminate', node: random.next(), during: random.pick(alibabaChanges) };
  return drawers[random.pick(sameOnEveryCloud)][1](random);
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
  return roll < 0.93 ? lostAnswer(random, 20) : garbledAnswer(random);
}
