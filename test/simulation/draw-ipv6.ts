// Draws which seeds have IPv6, and the faults of its calls, from a random source of their own: a seed without IPv6 keeps the
// history that it would have.
import type { Random } from '../../src/runtime/random.ts';
import { carriesPrefixes, instanceTypes } from '../../src/simulator/cloud/instance-types.ts';
import type { Fault as CloudFault } from '../../src/simulator/cloud/faults.ts';
import { callPhases, lostAnswer } from './draw-faults.ts';
import type { FaultPlan, NodePlan, Scenario, TimedFault } from './scenario.ts';

const second = 1000;

/** The scenario with IPv6, or as it is. */
export function withIpv6(scenario: Scenario, random: Random): Scenario {
  if (!random.chance(0.5)) return scenario;
  const podSubnets = random.pick(['all', 'all', 'first'] as const);
  const nodeSubnets = random.chance(0.7);
  const types = random.chance(0.3) ? 'all' : 'with prefixes';
  const faults = drawIpv6Faults(random.fork('faults'), scenario.minutes);
  return {
    ...scenario,
    ipv6: { podSubnets, nodeSubnets },
    nodes: scenario.nodes.map((plan) =>
      types === 'all' || hasPrefixes(plan) ? { ...plan, ipv6: true } : plan,
    ),
    faults: [...scenario.faults, ...faults].toSorted((a, b) => a.at - b.at),
  };
}

/** An agent with IPv6 on an instance without prefixes waits for ever, and must get its IPv4 addresses nevertheless. */
function hasPrefixes({ type }: NodePlan): boolean {
  const found = instanceTypes.get(type);
  return found !== undefined && carriesPrefixes(found);
}

/** Most calls are those of nodes that join, which is why faults come often. */
function drawIpv6Faults(random: Random, minutes: number): readonly TimedFault[] {
  const [start, end] = [5 * second, (minutes - 5) * 60 * second];
  return Array.from({ length: 10 + random.integer(10) }, (_, index) => ({
    // The first ones meet the nodes that are there from the start.
    at: Math.round(index < 2 ? random.next() * 20 * second : start + random.next() * (end - start)),
    ...faultOf(random),
  }));
}

function faultOf(random: Random): FaultPlan {
  const roll = random.next();
  const node = random.next();
  // Most prefixes come with a new interface: one that somebody took has to be assigned.
  if (roll < 0.35) return { kind: 'ipv6-by-hand', deed: random.chance(0.2) ? 'assign' : 'unassign', node };
  if (roll < 0.42) return { kind: 'member-of-others', node };
  const call = 'AssignIpv6Addresses';
  const phase = random.pick(callPhases);
  if (roll < 0.55) return { kind: 'kill', call, phase, nth: 0, restartAfter: random.integer(30) * second };
  return {
    kind: 'cloud',
    action: random.pick([call, call, 'CreateNetworkInterface']),
    count: 1 + random.integer(3),
    rate: random.pick([0.5, 1]),
    fault: ipv6Fault(random),
  };
}

function ipv6Fault(random: Random): CloudFault {
  const roll = random.next();
  if (roll < 0.5) return lostAnswer(random, 20);
  if (roll < 0.6) return { kind: 'throttle' };
  const code = random.pick(['InsufficientCidrBlocks', 'InvalidParameterValue', 'UnauthorizedOperation']);
  return { kind: 'error', code, status: 400, message: 'by the simulation' };
}
