// The life of one node on Azure in short: it starts, grows with its pods, gives back what they leave, and grows again.
import { expect } from '@jest/globals';
import { textMapAt } from '../../src/simulator/workload/json.ts';
import type { Protocol } from '../../src/simulator/workload/node-facts.ts';
import { scaleSet, testAzure } from './azure-cloud.ts';
import { AzureClusterWorld } from './azure-cluster-world.ts';
import { beginLife, type Disturbance, type Life } from './disturbed-life.ts';

const flags = {
  'cluster-name': 'growing',
  'azure-release-excess-ips': 'true',
  'excess-ip-release-delay': '20s',
  'release-quarantine': '75s',
  'leader-election-retry-period': '8s',
};

/** What is updated to change the addresses of a VM, by the kind of its scale set. */
export const updatesBy = {
  Uniform: 'VirtualMachineScaleSetVMs.Update',
  Flexible: 'Interfaces.CreateOrUpdate',
} as const;

export interface GrowingNode {
  readonly protocol: Protocol;
  readonly mode: keyof typeof updatesBy;
}

/** Every kind of mutating call in an undisturbed life. */
export function changingCalls({ mode }: GrowingNode): readonly string[] {
  return [updatesBy[mode], 'patch spec', 'patch status'];
}

export async function growOnAzure(
  { protocol, mode }: GrowingNode,
  disturbance: Disturbance<AzureClusterWorld> = {},
): Promise<Life<AzureClusterWorld>> {
  const cloud = testAzure({ scaleSets: [scaleSet({ mode })] });
  const world = new AzureClusterWorld({ cloud, configure: () => ({ protocol }) });
  const life = await beginLife(world, flags, disturbance);
  await world.advance(150_000);
  world.addLivingPods(12);
  await world.advance(150_000);
  await world.deleteLivingPods(12);
  await world.advance(600_000);
  world.addLivingPods(3, 'later');
  await world.advance(400_000);
  return life;
}

/** Asserts that every pod has its address, that nothing is lost, doubled or kept without need, and no handshake is open. */
export function expectWell({ world, controller }: Life<AzureClusterWorld>): void {
  const machine = world.machine();
  const held = world.held(machine);
  expect(world.waiting()).toEqual([]);
  expect(world.used()).toHaveLength(3 + 2);
  expect(held).toHaveLength(world.used().length + 8);
  expect(new Set(world.configurations(machine)).size).toBe(held.length);
  expect([...world.pool(machine).keys()].sort()).toEqual([...held].sort());
  expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
  expect(controller.controller.state).toBe('leading');
  expect(world.operatorError(machine)).toBe('');
  expect(world.broken()).toEqual([]);
}
