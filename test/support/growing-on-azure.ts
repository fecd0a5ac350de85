// The life of one node on Azure in short: it starts, grows with its pods, loses some, and grows again.
import { expect } from '@jest/globals';
import type { Protocol } from '../../src/simulator/workload/node-facts.ts';
import { AzureClusterWorld } from './azure-cluster-world.ts';
import { beginLife, type Disturbance, type Life } from './disturbed-life.ts';

const flags = { 'cluster-name': 'growing', 'leader-election-retry-period': '8s' };

/** Every kind of mutating call in an undisturbed life. */
export const changingCalls = ['VirtualMachineScaleSetVMs.Update', 'patch spec', 'patch status'] as const;

/** Pods with the most at once. */
const mostPods = 25;

export async function growOnAzure(
  protocol: Protocol,
  disturbance: Disturbance<AzureClusterWorld> = {},
): Promise<Life<AzureClusterWorld>> {
  const world = new AzureClusterWorld({ configure: () => ({ protocol }) });
  const life = await beginLife(world, flags, disturbance);
  await world.advance(150_000);
  world.addLivingPods(10);
  await world.advance(150_000);
  await world.deleteLivingPods(5);
  world.addLivingPods(mostPods - 5, 'later');
  await world.advance(600_000);
  return life;
}

/**
 * Asserts that every pod has its address, and that nothing is lost, doubled or taken without need. `mostFree`: addresses
 * that may be free in the end. Pods that arrive while addresses are on their way count as wanting more than the buffer.
 */
export function expectGrown({ world, controller }: Life<AzureClusterWorld>, mostFree = 2 * 8): void {
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
