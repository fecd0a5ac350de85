// What scenarios of Azure and of Alibaba Cloud draw alike. A seed keeps its history only as long as draws keep their order.
import { Random } from '../../src/runtime/random.ts';
import type { IpamWatermarks } from '../../src/simulator/workload/node-facts.ts';
import { callPhases } from './draw-faults.ts';
import { drawRestrictions } from './draw-restrictions.ts';
import { drawSilence } from './draw-silence.ts';
import { drawWorkloads } from './draw-workloads.ts';
import type { FaultPlan, NodePlan, PortCall, Scenario, TimedFault, ZonePlan } from './scenario.ts';

const second = 1000;

/** What only one cloud draws. */
export interface CloudDraws {
  readonly minMutations: number;
  readonly faults: AtLeast;
  readonly replacements: AtLeast;
  readonly fault: (random: Random) => FaultPlan;
  /** Faults that come together, in a scenario of so many minutes. */
  readonly series?: (random: Random, minutes: number) => readonly TimedFault[];
  /** The zone of that index. */
  readonly zone: (random: Random, index: number) => ZonePlan;
  /** The nodes have these zones in turn. */
  readonly nodes: (random: Random, zones: number) => readonly NodePlan[];
  readonly flags: (random: Random) => Scenario['flags'];
  readonly cloud: (random: Random, zones: number) => Pick<Scenario, 'alibaba' | 'azure' | 'cloud'>;
}

/** At least so many, and fewer than `more` besides. */
export interface AtLeast {
  readonly min: number;
  readonly more: number;
}

export function drawOnCloud(seed: string, draws: CloudDraws): Scenario {
  const random = new Random(`simulation-${seed}`);
  const minutes = 36 + random.integer(40);
  const zones = drawZones(random.fork('zones'), draws);
  const faults = random.fork('faults');
  const timedFaults = ({ min, more }: AtLeast, draw: (random: Random) => FaultPlan): readonly TimedFault[] =>
    Array.from({ length: min + faults.integer(more) }, () => timed(faults, minutes, draw(faults)));
  const drawn = [
    ...timedFaults(draws.faults, draws.fault),
    ...timedFaults(draws.replacements, replacement),
    ...drawSilence(random.fork('silence'), minutes),
    ...(draws.series?.(random.fork('series'), minutes) ?? []),
    ...drawRestrictions(random.fork('restrictions'), minutes).filter(
      (fault) => fault.kind !== 'restrict' || fault.what === 'max-allocate',
    ),
  ];
  return {
    seed,
    minutes,
    minMinutes: 60,
    minMutations: draws.minMutations,
    zones,
    nodes: draws.nodes(random.fork('nodes'), zones.length),
    flags: draws.flags(random.fork('flags')),
    replicas: random.pick([1, 1, 2, 2, 3]),
    ...draws.cloud(random, zones.length),
    workloads: drawWorkloads(random.fork('workloads'), minutes),
    faults: drawn.toSorted((a, b) => a.at - b.at),
  };
}

function drawZones(random: Random, { zone }: CloudDraws): readonly ZonePlan[] {
  return Array.from({ length: 1 + random.integer(3) }, (_, index) => zone(random, index));
}

export function drawLease(random: Random): Scenario['flags'] {
  const [duration, deadline, period] = random.pick([
    ['15s', '10s', '2s'],
    ['30s', '20s', '10s'],
    ['60s', '40s', '20s'],
  ] as const);
  return {
    'leader-election-lease-duration': duration,
    'leader-election-renew-deadline': deadline,
    'leader-election-retry-period': period,
  };
}

/** From 4 to 15 nodes; `draw`: what each has besides its zone. */
export function drawNodes(
  random: Random,
  zones: number,
  draw: () => Omit<NodePlan, 'zone'>,
): readonly NodePlan[] {
  return Array.from({ length: 4 + random.integer(12) }, (_, index) => ({ zone: index % zones, ...draw() }));
}

/** `isLimited`: how likely the node has a maximum. */
export function drawWatermarks(random: Random, isLimited: number): IpamWatermarks {
  return {
    preAllocate: 1 + random.integer(9),
    ...(random.chance(0.3) && { minAllocate: random.integer(12) }),
    ...(random.chance(0.2) && { maxAboveWatermark: random.integer(6) }),
    ...(random.chance(isLimited) && { maxAllocate: 8 + random.integer(12) }),
  };
}

function timed(random: Random, minutes: number, plan: FaultPlan): TimedFault {
  const [start, end] = [90 * second, (minutes - 2) * 60 * second];
  return { at: Math.round(start + random.next() * (end - start)), ...plan };
}

function replacement(random: Random): FaultPlan {
  return {
    kind: 'replace-node',
    node: random.next(),
    // A scale set gives no number twice, so no instance returns; only names of nodes do.
    sameName: random.chance(0.5),
    gap: random.integer(20) * second,
    boot: 60 * second,
  };
}

/** A process freezes or dies at one of these calls. */
export function drawInterruption(random: Random, calls: readonly PortCall[]): FaultPlan {
  const call = random.pick(calls);
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
