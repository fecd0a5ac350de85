// A new leader that finds another cloud than the one before, or other options: the pools of its nodes.
import type { ClusterWorld } from './cluster-world.ts';
import { type ControllerSetup, startController, takeOver, type WorldController } from './world-controller.ts';

const minute = 60_000;

/** By machine: addresses with their interfaces, in order. */
export type Pools = readonly (readonly (readonly [address: string, interfaceId: string])[])[];

export function poolsOf(world: ClusterWorld): Pools {
  return world.machines.map((machine) => [...world.pool(machine)]);
}

export interface ReplacedLeader {
  /** The new one. */
  readonly controller: WorldController;
  /** The pools that the former one left. */
  readonly before: Pools;
}

/** A leader serves every node for five minutes, something happens, and another one with this setup leads for 20. */
export async function replaceLeader(
  world: ClusterWorld,
  happen: () => unknown,
  setup: ControllerSetup = {},
): Promise<ReplacedLeader> {
  const former = startController(world);
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(5 * minute);
  const before = poolsOf(world);
  if (before.some((pool) => pool.length === 0))
    throw new Error('the former leader left a node without addresses');
  happen();
  const controller = takeOver(world, former, setup);
  await world.advance(20 * minute);
  return { controller, before };
}
