import { describe, expect, test } from '@jest/globals';
import { numberAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { lostAnswers } from '../../support/lost-answers.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const flags = { 'aws-enable-prefix-delegation': 'true' };
/** Nodes whose first interface carries no pods. */
const podSubnets = { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 };

function worldOf(
  facts: Partial<NodeFacts> = {},
  { type = 'm5.large', count = 1 }: { type?: string; count?: number } = {},
): World {
  return new World({
    cloud: testCloud({ instances: [instance({ type, count })] }),
    configure: () => facts,
  });
}

/** Pod addresses of the machine in the cloud, including those in prefixes. */
function podAddresses(world: World, machine: NodeFacts): number {
  const prefixes = prefixesOf(world, machine).flat();
  return world.held(machine).length + prefixes.length * 16;
}

/** Prefixes of each interface of the machine in the cloud, in order of device index. */
function prefixesOf(world: World, machine: NodeFacts): readonly (readonly string[])[] {
  return world.interfaces(machine).map(({ prefixes }) => prefixes);
}

/** Changes of the controller: `Assign 1x16`, `Create subnet +9`, with the error code of a failure. */
function changes({ changes: made }: WorldController): readonly string[] {
  return made
    .filter(({ action }) => /^(Assign|Create)/.test(action))
    .map(({ action, input, result }) => {
      const prefixes = numberAt(input, 'Ipv4PrefixCount');
      const content =
        prefixes > 0 ? `${prefixes}x16` : `+${numberAt(input, 'SecondaryPrivateIpAddressCount')}`;
      const subnet = action.startsWith('Create') ? ` ${nameOf[textAt(input, 'SubnetId')]}` : '';
      return `${action.slice(0, 6)}${subnet} ${content}${result === 'OK' ? '' : ` ${result}`}`;
    });
}

const nameOf: Readonly<Record<string, string>> = {
  [ids.nodes]: 'nodes',
  [ids.pods]: 'pods',
  [ids.morePods]: 'morePods',
};

/** The most pod addresses of the machine at any instant. */
async function mostWithin(world: World, machine: NodeFacts, ms: number): Promise<number> {
  let max = 0;
  await world.clock.runUntil(() => {
    max = Math.max(max, podAddresses(world, machine));
    return false;
  }, ms);
  return max;
}

describe('a node with prefixes', () => {
  test('grows by whole prefixes, which status and pool show', async () => {
    const world = worldOf();
    const machine = world.machine();
    const controller = startController(world, { flags });
    await world.announce(machine);
    await world.until('16 addresses are offered', () => world.pool(machine).size === 16);

    await world.use(machine, 9);
    await world.until('32 addresses are offered', () => world.pool(machine).size === 32);
    await world.advance(60_000);

    const [eni] = Object.values(world.enis(machine));
    expect(changes(controller)).toEqual(['Assign 1x16', 'Assign 1x16']);
    expect(world.held(machine)).toEqual([]);
    expect(textsAt(eni, 'prefixes').toSorted()).toEqual(prefixesOf(world, machine).flat().toSorted());
    expect(textsAt(eni, 'addresses').toSorted()).toEqual([...world.pool(machine).keys()].toSorted());
    expect(await controller.metric(`cilium_operator_ipam_available_ips{target_node="${machine.name}"}`)).toBe(
      432,
    );
    expect(world.broken()).toEqual([]);
  });

  test('gets new interfaces that are created with prefixes', async () => {
    const world = worldOf({ eni: podSubnets });
    const machine = world.machine();
    const controller = startController(world, { flags });

    await world.announce(machine, { spec: { ipam: { 'min-allocate': 150 } } });
    await world.until('160 addresses are offered', () => world.pool(machine).size === 160);

    expect(changes(controller).toSorted()).toEqual(['Create pods 1x16', 'Create pods 9x16']);
    expect(prefixesOf(world, machine).map(({ length }) => length)).toEqual([0, 9, 1]);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('keeps its single addresses, and fills the other slots with prefixes', async () => {
    const world = worldOf();
    const machine = world.machine();
    const before = startController(world);
    await world.announce(machine);
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
    const single = [...world.pool(machine).keys()];
    before.stop();
    await world.advance(30_000);

    const controller = startController(world, { flags, identity: 'headwater-1' });
    await world.use(machine, 1);
    await world.until('24 addresses are offered', () => world.pool(machine).size === 24);

    expect(changes(controller)).toEqual(['Assign 1x16']);
    expect(world.interfaces(machine)).toHaveLength(1);
    expect([...world.pool(machine).keys()]).toEqual(expect.arrayContaining(single));
    expect(world.broken()).toEqual([]);
  });

  test('keeps its prefixes when it gets no more, and grows beyond what single addresses alone allow', async () => {
    const world = worldOf();
    const machine = world.machine();
    const before = startController(world, { flags });
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 32 } } });
    await world.until('32 addresses are offered', () => world.pool(machine).size === 32);
    before.stop();
    await world.advance(30_000);

    const controller = startController(world, { identity: 'headwater-1' });
    await world.use(machine, 30);
    await world.until('38 addresses are offered', () => world.pool(machine).size === 38);

    expect(changes(controller)).toEqual(['Assign +6']);
    expect(world.broken()).toEqual([]);
  });

  test.each([
    ['its type cannot carry them', 'm4.xlarge', {}, {}],
    ['its agent disables them', 'm5.large', { eni: { disablePrefixDelegation: true } }, {}],
    ['the option is off', 'm5.large', {}, { 'aws-enable-prefix-delegation': 'false' }],
  ])('gets no prefixes when %s', async (_, type, facts, flag) => {
    const world = worldOf(facts, { type });
    const machine = world.machine();
    const controller = startController(world, { flags: { ...flags, ...flag } });

    await world.announce(machine);
    await world.advance(60_000);

    expect(changes(controller)).toEqual(['Assign +8']);
    expect(world.pool(machine).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });

  test('gets prefixes on bare metal too', async () => {
    const world = worldOf({}, { type: 'm5.metal' });
    const machine = world.machine();
    const controller = startController(world, { flags });

    await world.announce(machine);
    await world.until('16 addresses are offered', () => world.pool(machine).size === 16);

    expect(changes(controller)).toEqual(['Assign 1x16']);
  });

  test.each([
    { maxAllocate: 15, made: ['Assign +8', 'Assign +1', 'Create nodes +6'] },
    { maxAllocate: 16, made: ['Assign 1x16'] },
    { maxAllocate: 20, made: ['Assign 1x16', 'Assign +4'] },
    { maxAllocate: 32, made: ['Assign 1x16', 'Assign 1x16'] },
  ])('never has more than max-allocate $maxAllocate', async ({ maxAllocate, made }) => {
    const world = worldOf({ ipam: { maxAllocate } });
    const machine = world.machine();
    const controller = startController(world, { flags });
    await world.announce(machine);
    await world.advance(30_000);

    await world.use(machine, Math.min(12, world.pool(machine).size));
    const max = await mostWithin(world, machine, 60_000);
    await world.addPods(machine, { count: 40 });
    const surging = await mostWithin(world, machine, 60_000);

    expect(changes(controller).toSorted()).toEqual(made.toSorted());
    expect(world.pool(machine).size).toBe(maxAllocate);
    expect(Math.max(max, surging)).toBe(maxAllocate);
    expect(world.broken()).toEqual([]);
  });
});

