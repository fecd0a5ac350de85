// The life of one node in short: it grows by interfaces and addresses, shrinks until interfaces are released, and grows
// again.
import { expect } from '@jest/globals';
import type { Protocol } from '../../src/simulator/workload/node-facts.ts';
import { textMapAt } from '../../src/simulator/workload/json.ts';
import { beginLife, type Disturbance, type Life } from './disturbed-life.ts';
import { instance, testCloud } from './test-cloud.ts';
import { World } from './world.ts';

const flags = {
  'cluster-name': 'kill-points',
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '20s',
  'release-quarantine': '75s',
  'idle-interface-delay': '60s',
  'eni-gc-interval': '60s',
  'leader-election-retry-period': '8s',
};

/** Every kind of mutating call in an undisturbed life. */
export const changingCalls = [
  'AssignPrivateIpAddresses',
  'AttachNetworkInterface',
  'CreateNetworkInterface',
  'DeleteNetworkInterface',
  'DetachNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
  'UnassignPrivateIpAddresses',
  'patch spec',
  'patch status',
] as const;

/** Pods arrive, all of them leave, and some arrive again. */
export async function growAndShrink(
  protocol: Protocol,
  disturbance: Disturbance<World> = {},
): Promise<Life<World>> {
  const world = new World({ cloud: testCloud({ instances: [instance()] }), configure: () => ({ protocol }) });
  const life = await beginLife(world, flags, disturbance);
  await world.advance(50_000);
  world.addLivingPods(12);
  await world.advance(80_000);
  await world.deleteLivingPods(12);
  await world.advance(400_000);
  world.addLivingPods(3, 'later');
  await world.advance(300_000);
  return life;
}

/** Asserts that nothing is lost, doubled or orphaned, and no handshake is open. */
export function expectWell({ world, controller }: Life<World>): void {
  const machine = world.machine();
  expect(controller.controller.state).toBe('leading');
  expect(world.held(machine)).toHaveLength(world.used().length + 8);
  expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
  expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
  expect(Object.keys(world.enis(machine))).toHaveLength(world.interfaces(machine).length);
  expect(world.waiting()).toEqual([]);
  expect(world.orphaned()).toEqual([]);
  expect(world.broken()).toEqual([]);
}
