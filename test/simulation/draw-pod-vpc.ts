// Draws which seeds have their pods in another VPC than the instances, from a random source of their own: all others keep the history
// that they would have.
import type { Random } from '../../src/runtime/random.ts';
import type { Scenario } from './scenario.ts';
import { podGroup, podVpcId } from './topology.ts';

/** The scenario with pods in another VPC, or as it is. */
export function withPodVpc(scenario: Scenario, random: Random): Scenario {
  if (!random.chance(0.15)) return scenario;
  const isByTags = random.chance(0.3);
  const groups = isByTags ? { securityGroupTags: { purpose: 'pods' } } : { securityGroups: [podGroup] };
  return {
    ...scenario,
    hasPodVpc: true,
    flags: { ...scenario.flags, 'pod-vpc-id': podVpcId },
    nodes: scenario.nodes.map((node) => ({
      ...node,
      eni: { ...node.eni, ...groups, firstInterfaceIndex: node.eni.firstInterfaceIndex ?? 1 },
    })),
  };
}