describe('a space that is reserved for prefixes', () => {
  const reserved = { block: '10.0.1.128/25', type: 'prefix' };

  function worldWithReservation(count: number): World {
    const cloud = testCloud({
      subnets: [{ ...subnets.nodes, block: '10.0.0.0/23', reservations: [reserved] }],
      routeTables: [],
      instances: [instance({ count })],
    });
    return new World({ cloud });
  }

  test('serves nodes although no other address of their subnet is left', async () => {
    const world = worldWithReservation(2);
    world.occupy(ids.nodes);
    await world.advance(5000);
    const controller = startController(world, { flags });

    for (const machine of world.machines) await world.announce(machine);
    await world.advance(120_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([16, 16]);
    expect(changes(controller)).toEqual(['Assign 1x16', 'Assign 1x16']);
    expect(world.machines.flatMap(({ name }) => world.events(name))).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('a subnet without whole blocks', () => {
  test('is skipped at once when another subnet has whole blocks', async () => {
    const world = worldOf({ eni: podSubnets });
    const machine = world.machine();
    const controller = startController(world, { flags });
    world.fragment(ids.pods);

    await world.announce(machine);
    await world.until('16 addresses are offered', () => world.pool(machine).size === 16, 20_000);

    expect(changes(controller)).toEqual(['Create pods 1x16 InsufficientCidrBlocks', 'Create morePods 1x16']);
    expect(controller.warnings()).toEqual([]);
    expect(
      await controller.metric('headwater_blocked{resource="subnet",reason="PrefixSpaceFragmented"}'),
    ).toBe(1);
    expect(world.broken()).toEqual([]);
  });

  test('sends the node to a new interface in another subnet although an interface has room', async () => {
    const world = worldOf({ eni: { subnetTags: { purpose: 'pods' } } });
    const machine = world.machine();
    const controller = startController(world, { flags });
    world.fragment(ids.nodes);

    await world.announce(machine);
    await world.until('16 addresses are offered', () => world.pool(machine).size === 16, 20_000);

    expect(changes(controller)).toEqual(['Assign 1x16 InsufficientCidrBlocks', 'Create pods 1x16']);
    expect(world.interfaces(machine).map(({ subnetId }) => subnetId)).toEqual([ids.nodes, ids.pods]);
    expect(world.broken()).toEqual([]);
  });

  test('gives single addresses when no other subnet has whole blocks, and prefixes again once it can', async () => {
    const world = worldOf({ eni: podSubnets, ipam: { preAllocate: 4 } });
    const machine = world.machine();
    const controller = startController(world, { flags });
    const freed = [world.fragment(ids.pods), world.fragment(ids.morePods)];
    const began = world.clock.monotonic();
    await world.announce(machine);
    await world.until('4 addresses are offered', () => world.pool(machine).size === 4, 20_000);
    const took = world.clock.monotonic() - began;
    const first = changes(controller);

    await world.use(machine, 1);
    await world.until('5 addresses are offered', () => world.pool(machine).size === 5, 20_000);
    const second = changes(controller).slice(first.length);
    freed.forEach((give) => give());
    await world.advance(121_000);
    await world.use(machine, 2);
    await world.until('21 addresses are offered', () => world.pool(machine).size === 21, 20_000);

    expect(took).toBeLessThan(15_000);
    expect(first).toEqual([
      'Create pods 1x16 InsufficientCidrBlocks',
      'Create morePods 1x16 InsufficientCidrBlocks',
      'Create pods +4',
    ]);
    // The refusal is remembered: no node requests prefixes in vain.
    expect(second).toEqual(['Assign +1']);
    expect(changes(controller).slice(first.length + 1)).toEqual(['Assign 1x16']);
    expect(world.interfaces(machine)).toHaveLength(2);
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });

  test('gives the blocks that it has to a node that needs more', async () => {
    const world = worldOf({ eni: { subnetIds: [ids.nodes] } });
    const machine = world.machine();
    const controller = startController(world, { flags });
    world.fragment(ids.nodes, 3);

    await world.announce(machine, { spec: { ipam: { 'min-allocate': 64 } } });
    await world.until('64 addresses are offered', () => world.pool(machine).size === 64, 30_000);

    expect(prefixesOf(world, machine).flat()).toHaveLength(3);
    expect(changes(controller)[0]).toBe('Assign 4x16 InsufficientCidrBlocks');
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });

  test('is tried once for a fleet, and then every two minutes at most', async () => {
    const world = worldOf({ eni: podSubnets }, { count: 6 });
    const controller = startController(world, { flags });
    world.fragment(ids.pods);
    await world.announce(world.machine(0));
    await world.advance(20_000);

    for (const machine of world.machines.slice(1)) await world.announce(machine);
    await world.advance(30_000);

    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([16, 16, 16, 16, 16, 16]);
    expect(changes(controller).filter((change) => change.includes('Insufficient'))).toHaveLength(1);
    expect(world.broken()).toEqual([]);
  });

  test('is asked for one prefix when it has fewer than 16 free addresses, and not again soon', async () => {
    const world = worldOf({ eni: podSubnets });
    const machine = world.machine();
    world.occupy(ids.pods, 12);
    world.occupy(ids.morePods, 14);
    await world.advance(5000);
    const controller = startController(world, { flags });

    await world.announce(machine);
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);

    expect(changes(controller)).toEqual([
      'Create pods 1x16 InvalidParameterValue',
      'Create morePods 1x16 InvalidParameterValue',
      'Create morePods +8',
    ]);
    expect(world.broken()).toEqual([]);
  });

  test.each(['InvalidParameterValue', 'InsufficientFreeAddressesInSubnet'])(
    'is recognized by %s',
    async (code) => {
      const world = worldOf();
      const machine = world.machine();
      const message = "There aren't sufficient free Ipv4 addresses or prefixes";
      world.fault('AssignPrivateIpAddresses', { kind: 'error', code, status: 400, message }, 1);
      const controller = startController(world, { flags });

      await world.announce(machine);
      await world.until('it is served', () => world.pool(machine).size === 16, 20_000);

      expect(changes(controller)).toEqual([`Assign 1x16 ${code}`, 'Create pods 1x16']);
    },
  );
});

const cases = ['AssignPrivateIpAddresses', 'CreateNetworkInterface', 'AttachNetworkInterface'].flatMap(
  (action) => [1, 4].flatMap((times) => lostAnswers.map((way) => ({ action, times, ...way }))),
);

describe('an answer about prefixes', () => {
  test.each(cases)(
    'creates nothing twice when it $how, $times times: $action',
    async ({ action, fault, times }) => {
      // Nine prefixes fill the first interface, so that the rest takes a second one.
      const nodes = { ...subnets.nodes, block: '10.0.0.0/20' };
      const world = new World({
        cloud: testCloud({ subnets: [nodes, subnets.pods, subnets.morePods] }),
        configure: () => ({ ipam: { minAllocate: 170, maxAllocate: 180 } }),
      });
      const machine = world.machine();
      startController(world, { flags });
      await world.advance(25_000);

      world.fault(action, fault, times);
      await world.announce(machine);
      const peak = await mostWithin(world, machine, 600_000);
      await world.request(machine, 180);
      await world.advance(200_000);

      expect(peak).toBeLessThanOrEqual(180);
      expect(podAddresses(world, machine)).toBe(180);
      expect(world.pool(machine).size).toBe(180);
      expect(world.orphaned()).toEqual([]);
      expect(world.operatorError(machine)).toBe('');
      expect(world.broken()).toEqual([]);
    },
  );

  test('is accepted as it is when it names more than the request', async () => {
    const world = worldOf();
    const machine = world.machine();
    const shown = new Map<string, string>();
    const controller = startController(world, {
      flags,
      tamper: (action, output) => {
        if (action !== 'AssignPrivateIpAddresses') return output;
        const { prefixes, addresses } = world.interfaces(machine)[0] ?? { prefixes: [], addresses: [] };
        prefixes.forEach((prefix) => shown.set(prefix, prefix));
        return {
          ...output,
          AssignedPrivateIpAddresses: addresses.map((PrivateIpAddress) => ({ PrivateIpAddress })),
          AssignedIpv4Prefixes: prefixes.map((Ipv4Prefix) => ({ Ipv4Prefix })),
        };
      },
    });
    await world.announce(machine);
    await world.until('16 addresses are offered', () => world.pool(machine).size === 16);

    await world.use(machine, 10);
    await world.until('32 addresses are offered', () => world.pool(machine).size === 32);

    expect(changes(controller)).toEqual(['Assign 1x16', 'Assign 1x16']);
    expect(shown.size).toBe(2);
    expect(world.broken()).toEqual([]);
  });
});

describe('agents with prefixes', () => {
  test.each(['crd-allocator', 'multi-pool'] as const)(
    'give addresses of prefixes to their pods under the protocol %s',
    async (protocol) => {
      const world = worldOf({ protocol }, { count: 3 });
      const controller = startController(world, { flags });
      const { workload } = world.cluster;
      void workload.start();
      await world.until('every agent serves', () =>
        world.machines.every((machine) => world.pool(machine).size > 0),
      );

      const load = {
        kind: 'burst',
        name: 'batch',
        at: 0,
        pods: 90,
        over: 1000,
        lifetime: 3_600_000,
      } as const;
      void workload.run(load, new AbortController().signal);
      await world.until('every pod has an address', () => workload.waits.count === 90);
      await world.advance(60_000);

      const used = workload.views.map(({ addressesInUse }) => addressesInUse.size);
      expect(used.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(90);
      world.machines.forEach((machine, index) => {
        const pool = world.pool(machine).size;
        expect(pool % 16).toBe(0);
        expect(pool - (used[index] ?? 0)).toBeGreaterThanOrEqual(8);
        expect(world.held(machine)).toEqual([]);
      });
      expect(changes(controller).filter((change) => !change.endsWith('x16'))).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});

// An agent of 1.20 or later decides itself what it releases.
describe('a node of an asking agent with releases on', () => {
  test('ends with prefixes only, whatever it had before', async () => {
    const world = worldOf({ eni: podSubnets });
    const machine = world.machine();
    startController(world, { flags: { ...flags, 'aws-release-excess-ips': 'true' } });
    const { workload } = world.cluster;
    const freed = [world.fragment(ids.pods), world.fragment(ids.morePods)];
    void workload.start();
    await world.advance(60_000);
    const before = { single: world.held(machine).length, prefixes: prefixesOf(world, machine).flat().length };

    freed.forEach((give) => give());
    await world.advance(121_000);
    const pods = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
    for (const name of pods) await workload.createPod({ name, placement: 'spread' });
    await world.advance(60_000);
    for (const name of pods) await workload.deletePod(`default/${name}`);
    await world.advance(900_000);

    const used = workload.views[0]?.addressesInUse ?? new Map<string, string>();
    expect(before).toEqual({ single: 10, prefixes: 0 });
    expect(prefixesOf(world, machine).flat()).toHaveLength(1);
    expect(world.held(machine).filter((address) => !used.has(address))).toEqual([]);
    expect(world.pool(machine).size - used.size).toBeGreaterThanOrEqual(8);
    expect(world.broken()).toEqual([]);
  });
});
