// The life of one node on Azure in short: it starts, grows with its pods, loses some, and grows again.
import { expect } from '@jest/globals';
import type { Protocol } from '../../src/simulator/workload/node-facts.ts';
import { AzureClusterWorld } from './azure-cluster-world.ts';
import { type Death, startController, type WorldController } from './world-controller.ts';

const flags = { 'cluster-name': 'growing', 'leader-election-retry-period': '8s' };

/** Every kind of mutating call in an undisturbed life. */
export const changingCalls = ['VirtualMachineScaleSetVMs.Update', 'patch spec', 'patch status'] as const;

export interface GrownNode {
  readonly world: AzureClusterWorld;
  /** The newest controller. */
  readonly controller: WorldController;
}

export interface Disturbance {
  /** The process dies, and another takes over. */
  readonly death?: Omit<Death, 'onDeath'>;
  /** Runs before the life begins. */
  readonly prepare?: (world: AzureClusterWorld) => void;
}

/** Pods with the most at once. */
const mostPods = 25;

export async function growOnAzure(
  protocol: Protocol,
  { death, prepare }: Disturbance = {},
): Promise<GrownNode> {
  const world = new AzureClusterWorld({ configure: () => ({ protocol }) });
  const onDeath = (): void => {
    world.clock.schedule(1, () => {
      controller = world.takeOver(controller, { flags });
    });
  };
  let controller = startController(world, {
    flags,
    ...(death !== undefined && { death: { ...death, onDeath } }),
  });
  prepare?.(world);
  await world.startAgents();
  await world.advance(150_000);
  world.addLivingPods(10);
  await world.advance(150_000);
  await world.deleteLivingPods(5);
  world.addLivingPods(mostPods - 5, 'later');
  await world.advance(600_000);
  return { world, controller };
}

/**
 * Asserts that every pod has its address, and that nothing is lost, doubled or taken without need. `mostFree`: addresses
 * that may be free in the end. Pods that arrive while addresses are on their way count as wanting more than the buffer.
 */
export function expectGrown({ world, controller }: GrownNode, mostFree = 2 * 8): void {
  const machine = world.machine();
  const held = world.held(machine);
  expect(world.waiting()).toEqual([]);
  expect(world.used()).toHaveLength(mostPods + 2);
  expect(held.length).toBeGreaterThanOrEqual(mostPods + 2 + 8);
  expect(held.length).toBeLessThanOrEqual(mostPods + 2 + mostFree);
  expect(new Set(world.configurations(machine)).size).toBe(held.length);
  expect([...world.pool(machine).keys()].sort()).toEqual([...held].sort());
  expect(controller.controller.state).toBe('leading');
  expect(world.operatorError(machine)).toBe('');
  expect(world.broken()).toEqual([]);
}
