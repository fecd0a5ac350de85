// Draws the scenario of a seed on Azure: seeds whose names begin with `azure:`.
import { Random } from '../../src/runtime/random.ts';
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import { publicIpTags } from './clouds/azure-topology.ts';
import { drawers, garbledAnswer, lostAnswer } from './draw-faults.ts';
import { drawInterruption, drawLease, drawNodes, drawOnCloud, drawWatermarks } from './draw-on-cloud.ts';
import type { AzurePlan, FaultPlan, Scenario, TimedFault } from './scenario.ts';

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
  const scenario = drawOnCloud(seed, {
    minMutations: 60,
    faults: { min: 40, more: 50 },
    replacements: { min: 12, more: 8 },
    fault: drawFault,
    series: (random, minutes) => [
      ...drawHalfDone(random, minutes),
      ...drawOmissions(random.fork('omissions'), minutes),
      ...drawOutages(random.fork('outages'), minutes),
      ...drawScaleDowns(random.fork('scale-downs'), minutes),
      ...drawReleaseFaults(random.fork('releases'), minutes),
      ...drawSnatches(random.fork('snatches'), minutes),
    ],
    zone: (random, index) => ({
      zone: '',
      nodeBlock: '',
      podBlocks: [`10.0.${64 + index * 32}.0/${random.pick([22, 23, 24])}`],
    }),
    nodes: (random, zones) => {
      const multiPool = random.pick([0, 0.3, 0.5, 0.7, 1]);
      const isLimited = random.pick([0, 0.5, 1]);
      return drawNodes(random, zones, () => ({
        type: 'Standard_D4s_v5',
        protocol: random.chance(multiPool) ? 'multi-pool' : 'crd-allocator',
        ipam: drawWatermarks(random, isLimited),
        eni: {},
      }));
    },
    flags: (random) => ({
      ipam: 'azure',
      'cluster-name': 'simulation',
      ...drawLease(random),
      'azure-release-excess-ips': String(random.chance(0.7)),
      'excess-ip-release-delay': `${random.pick([5, 5, 20, 60])}s`,
      'resync-interval': `${random.pick([1, 2, 4])}m`,
    }),
    cloud: (random, zones) => ({
      cloud: {
        reuse: random.pick([0, 0.3, 0.9]),
        listingLagMs: random.pick([0, 1000, 3000]),
        visibilityDelayMs: 0,
        limits: random.pick([0.3, 1, 1, 5]),
      },
      azure: drawAzure(random.fork('azure'), zones),
    }),
  });
  const carried = withNamedInterface(scenario, new Random(`named-${seed}`));
  return withStaticAddresses(carried, new Random(`static-${seed}`));
}

/**
 * In half of the seeds, pods have addresses of a secondary interface where scale sets have any: it alone can be missing
 * while its VM is shown whole, so in these the lists of many VMs lack it at once. A Flexible set names the interfaces of
 * each VM differently.
 */
function withNamedInterface(scenario: Scenario, random: Random): Scenario {
  const { azure, nodes, minutes } = scenario;
  if (azure === undefined || random.chance(0.5)) return scenario;
  const podInterfaces = azure.modes.map((mode, zone) =>
    mode === 'Uniform' ? (azure.interfaces?.[zone] ?? 1) - 1 : 0,
  );
  if (nodes.filter(({ zone }) => podInterfaces[zone] !== 0).length <= 3) return scenario;
  const at = (4 + random.integer(minutes - 22)) * 60 * second;
  const outage: TimedFault = {
    at,
    kind: 'blind',
    what: 'secondaries',
    share: 0.5,
    for: (400 + random.integer(400)) * second,
  };
  return {
    ...scenario,
    azure: { ...azure, podInterfaces },
    faults: [...scenario.faults, outage].toSorted((a, b) => a.at - b.at),
  };
}

/** In half of the seeds, some nodes ask for a public address, and perhaps more than there are. */
function withStaticAddresses(scenario: Scenario, random: Random): Scenario {
  const { azure, nodes } = scenario;
  if (azure === undefined || random.chance(0.5)) return scenario;
  return {
    ...scenario,
    azure: { ...azure, publicIpPrefix: random.pick([28, 30]) },
    nodes: nodes.map((node) =>
      random.chance(0.5) ? { ...node, ipam: { ...node.ipam, staticIpTags: publicIpTags } } : node,
    ),
  };
}

function drawAzure(random: Random, zones: number): AzurePlan {
  const max = random.pick([5, 30, 60, 90]) * second;
  return {
    modes: Array.from({ length: zones }, () => (random.chance(0.7) ? 'Uniform' : 'Flexible')),
    interfaces: drawInterfaces(random.fork('interfaces'), zones),
    operationMs: { min: second, max },
    headers: random.pick(['asyncOperation', 'location', 'both']),
    retryAfter: random.pick([0, 5, 10, 30]),
    pageSize: random.pick([2, 5, 100]),
    respelled: random.pick([0, 0.1, 0.5]),
  };
}

