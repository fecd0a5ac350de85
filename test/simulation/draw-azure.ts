// Draws the scenario of a seed on Azure: seeds whose names begin with `azure:`. Nodes only grow there.
import { Random } from '../../src/runtime/random.ts';
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import { callPhases, drawers } from './draw-faults.ts';
import { drawRestrictions } from './draw-restrictions.ts';
import { drawSilence } from './draw-silence.ts';
import { drawWorkloads } from './draw-workloads.ts';
import type { AzurePlan, FaultPlan, NodePlan, Scenario, TimedFault, ZonePlan } from './scenario.ts';

export const azureChanges = ['VirtualMachineScaleSetVMs.Update', 'NetworkInterfaces.CreateOrUpdate'] as const;

export const azureReads = [
  'VirtualMachineScaleSetVMs.Get',
  'VirtualMachines.Get',
  'NetworkInterfaces.Get',
  'NetworkInterfaces.List',
  'NetworkInterfaces.ListVirtualMachineScaleSetNetworkInterfaces',
  'NetworkInterfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
  'VirtualMachineScaleSets.Get',
  'Subnets.Get',
  'Operations.Get',
] as const;

/** Calls at which a fault kills or freezes a controller, or changes the cluster, as the provider names them. */
export const azurePortCalls = [
  'VirtualMachineScaleSetVMs.Update',
  'Interfaces.CreateOrUpdate',
  'VirtualMachineScaleSetVMs.Get',
  'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
  'Operations.Get',
  'patch spec',
  'patch status',
  'read node',
  'lease',
] as const;

const second = 1000;

export function drawAzureScenario(seed: string): Scenario {
  const random = new Random(`simulation-${seed}`);
  const minutes = 36 + random.integer(40);
  const zones = drawZones(random.fork('zones'));
  const faults = random.fork('faults');
  const drawn = [
    ...Array.from({ length: 40 + faults.integer(50) }, () => timed(faults, minutes, oneFault(faults))),
    ...Array.from({ length: 12 + faults.integer(8) }, () => timed(faults, minutes, replacement(faults))),
    ...drawSilence(random.fork('silence'), minutes),
    ...drawRestrictions(random.fork('restrictions'), minutes).filter(
      (fault) => fault.kind !== 'restrict' || fault.what === 'max-allocate',
    ),
  ];
  return {
    seed,
    minutes,
    leastMinutes: 60,
    leastMutations: 60,
    zones,
    nodes: drawNodes(random.fork('nodes'), zones.length),
    flags: drawFlags(random.fork('flags')),
    replicas: random.pick([1, 1, 2, 2, 3]),
    cloud: {
      reuse: random.pick([0, 0.3, 0.9]),
      listingLagMs: random.pick([0, 1000, 3000]),
      visibilityDelayMs: 0,
      limits: random.pick([0.3, 1, 1, 5]),
    },
    azure: drawAzure(random.fork('azure'), zones.length),
    workloads: drawWorkloads(random.fork('workloads'), minutes),
    faults: drawn.toSorted((a, b) => a.at - b.at),
  };
}

function drawAzure(random: Random, zones: number): AzurePlan {
  const longest = random.pick([5, 30, 60, 90]) * second;
  return {
    modes: Array.from({ length: zones }, () => (random.chance(0.7) ? 'Uniform' : 'Flexible')),
    operationMs: { min: second, max: longest },
    headers: random.pick(['asyncOperation', 'location', 'both']),
    retryAfter: random.pick([0, 5, 10, 30]),
    pageSize: random.pick([2, 5, 100]),
    respelled: random.pick([0, 0.1, 0.5]),
  };
}

function drawZones(random: Random): readonly ZonePlan[] {
  return Array.from({ length: 1 + random.integer(3) }, (_, index) => ({
    zone: '',
    nodeBlock: '',
    podBlocks: [`10.0.${64 + index * 32}.0/${random.pick([22, 23, 24])}`],
  }));
}

function drawNodes(random: Random, zones: number): readonly NodePlan[] {
  const multiPool = random.pick([0, 0.3, 0.5, 0.7, 1]);
  const isLimited = random.pick([0, 0.5, 1]);
  return Array.from({ length: 4 + random.integer(12) }, (_, index) => ({
    zone: index % zones,
    type: 'Standard_D4s_v5',
    protocol: random.chance(multiPool) ? 'multi-pool' : 'crd-allocator',
    ipam: {
      preAllocate: 1 + random.integer(9),
      ...(random.chance(0.3) && { minAllocate: random.integer(12) }),
      ...(random.chance(0.2) && { maxAboveWatermark: random.integer(6) }),
      ...(random.chance(isLimited) && { maxAllocate: 8 + random.integer(12) }),
    },
    eni: {},
  }));
}

