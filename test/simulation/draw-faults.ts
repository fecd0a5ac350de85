// Draws the faults of a seed and their times.
import type { Random } from '../../src/runtime/random.ts';
import type { Fault as CloudFault, Garbling } from '../../src/simulator/cloud/faults.ts';
import type {
  ApiEffect,
  OutageScope,
  CallPhase,
  FaultKind,
  FaultPlan,
  InHandshake,
  ExternalChange,
  OmittedPart,
  PortCall,
  StalledState,
  TimedFault,
  WatchEffect,
} from './scenario.ts';

export const mutations = [
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'AssignPrivateIpAddresses',
  'UnassignPrivateIpAddresses',
  'ModifyNetworkInterfaceAttribute',
  'DetachNetworkInterface',
  'DeleteNetworkInterface',
] as const;

const reads = [
  'DescribeNetworkInterfaces',
  'DescribeInstances',
  'DescribeSubnets',
  'DescribeInstanceTypes',
  'DescribeSecurityGroups',
] as const;

/** Calls at which a fault kills or freezes a controller, or changes the cluster. */
export const portCalls = [
  ...mutations,
  'DescribeNetworkInterfaces',
  'patch spec',
  'patch status',
  'read node',
  'lease',
] as const satisfies readonly PortCall[];

export const callPhases = [
  'before it is sent',
  'once it is sent',
  'before its answer is taken in',
] as const satisfies readonly CallPhase[];

/** By action: errors with which the cloud refuses a valid request. */
const refusals: Readonly<Record<string, readonly string[]>> = {
  CreateNetworkInterface: [
    'InsufficientFreeAddressesInSubnet',
    'NetworkInterfaceLimitExceeded',
    'InvalidParameterValue',
  ],
  AttachNetworkInterface: ['IncorrectState', 'AttachmentLimitExceeded', 'InvalidNetworkInterfaceID.NotFound'],
  AssignPrivateIpAddresses: [
    'InsufficientFreeAddressesInSubnet',
    'PrivateIpAddressLimitExceeded',
    'InvalidNetworkInterfaceID.NotFound',
    'InsufficientCidrBlocks',
  ],
  UnassignPrivateIpAddresses: [
    'InvalidParameterValue',
    'InvalidNetworkInterfaceID.NotFound',
    'OperationNotPermitted',
  ],
  DetachNetworkInterface: ['IncorrectState', 'OperationNotPermitted'],
  DeleteNetworkInterface: ['InvalidParameterValue', 'InvalidNetworkInterface.InUse'],
};

const generalErrors = ['InternalError', 'UnauthorizedOperation', 'Unavailable'] as const;
const garblings: readonly Garbling[] = ['truncated', 'empty', 'idsMissing', 'unknownEnum', 'html502'];

type Drawer = (random: Random) => FaultPlan;

const second = 1000;

/** Drawn only where nodes have IPv6. */
type DrawnWithIpv6 = 'ipv6-by-hand' | 'member-of-others';

function action(random: Random): string {
  return random.chance(0.75) ? random.pick(mutations) : random.pick(reads);
}

function cloudFault(random: Random, name: string): CloudFault {
  const roll = random.next();
  if (roll < 0.3) {
    const code = random.pick([...generalErrors, ...(refusals[name] ?? [])]);
    const status = code === 'InternalError' ? 500 : code === 'Unavailable' ? 503 : 400;
    return { kind: 'error', code, status, message: 'by the simulation' };
  }
  if (roll < 0.4) return { kind: 'throttle' };
  if (roll < 0.55) return { kind: 'slow', ms: random.integer(20) * second };
  return roll < 0.92 ? lostAnswer(random, 20) : garbledAnswer(random);
}

/** `seconds`: the effect is later by less than so many. */
export function lostAnswer(random: Random, seconds: number): CloudFault {
  return {
    kind: 'lost',
    effect: random.pick(['before', 'after', 'late']),
    connection: random.pick(['drop', 'hang']),
    delayMs: random.integer(seconds) * second,
  };
}

