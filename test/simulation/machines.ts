// Machines that come and go while a simulation runs: instances are ended and launched, and their nodes with them.
import { CloudRefusal } from '../../src/simulator/cloud/cloud-refusal.ts';
import { launch, plainInterface, terminate } from '../../src/simulator/cloud/instances.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ambush } from './hostile-agent.ts';
import type { Stage } from './harness.ts';
import { nodeGroup } from './topology.ts';

/** Ends the instance at once, and its node a moment later, as when a machine is reclaimed. Resolves once it is gone. */
export async function reclaim(stage: Stage, facts: NodeFacts, notice: number): Promise<void> {
  endInstance(stage, facts);
  await new Promise<void>((resolve) => stage.clock.schedule(notice, resolve));
  await remove(stage, facts);
}

/** Ends the node in good order and its instance after it. */
export async function retire(stage: Stage, facts: NodeFacts): Promise<void> {
  await remove(stage, facts);
  endInstance(stage, facts);
}

/** Between two tries to launch an instance, in ms. */
const relaunchAfter = 30_000;

export interface Replacement {
  readonly sameName: boolean;
  /** From the launch of its instance until its agent starts, in ms; 0 if not given. */
  readonly boot?: number | undefined;
}

/** Starts an instance like that one, and its node: under the same name if wanted. Where its subnet is full, that takes longer. */
export async function replace(stage: Stage, facts: NodeFacts, like: Replacement): Promise<void> {
  const { sameName, boot = 0 } = like;
  const { network } = stage.cluster.ec2;
  if ((network.subnets.get(facts.subnetId)?.available ?? 0) < 1) {
    await new Promise<void>((resolve) => stage.clock.schedule(relaunchAfter, resolve));
    return replace(stage, facts, like);
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
  if (stage.ambushes > 0) {
    stage.ambushes--;
    await ambush(stage, { ...facts, instanceId: instance.id, primaryAddress: instance.primaryAddress });
  }
  if (boot > 0) await new Promise<void>((resolve) => stage.clock.schedule(boot, resolve));
  const { primaryAddress } = instance;
  const name = sameName ? facts.name : `ip-${primaryAddress.replaceAll('.', '-')}-${instance.id.slice(-4)}`;
  await stage.cluster.workload.addNode({ ...facts, name, instanceId: instance.id, primaryAddress });
}

async function remove({ cluster }: Stage, { name, instanceId }: NodeFacts): Promise<void> {
  if (cluster.workload.machineOf(name)?.facts.instanceId !== instanceId) return;
  await cluster.workload.removeNode(name);
}

/** Again a moment later, where the cloud does not know yet what was just launched. */
function endInstance(stage: Stage, facts: NodeFacts): void {
  const { network } = stage.cluster.ec2;
  if (!network.instances.has(facts.instanceId)) return;
  try {
    terminate(network, [facts.instanceId]);
  } catch (refusal) {
    if (!(refusal instanceof CloudRefusal)) throw refusal;
    stage.clock.schedule(1000, () => endInstance(stage, facts));
  }
}
