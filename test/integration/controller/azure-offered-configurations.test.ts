import { describe, expect, test } from '@jest/globals';
import {
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
  textMapAt,
} from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { oneMore } from '../../support/arm-hand.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;

type Offered = 'all' | 'own';

/** A node whose interface carries configurations of others before Headwater starts. */
async function worldWith(...edits: readonly ((configurations: readonly Json[]) => readonly Json[])[]) {
  const world = new AzureClusterWorld();
  const machine = world.machine();
  const { path } = world.cluster.arm.cloud.machine(machine.instanceId);
  for (const edit of edits) {
    void world.hand.change(path, edit);
    await world.advance(5 * minute);
  }
  return { world, machine, path };
}

function start(world: AzureClusterWorld, offered: Offered, identity = 'headwater-0'): WorldController {
  return startController(world, {
    identity,
    flags: {
      'azure-offered-configurations': offered,
      'azure-release-excess-ips': 'true',
      'excess-ip-release-delay': '20s',
      'resync-interval': '60s',
    },
  });
}

/** Addresses in Azure, by the names of their configurations. */
function byName(world: AzureClusterWorld, { instanceId }: NodeFacts): ReadonlyMap<string, string> {
  const { cloud } = world.cluster.arm;
  const all = cloud.interfacesOf(cloud.machine(instanceId)).flatMap(({ configurations }) => configurations);
  return new Map(all.map(({ name, address }) => [name, address ?? '']));
}

function shownOf(world: AzureClusterWorld, machine: NodeFacts): readonly string[] {
  return world.shown(machine).flatMap((item) => listAt(item, 'addresses').map((each) => textAt(each, 'ip')));
}

async function use(world: AzureClusterWorld, machine: NodeFacts, addresses: readonly string[]) {
  const pool = world.pool(machine);
  const before = Object.keys(objectAt(world.ciliumNode(machine), 'status', 'ipam', 'used'));
  const freed = before.map((each): [string, Json] => [each, null]);
  const entries = addresses.map((each): [string, Json] => [
    each,
    { owner: 'default/pod', resource: pool.get(each) ?? '' },
  ]);
  const used = Object.fromEntries([...freed, ...entries]) as JsonObject;
  await world.patchStatus(machine, { ipam: { used } });
}

/** The agent agrees to every release of what it does not use. */
async function answer(world: AzureClusterWorld, machine: NodeFacts): Promise<void> {
  const object = world.ciliumNode(machine);
  const used = Object.keys(objectAt(object, 'status', 'ipam', 'used'));
  const asked = textMapAt(object, 'status', 'ipam', 'release-ips');
  const states = [...asked].map(([address, state]): [string, Json] => {
    if (state === 'released') return [address, null];
    if (state !== 'marked-for-release') return [address, state];
    return [address, used.includes(address) ? 'do-not-release' : 'ready-for-release'];
  });
  const answers = Object.fromEntries(states) as JsonObject;
  if (states.length > 0) await world.patchStatus(machine, { ipam: { 'release-ips': answers } });
}

describe('configurations that others made', () => {
  test('are offered by default, and never removed', async () => {
    const { world, machine } = await worldWith(oneMore('by-hand'));
    start(world, 'all');
    await world.announce(machine);
    await world.advance(10 * minute);

    const foreign = byName(world, machine).get('by-hand') ?? '';
    expect(world.pool(machine).has(foreign)).toBe(true);
    expect(shownOf(world, machine)).toContain(foreign);
  });

  test('are not offered where only our own are, but take their places and are told of', async () => {
    const { world, machine } = await worldWith(oneMore('by-hand'), oneMore('ipv4-two'));
    const { controller } = start(world, 'own');
    await world.announce(machine);
    await world.advance(10 * minute);

    const names = byName(world, machine);
    const foreign = ['by-hand', 'ipv4-two'].map((name) => names.get(name) ?? '');
    expect(world.pool(machine).size).toBe(8);
    expect(foreign.filter((each) => world.pool(machine).has(each))).toEqual([]);
    expect(foreign.filter((each) => shownOf(world, machine).includes(each))).toEqual([]);
    expect(controller.status().excluded).toEqual([
      {
        node: machine.name,
        interface: expect.any(String),
        deviceIndex: 0,
        why: 'others made these addresses, or something outside the cluster leads to them',
        addresses: 2,
      },
    ]);
    expect(names.has('by-hand') && names.has('ipv4-two')).toBe(true);
    expect(world.bugs).toEqual([]);
  });

  test.each(['used', 'idle'] as const)(
    'stay offered after a take-over until they are free: %s',
    async (kind) => {
      const { world, machine } = await worldWith(oneMore('by-hand'));
      const first = start(world, 'all');
      await world.announce(machine);
      await world.advance(10 * minute);
      const foreign = byName(world, machine).get('by-hand') ?? '';
      await use(world, machine, kind === 'used' ? [foreign] : []);
      await world.advance(minute);
      const from = world.history.of(machine.name).length;

      first.kill();
      const { controller } = start(world, 'own', 'headwater-1');
      for (let step = 0; step < 60; step++) {
        await world.advance(10_000);
        await answer(world, machine);
      }
      const during = {
        isOffered: world.history
          .of(machine.name)
          .slice(from)
          .every(({ object }) => Object.hasOwn(objectAt(object, 'spec', 'ipam', 'pool'), foreign)),
        warnings: controller.status().warnings?.map(({ reason }) => reason),
      };
      await use(world, machine, []);
      for (let step = 0; step < 60; step++) {
        await world.advance(10_000);
        await answer(world, machine);
      }

      expect(during.isOffered).toBe(kind === 'used');
      expect(during.warnings).toEqual(kind === 'used' ? ['ExcludedAddressesInUse'] : []);
      expect(world.pool(machine).has(foreign)).toBe(false);
      expect(shownOf(world, machine)).not.toContain(foreign);
      expect(byName(world, machine).get('by-hand')).toBe(foreign);
      expect(world.pool(machine).size).toBeGreaterThanOrEqual(8);
      expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
      expect(world.bugs).toEqual([]);
    },
  );
});