export function garbledAnswer(random: Random): CloudFault {
  return { kind: 'garbled', form: random.pick(garblings) };
}

/** Calls during which a handshake of their node can be open. */
const callsInHandshakes = ['patch spec', 'patch status', 'UnassignPrivateIpAddresses'] as const;
/** `refused` appears twice because agents rarely refuse. */
const handshakes = ['marked', 'ready', 'refused', 'refused', 'released', 'hidden'] as const;

function inHandshake(random: Random): InHandshake {
  return { handshake: random.pick(handshakes), phase: random.pick(callPhases) };
}

function portCall(random: Random): PortCall {
  return random.pick(portCalls);
}

/** An agent never gets a conflict without a newer version. */
const apiRequests: Readonly<Record<'ours' | 'any', readonly (readonly [method: string, path: string])[]>> = {
  ours: [
    ['PATCH', 'ciliumnodes'],
    ['PATCH', 'ciliumnodes/[^/]+/status'],
    ['PUT', 'leases'],
  ],
  any: [
    ['PATCH', 'ciliumnodes'],
    ['PATCH', 'ciliumnodes'],
    ['PATCH', 'ciliumnodes/[^/]+/status'],
    ['PUT', 'ciliumnodes'],
    ['GET', 'ciliumnodes'],
    ['PUT', 'leases'],
    ['PATCH', 'pods'],
  ],
};

/**
 * Consecutive writes of an agent that fail. An agent retries at its refresh, every minute, and writes within 15 s of a
 * change. The protocol of agents that are not asked cannot tolerate an agent that fails to report a used address for
 * longer than these 75 s.
 */
const maxFailedWrites = 1;

/** Drawn in files of their own, or only in scenarios that are written by hand. */
type DrawnElsewhere =
  | 'refusals'
  | 'slow-operations'
  | 'hostile'
  | 'restrict'
  | 'empty-list'
  | 'silence'
  | 'forget';

/** The weight of each kind of fault, and how to draw it. */
export const drawers: Readonly<
  Record<Exclude<FaultKind, DrawnElsewhere | DrawnWithIpv6>, readonly [weight: number, draw: Drawer]>
