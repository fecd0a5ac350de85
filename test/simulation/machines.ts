// Machines that come and go during a simulation: instances and their nodes.
import { CloudRefusal } from '../../src/simulator/cloud/cloud-refusal.ts';
import { launch, plainInterface, terminate } from '../../src/simulator/cloud/instances.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ambush } from './hostile-agent.ts';
import type { Harness } from './harness.ts';
import { nodeGroup } from './topology.ts';

/**
 * Terminates the instance now and removes its node after `notice`, as when a machine is reclaimed. Resolves once both
 * are gone.
 */
export async function reclaim(harness: Harness, facts: NodeFacts, notice: number): Promise<void> {
  endInstance(harness, facts);
  await new Promise<void>((resolve) => harness.clock.schedule(notice, resolve));
  await remove(harness, facts);
}

/** Removes the node first and then terminates its instance. */
export async function retire(harness: Harness, facts: NodeFacts): Promise<void> {
  await remove(harness, facts);
  endInstance(harness, facts);
}

/** Between two attempts to launch an instance, in ms. */
const relaunchAfter = 30_000;

/** Long enough for the instance to run, and for Headwater to give it addresses, which are then in excess, in ms. */
const ambushTime = 120_000;

export interface Replacement {
  readonly sameName: boolean;
  /** From the launch of the instance until its agent starts, in ms; 0 by default. */
  readonly boot?: number | undefined;
}

/**
 * Launches an instance like the given one, and its node, with the same name if requested. Waits while its subnet is
 * full.
 */
export async function replace(harness: Harness, facts: NodeFacts, like: Replacement): Promise<void> {
  const { sameName, boot = 0 } = like;
  const { network } = harness.cluster.ec2;
  if ((network.subnets.get(facts.subnetId)?.available ?? 0) < 1) {
    await new Promise<void>((resolve) => harness.clock.schedule(relaunchAfter, resolve));
    return replace(harness, facts, like);
  }
  const request = plainInterface(facts.subnetId, [nodeGroup]);
  const instance = launch(network, {
    reservationId: network.newId('r'),
    launchIndex: 0,
    type: facts.instanceType,
    imageId: 'ami-0123456789abcdef0',
    tags: {},
    interfaces: [{ kind: 'new', deviceIndex: 0, cardIndex: 0, deleteOnTermination: true, request }],
  });
  const isAmbushed = harness.pendingAmbushes > 0;
  if (isAmbushed) {
    harness.pendingAmbushes--;
    await ambush(harness, { ...facts, instanceId: instance.id, primaryAddress: instance.primaryAddress });
  }
  const untilJoined = isAmbushed ? Math.max(boot, ambushTime) : boot;
  if (untilJoined > 0) await new Promise<void>((resolve) => harness.clock.schedule(untilJoined, resolve));
  const { primaryAddress } = instance;
  const name = sameName ? facts.name : `ip-${primaryAddress.replaceAll('.', '-')}-${instance.id.slice(-4)}`;
  await harness.cluster.workload.addNode({ ...facts, name, instanceId: instance.id, primaryAddress });
}

async function remove({ cluster }: Harness, { name, instanceId }: NodeFacts): Promise<void> {
  if (cluster.workload.machineOf(name)?.facts.instanceId !== instanceId) return;
  await cluster.workload.removeNode(name);
}

/** Retries while the cloud does not show a new instance yet. */
function endInstance(harness: Harness, facts: NodeFacts): void {
  const { network } = harness.cluster.ec2;
  if (!network.instances.has(facts.instanceId)) return;
  try {
    terminate(network, [facts.instanceId]);
  } catch (refusal) {
    if (!(refusal instanceof CloudRefusal)) throw refusal;
    harness.clock.schedule(1000, () => endInstance(harness, facts));
  }
}
