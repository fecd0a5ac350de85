// The life of one node on Alibaba Cloud in short: it grows by interfaces and addresses, shrinks, and grows again. Its
// interfaces stay: pods use their primary addresses, which cannot be released.
import { expect } from '@jest/globals';
import { detachedInterfaces } from '../../src/simulator/cluster/invariants.ts';
import { objectAt, textMapAt } from '../../src/simulator/workload/json.ts';
import { AlibabaWorld } from './alibaba-world.ts';
import { beginLife, type Disturbance, type Life } from './disturbed-life.ts';

const flags = {
  'cluster-name': 'growing',
  'alibaba-cloud-release-excess-ips': 'true',
  'excess-ip-release-delay': '20s',
  'release-quarantine': '75s',
  'eni-gc-interval': '60s',
  'leader-election-retry-period': '8s',
};

/** Every kind of mutating call in an undisturbed life. */
export const changingCalls = [
  'AssignPrivateIpAddresses',
  'AttachNetworkInterface',
  'CreateNetworkInterface',
  'UnassignPrivateIpAddresses',
  'patch spec',
  'patch status',
] as const;

/** Pods arrive, all of them leave, and some arrive again. */
export async function growOnAlibaba(
  disturbance: Disturbance<AlibabaWorld> = {},
): Promise<Life<AlibabaWorld>> {
  const world = new AlibabaWorld();
  const life = await beginLife(world, flags, disturbance);
  await world.advance(60_000);
  world.addLivingPods(12);
  await world.advance(90_000);
  await world.deleteLivingPods(12);
  await world.advance(500_000);
  world.addLivingPods(3, 'later');
  await world.advance(400_000);
  return life;
}

/** Asserts that nothing is lost, doubled or orphaned, and no handshake is open. */
export function expectWell({ world, controller }: Life<AlibabaWorld>): void {
  const machine = world.machine();
  const shown = objectAt(world.ciliumNode(machine), 'status', 'alibaba-cloud', 'enis');
  expect(controller.controller.state).toBe('leading');
  expect(world.waiting()).toEqual([]);
  expect(world.held(machine)).toHaveLength(world.used().length + 8);
  expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
  expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
  expect(Object.keys(shown)).toHaveLength(world.interfaces(machine).length);
  expect(detachedInterfaces(world.cluster)).toEqual([]);
  expect(world.operatorError(machine)).toBe('');
  expect(world.broken()).toEqual([]);
}