> = {
  cloud: [
    30,
    (random) => {
      const name = action(random);
      return {
        kind: 'cloud',
        action: name,
        count: 1 + random.integer(3),
        rate: random.pick([1, 1, 0.5]),
        fault: cloudFault(random, name),
      };
    },
  ],
  'throttle-storm': [
    2,
    (random) => ({
      kind: 'throttle-storm',
      action: random.pick(['*', ...mutations]),
      rate: 0.3 + 0.7 * random.next(),
      for: (10 + random.integer(50)) * second,
    }),
  ],
  'stale-listings': [
    2,
    (random) => ({
      kind: 'stale-listings',
      lag: (2 + random.integer(10)) * second,
      for: (30 + random.integer(120)) * second,
    }),
  ],
  'torn-listings': [
    1,
    (random) => ({
      kind: 'torn-listings',
      share: 0.2 + 0.6 * random.next(),
      for: (30 + random.integer(120)) * second,
    }),
  ],
  'slow-visibility': [
    1,
    (random) => ({
      kind: 'slow-visibility',
      ms: (1 + random.integer(10)) * second,
      for: (30 + random.integer(120)) * second,
    }),
  ],
  omission: [
    6,
    (random) => ({
      kind: 'omission',
      what: random.pick<OmittedPart>(['interface', 'addresses']),
      from: random.pick(['next reading', 'next reading', 'next leader']),
      node: random.next(),
      for: (5 + random.integer(20)) * second,
    }),
  ],
  blind: [
    1.5,
    (random) => {
      const what = random.pick<OutageScope>([
        'region',
        'interfaces',
        'primaries',
        'instances',
        'instances',
        'secondaries',
      ]);
      // A long outage: the repair of a role takes longer than a consistency window. The brake counts what went missing
      // within ten minutes.
      const isForLong = what !== 'secondaries' && random.chance(0.2);
      return {
        kind: 'blind',
        what,
        share: 0.5,
        for: (isForLong ? 3600 : 60 + random.integer(500)) * second,
      };
    },
  ],
  'forgotten-zone': [
    0.2,
    (random) => ({
      kind: 'forgotten-zone',
      zone: random.next(),
      for: (120 + random.integer(600)) * second,
    }),
  ],
  'scale-down': [
    0.2,
    (random) => ({ kind: 'scale-down', share: 0.6, for: (60 + random.integer(300)) * second }),
  ],
  foreign: [
    5,
    (random) => ({
      kind: 'foreign',
      deed: random.pick<ExternalChange>([
        'unassign-free',
        'unassign-free',
        'unassign-used',
        'assign',
        'detach',
        'leave-loose',
        'delete-loose',
      ]),
      node: random.next(),
      pick: random.next(),
    }),
  ],
  terminate: [2, (random) => ({ kind: 'terminate', node: random.next(), during: random.pick(mutations) })],
  'replace-node': [
    2,
    (random) => ({
      kind: 'replace-node',
      node: random.next(),
      sameName: random.chance(0.5),
      gap: random.integer(60) * second,
    }),
  ],
  'zone-loss': [
    0.3,
    (random) => ({ kind: 'zone-loss', zone: random.next(), for: (60 + random.integer(240)) * second }),
  ],
  squeeze: [
    2,
    (random) => ({
      kind: 'squeeze',
      subnet: random.next(),
      left: random.integer(12),
      for: (30 + random.integer(300)) * second,
    }),
  ],
  fragment: [
    1,
    (random) => ({
      kind: 'fragment',
      subnet: random.next(),
      whole: random.integer(3),
      for: (30 + random.integer(300)) * second,
    }),
  ],
  'restart-agent': [
    4,
    (random) => ({
      kind: 'restart-agent',
      node: random.next(),
      ...(random.chance(0.5) && inHandshake(random)),
    }),
  ],
  'change-agent': [
    2,
    (random) => ({
      kind: 'change-agent',
      node: random.next(),
      protocol: random.chance(0.7) ? 'multi-pool' : 'crd-allocator',
      ...(random.chance(0.5) && inHandshake(random)),
    }),
  ],
  watch: [
    5,
    (random) => ({
      kind: 'watch',
      effect: random.pick<WatchEffect>(['delay', 'delay', 'duplicate', 'cut', 'close', 'expire']),
      times: 1 + random.integer(20),
      // Longer than the quarantine of an address.
      ms: random.integer(random.chance(0.3) ? 150 : 20) * second,
    }),
  ],
  api: [
    8,
    (random) => {
      const effect = random.pick<ApiEffect>([
        'conflict',
        'internal-error',
        'too-many',
        'drop-before',
        'drop-after',
        'delay',
      ]);
      const [method, path] = random.pick(apiRequests[effect === 'conflict' ? 'ours' : 'any']);
      const isByAgent = method === 'PUT' && path === 'ciliumnodes';
      return {
        kind: 'api',
        effect,
        method,
        path,
        times: Math.min(1 + random.integer(4), isByAgent ? maxFailedWrites : Infinity),
        // A new leader expects writes of its predecessor for 20 s.
        ms: random.integer(20) * second,
      };
    },
  ],
  'api-away': [1, (random) => ({ kind: 'api-away', for: (1 + random.integer(40)) * second })],
  grab: [
    5,
    (random) => ({
      kind: 'grab',
      nth: random.integer(2),
      pods: 3 + random.integer(8),
      lag: random.integer(8) * second,
      deaf: random.chance(0.5),
    }),
  ],
  snatch: [3, (random) => ({ kind: 'snatch', nth: random.integer(2), pods: 1 + random.integer(3) })],
  convert: [
    2,
    (random) => ({
      kind: 'convert',
      nth: random.integer(2),
      pods: 3 + random.integer(8),
      hold: (15 + random.integer(45)) * second,
    }),
  ],
  stall: [
    5,
    (random) => ({
      kind: 'stall',
      nth: random.integer(3),
      state: random.pick<StalledState>(['marked', 'refused', 'refused', 'refused', 'released']),
      call: random.pick(['patch spec', 'patch spec', 'patch status']),
      phase: random.pick(callPhases),
      restartAfter: (1 + random.integer(20)) * second,
    }),
  ],
  outlive: [
    2,
    (random) => ({
      kind: 'outlive',
      nth: random.integer(2),
      pods: 3 + random.integer(8),
      ms: (45 + random.integer(60)) * second,
    }),
  ],
  straggle: [
    2,
    (random) => ({
      kind: 'straggle',
      nth: random.integer(4),
      ms: random.integer(15) * second,
      isHeardLate: random.chance(0.5),
      restartAfter: (1 + random.integer(20)) * second,
    }),
  ],
  'touch-node': [
    3,
    (random) => ({
      kind: 'touch-node',
      node: random.next(),
      during: random.pick(['patch spec', 'patch status']),
      times: 1 + random.integer(3),
    }),
  ],
  kill: [
    11,
    (random) => ({
      kind: 'kill',
      phase: random.pick(callPhases),
      nth: random.integer(3),
      restartAfter: (1 + random.integer(20)) * second,
      ...(random.chance(0.3)
        ? { call: random.pick(callsInHandshakes), handshake: random.pick(handshakes) }
        : { call: portCall(random) }),
    }),
  ],
  freeze: [
    4,
    (random) => ({
      kind: 'freeze',
      call: portCall(random),
      phase: random.pick(['once it is sent', 'before its answer is taken in']),
      ms: (1 + random.integer(60)) * second,
    }),
  ],
  'clock-jump': [2, (random) => ({ kind: 'clock-jump', ms: Math.round((random.next() - 0.5) * 7_200_000) })],
  lease: [1.5, (random) => ({ kind: 'lease', deed: random.pick(['delete', 'steal']) })],
  'restart-controller': [
    1,
    (random) => ({ kind: 'restart-controller', restartAfter: (1 + random.integer(10)) * second }),
  ],
};

