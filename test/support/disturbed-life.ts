// A life of a cluster in which the first controller may die: another one takes over, with the same options.
import type { ClusterWorld } from './cluster-world.ts';
import type { GivenFlags } from './given-options.ts';
import { type Death, startController, takeOver, type WorldController } from './world-controller.ts';

export interface Life<W extends ClusterWorld> {
  readonly world: W;
  /** The newest one. */
  readonly controller: WorldController;
}

export interface Disturbance<W extends ClusterWorld> {
  /** The process dies, and another takes over. */
  readonly death?: Omit<Death, 'onDeath'>;
  /** Runs before the agents start. */
  readonly prepare?: (world: W) => void;
}

/** Resolves once the agents run. */
export async function beginLife<W extends ClusterWorld>(
  world: W,
  flags: GivenFlags,
  { death, prepare }: Disturbance<W>,
): Promise<Life<W>> {
  const onDeath = (): void => {
    world.clock.schedule(1, () => {
      life.controller = takeOver(world, life.controller, { flags });
    });
  };
  const setup = {
    flags,
    audited: true as const,
    ...(death !== undefined && { death: { ...death, onDeath } }),
  };
  const life = { world, controller: startController(world, setup) };
  prepare?.(world);
  await world.startAgents();
  return life;
}