function drawFlags(random: Random): Scenario['flags'] {
  const lease = random.pick([
    ['15s', '10s', '2s'],
    ['30s', '20s', '10s'],
    ['60s', '40s', '20s'],
  ] as const);
  return {
    ipam: 'azure',
    'cluster-name': 'simulation',
    'resync-interval': `${random.pick([1, 2, 4])}m`,
    'leader-election-lease-duration': lease[0],
    'leader-election-renew-deadline': lease[1],
    'leader-election-retry-period': lease[2],
  };
}

export function timed(random: Random, minutes: number, plan: FaultPlan): TimedFault {
  const [start, end] = [90 * second, (minutes - 2) * 60 * second];
  return { at: Math.round(start + random.next() * (end - start)), ...plan };
}

export function replacement(random: Random): FaultPlan {
  return {
    kind: 'replace-node',
    node: random.next(),
    // A scale set gives no number twice, so no instance returns; only names of nodes do.
    sameName: random.chance(0.5),
    gap: random.integer(20) * second,
    boot: 60 * second,
  };
}

const sameOnEveryCloud = [
  'stale-listings',
  'squeeze',
  'restart-agent',
  'change-agent',
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
] as const satisfies readonly (keyof typeof drawers)[];

function oneFault(random: Random): FaultPlan {
  const roll = random.next();
  if (roll < 0.35) return cloudFault(random);
  if (roll < 0.5) return interruption(random);
  if (roll < 0.6) return trouble(random);
  if (roll < 0.68) {
    const deed = random.pick(['assign', 'assign', 'unassign-free'] as const);
    return { kind: 'foreign', deed, node: random.next(), pick: random.next() };
  }
  if (roll < 0.72) return { kind: 'terminate', node: random.next(), during: random.pick(azureChangeCalls) };
  return drawers[random.pick(sameOnEveryCloud)][1](random);
}

const azureChangeCalls = ['VirtualMachineScaleSetVMs.Update', 'Interfaces.CreateOrUpdate'] as const;

function interruption(random: Random): FaultPlan {
  const call = random.pick(azurePortCalls);
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

/** All calls of a kind fail for a time, or every operation takes long. */
function trouble(random: Random): FaultPlan {
  const roll = random.next();
  const ms = (20 + random.integer(300)) * second;
  if (roll < 0.3) {
    return { kind: 'slow-operations', ms: (60 + random.integer(240)) * second, for: ms };
  }
  if (roll < 0.5) {
    const action = random.pick(['*', ...azureChanges]);
    return { kind: 'throttle-storm', action, rate: 0.3 + 0.7 * random.next(), for: ms };
  }
  const [code, status] = random.pick([
    ['AuthorizationFailed', 403],
    ['ResourceGroupNotFound', 404],
    ['SubscriptionNotFound', 404],
    ['ResourceNotFound', 404],
    ['InternalServerError', 500],
  ] as const);
  // The VM alone being gone while its scale set answers is a true word, so that is never invented.
  const action = code === 'ResourceNotFound' ? 'VirtualMachineScaleSets.Get' : '*';
  return { kind: 'refusals', action, code, status, for: ms };
}

function cloudFault(random: Random): FaultPlan {
  const isChange = random.chance(0.7);
  const action = isChange ? random.pick(azureChanges) : random.pick(azureReads);
  return {
    kind: 'cloud',
    action,
    count: 1 + random.integer(3),
    rate: random.pick([1, 1, 0.5]),
    fault: isChange && random.chance(0.4) ? refusedChange(random) : generalFault(random),
  };
}

function refusedChange(random: Random): CloudFault {
  const message = 'by the simulation';
  if (random.chance(0.35))
    return {
      kind: 'failed',
      code: random.pick(['SubnetIsFull', 'RetryableError', 'InternalError']),
      message,
    };
  const [code, status] = random.pick([
    ['PreconditionFailed', 412],
    ['OperationNotAllowed', 409],
    ['AnotherOperationInProgress', 409],
    ['RetryableError', 409],
    ['SubnetIsFull', 400],
    ['LinkedAuthorizationFailed', 403],
  ] as const);
  return { kind: 'error', code, status, message };
}

function generalFault(random: Random): CloudFault {
  const roll = random.next();
  if (roll < 0.2)
    return { kind: 'error', code: 'InternalServerError', status: 500, message: 'by the simulation' };
  if (roll < 0.3) return { kind: 'throttle' };
  if (roll < 0.45) return { kind: 'slow', ms: random.integer(20) * second };
  if (roll < 0.9) {
    return {
      kind: 'lost',
      effect: random.pick(['before', 'after', 'late']),
      connection: random.pick(['drop', 'hang']),
      delayMs: random.integer(90) * second,
    };
  }
  return {
    kind: 'garbled',
    form: random.pick(['truncated', 'empty', 'idsMissing', 'unknownEnum', 'html502']),
  };
}
