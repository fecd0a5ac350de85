// Interfaces that somebody made in a world and left attached to nothing.
import { nothing } from '../../src/simulator/cloud/claims.ts';
import { plainInterface } from '../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import { ids } from './test-cloud.ts';
import type { World } from './world.ts';

/** Tags of what belongs to the cluster. */
export function belongingTo(clusterName: string): Readonly<Record<string, string>> {
  return { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': clusterName };
}

export interface Leftover {
  readonly tags: Readonly<Record<string, string>>;
  readonly subnetId?: string;
  readonly description?: string;
  /** Secondary addresses. */
  readonly addresses?: number;
}

/** Makes a detached interface; returns its id. */
export function leave(world: World, leftover: Leftover): string {
  const { tags, subnetId = ids.nodes, description = '', addresses = 4 } = leftover;
  const { network } = world.cluster.ec2;
  const claim = { ...nothing, count: addresses };
  const request = { ...plainInterface(subnetId, [ids.nodeGroup]), claim, tags, description };
  return createInterface(network, request).id;
}

export function found(world: World, id: string): NetworkInterface | undefined {
  return world.cluster.ec2.network.interfaces.get(id);
}