function drawInterfaces(random: Random, zones: number): readonly number[] {
  return Array.from({ length: zones }, () => random.pick([1, 1, 2, 3]));
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

function drawFault(random: Random): FaultPlan {
  const roll = random.next();
  if (roll < 0.35) return cloudFault(random);
  if (roll < 0.5) return drawInterruption(random, azurePortCalls);
  if (roll < 0.6) return trouble(random);
  if (roll < 0.68) {
    const deed = random.pick(['assign', 'assign', 'unassign-free'] as const);
    return { kind: 'foreign', deed, node: random.next(), pick: random.next() };
  }
  if (roll < 0.72) return { kind: 'terminate', node: random.next(), during: random.pick(azureChangeCalls) };
  return drawers[random.pick(sameOnEveryCloud)][1](random);
}

const azureChangeCalls = ['VirtualMachineScaleSetVMs.Update', 'Interfaces.CreateOrUpdate'] as const;

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
      isHalfDone: random.chance(0.5),
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

/** Lists that lack an interface for a moment, or addresses in use. */
function drawOmissions(random: Random, minutes: number): readonly TimedFault[] {
  const time = (minutes - 4) * 60 * second;
  const [, draw] = drawers.omission;
  return Array.from({ length: 2 + random.integer(4) }, () => ({
    at: 2 * 60 * second + Math.round(random.next() * time),
    ...draw(random),
  }));
}

/** In some seeds, lists show nothing of interfaces, or not those that are primary, or some of the VMs, for minutes. */
function drawOutages(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(0.5)) return [];
  const what = random.pick(['interfaces', 'primaries', 'primaries', 'instances', 'secondaries'] as const);
  const at = (2 + random.integer(minutes - 20)) * 60 * second;
  return [{ at, kind: 'blind', what, share: 0.5, for: (60 + random.integer(500)) * second }];
}

/** In some seeds, most VMs go at once, in half of these before their nodes. */
function drawScaleDowns(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(0.3)) return [];
  const at = (4 + random.integer(minutes - 20)) * 60 * second;
  const scaleDown = drawers['scale-down'][1](random);
  const staying = random.fork('nodes-stay');
  const nodesStayFor = staying.chance(0.5) ? (60 + staying.integer(600)) * second : undefined;
  return [{ at, ...scaleDown, ...(nodesStayFor !== undefined && { nodesStayFor }) }];
}

const releaseFaults = [
  'grab',
  'convert',
  'stall',
  'outlive',
] as const satisfies readonly (keyof typeof drawers)[];

/** Pods that arrive, processes that end and hands that take something away, all in the middle of a release. */
function drawReleaseFaults(random: Random, minutes: number): readonly TimedFault[] {
  const time = (minutes - 6) * 60 * second;
  return Array.from({ length: random.integer(6) }, () => ({
    at: 2 * 60 * second + Math.round(random.next() * time),
    ...drawers[random.pick(releaseFaults)][1](random),
  }));
}

/** In some seeds, hands take what is about to be released, and pods come. */
function drawSnatches(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(0.3)) return [];
  const time = (minutes - 6) * 60 * second;
  return Array.from({ length: 1 + random.integer(3) }, () => ({
    at: 2 * 60 * second + Math.round(random.next() * time),
    ...drawers.snatch[1](random),
  }));
}

/**
 * In some seeds, many changes of one time end half done. Only a few changes of a seed are releases, and what a half-done
 * one took must not be offered again.
 */
function drawHalfDone(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(0.3)) return [];
  const start = (2 + random.integer(minutes - 30)) * 60 * second;
  return Array.from({ length: 60 }, (_, index): TimedFault => {
    const code = random.pick(['SubnetIsFull', 'InternalError']);
    const fault = { kind: 'failed', code, message: 'by the simulation', isHalfDone: true } as const;
    const action = azureChanges[index % azureChanges.length] ?? '*';
    return { at: start + index * 15 * second, kind: 'cloud', action, count: 1, rate: 1, fault };
  });
}

function generalFault(random: Random): CloudFault {
  const roll = random.next();
  if (roll < 0.2)
    return { kind: 'error', code: 'InternalServerError', status: 500, message: 'by the simulation' };
  if (roll < 0.3) return { kind: 'throttle' };
  if (roll < 0.45) return { kind: 'slow', ms: random.integer(20) * second };
  return roll < 0.9 ? lostAnswer(random, 90) : garbledAnswer(random);
}
