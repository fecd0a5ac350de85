// Machines that come and go during a simulation: instances and their nodes.
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ambush } from './hostile-agent.ts';
import type { Harness } from './harness.ts';

/**
 * Terminates the instance now and removes its node after `notice`, as when a machine is reclaimed. Resolves once both
 * are gone.
 */
export async function reclaim(harness: Harness, facts: NodeFacts, notice: number): Promise<void> {
  harness.rig.terminate(facts.instanceId);
  await new Promise<void>((resolve) => harness.clock.schedule(notice, resolve));
  await remove(harness, facts);
}

/** Removes the node first and then terminates its instance. */
export async function retire(harness: Harness, facts: NodeFacts): Promise<void> {
  await remove(harness, facts);
  harness.rig.terminate(facts.instanceId);
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
  const launched = harness.rig.launch(facts);
  if (launched === undefined) {
    await new Promise<void>((resolve) => harness.clock.schedule(relaunchAfter, resolve));
    return replace(harness, facts, like);
  }
  const isAmbushed = harness.pendingAmbushes > 0;
  if (isAmbushed) {
    harness.pendingAmbushes--;
    await ambush(harness, { ...facts, ...launched });
  }
  const untilJoined = isAmbushed ? Math.max(boot, ambushTime) : boot;
  if (untilJoined > 0) await new Promise<void>((resolve) => harness.clock.schedule(untilJoined, resolve));
  const { instanceId, primaryAddress } = launched;
  const name = sameName ? facts.name : `ip-${primaryAddress.replaceAll('.', '-')}-${suffixOf(instanceId)}`;
  await harness.cluster.workload.addNode({ ...facts, name, instanceId, primaryAddress });
}

async function remove({ cluster }: Harness, { name, instanceId }: NodeFacts): Promise<void> {
  if (cluster.workload.machineOf(name)?.facts.instanceId !== instanceId) return;
  await cluster.workload.removeNode(name);
}

/** Enough to tell instances with one address apart. */
function suffixOf(instanceId: string): string {
  return instanceId.slice(-4).replaceAll(/[^0-9a-z]/g, '-');
}