/**
 * Throttles and slows down only calls that release something. A node that needs an address must not wait behind them.
 */
export function drawReleaseCongestion(random: Random, minutes: number): readonly TimedFault[] {
  const releasing = ['UnassignPrivateIpAddresses', 'DetachNetworkInterface', 'DeleteNetworkInterface'];
  return drawn(random, minutes, () => {
    const name = random.pick(releasing);
    if (random.chance(0.5))
      return { kind: 'throttle-storm', action: name, rate: 1, for: (20 + random.integer(40)) * second };
    const fault: CloudFault = random.chance(0.5)
      ? { kind: 'throttle' }
      : { kind: 'slow', ms: random.integer(4) * second };
    return { kind: 'cloud', action: name, count: 1 + random.integer(20), rate: 1, fault };
  });
}

/** The faults of a seed, in order of time; none in the first and last minutes. */
export function drawFaults(random: Random, minutes: number): readonly TimedFault[] {
  // Each seed has its own mix: some kinds often, some never.
  const mix = Object.values(drawers).map(
    ([weight, draw]) => [weight * random.pick([0, 0.5, 1, 1, 2, 4]), draw] as const,
  );
  const total = mix.reduce((sum, [weight]) => sum + weight, 0);
  const one = (): FaultPlan => {
    let roll = random.next() * total;
    const found = mix.find(([weight]) => (roll -= weight) < 0);
    return (found ?? drawers.cloud)[1](random);
  };
  return drawn(random, minutes, one);
}

function drawn(random: Random, minutes: number, one: () => FaultPlan): readonly TimedFault[] {
  const end = minutes * 60 * second;
  const start = 90 * second;
  const count = 52 + Math.floor(40 * random.next() ** 2);
  return Array.from({ length: count }, () => ({
    at: Math.round(start + random.next() * (end - start)),
    ...one(),
  })).toSorted((a, b) => a.at - b.at);
}
