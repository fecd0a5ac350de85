// Orphaned interfaces in a test cluster.
import { attach } from '../../src/simulator/cloud/attachments.ts';
import { nothing } from '../../src/simulator/cloud/claims.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ids } from './test-cloud.ts';
import type { World } from './world.ts';

/** Tags of interfaces that belong to the cluster. */
export function belongingTo(clusterName: string): Readonly<Record<string, string>> {
  return { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': clusterName };
}

export interface OrphanFacts {
  readonly tags: Readonly<Record<string, string>>;
  readonly subnetId?: string;
  readonly groupId?: string;
  readonly description?: string;
  /** Number of secondary addresses. */
  readonly addresses?: number;
}

/** Creates a detached interface; returns its id. */
export function leave(world: World, facts: OrphanFacts): string {
  const { tags, subnetId = ids.nodes, groupId = ids.nodeGroup, description = '', addresses = 4 } = facts;
  const { network } = world.cluster.ec2;
  const claim = { ...nothing, count: addresses };
  const request = { ...plainInterface(subnetId, [groupId]), claim, tags, description };
  return createInterface(network, request).id;
}

/** Joins the machine to the cluster with an interface that has these tags, which define what belongs to the cluster. */
export async function joinWith(world: World, machine: NodeFacts, tags: OrphanFacts['tags']): Promise<void> {
  const interfaceId = leave(world, { tags });
  const { instanceId } = machine;
  attach(world.cluster.ec2.network, { interfaceId, instanceId, deviceIndex: 1, cardIndex: 0 });
  await world.announce(machine);
}

export function found(world: World, id: string): NetworkInterface | undefined {
  return world.cluster.ec2.network.interfaces.get(id);
}
