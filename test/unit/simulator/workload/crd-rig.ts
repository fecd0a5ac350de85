// An agent of the CRD allocator against the embedded API, in the states from which tests start.
import type { Agent } from '../../../../src/simulator/workload/agent.ts';
import type { AgentContext } from '../../../../src/simulator/workload/agent-context.ts';
import { type JsonObject, objectAt } from '../../../../src/simulator/workload/json.ts';
import { Cluster, eni } from './cluster.ts';

export interface CrdRig {
  readonly cluster: Cluster;
  readonly agent: Agent;
}

/** An agent that was started; its node has nothing yet. */
export async function started(options: Partial<AgentContext> = {}): Promise<CrdRig> {
  const cluster = new Cluster();
  await cluster.createNode();
  const agent = cluster.agent('crd-allocator', options);
  agent.start();
  await cluster.clock.advance(0);
  return { cluster, agent };
}

/** An agent that serves, with these addresses in the pool, all of eni-1. */
export async function serving(pool: readonly string[], options: Partial<AgentContext> = {}): Promise<CrdRig> {
  const rig = await started(options);
  await rig.cluster.offer([eni('eni-1', pool)]);
  await rig.cluster.clock.advance(20_000);
  return rig;
}

export function ipamStatus(node: JsonObject): JsonObject {
  return objectAt(node, 'status', 'ipam');
}

export async function used(cluster: Cluster): Promise<JsonObject> {
  return objectAt(ipamStatus(await cluster.ciliumNode()), 'used');
}

export async function releaseIps(cluster: Cluster): Promise<JsonObject> {
  return objectAt(ipamStatus(await cluster.ciliumNode()), 'release-ips');
}

export function allocated(agent: Agent, ...owners: readonly string[]): readonly (string | undefined)[] {
  return owners.map((owner) => {
    const answer = agent.add(owner);
    return answer.kind === 'allocated' ? answer.address : undefined;
  });
}

export function whats(agent: Agent): readonly string[] {
  return agent.violations.map((violation) => violation.what);
}
