// The sum of a dry run beside the program that serves the nodes meanwhile: a second controller with a Lease of its own stands in
// for it.
import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import { explained, toldOf } from '../../support/explained.ts';
import { fastReleaseFlags } from '../../support/fast-release-flags.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const dry = { 'dry-run': 'true', 'leader-election-lease-name': 'headwater-dry' };

function worldOf(count: number): World {
  return new World({ cloud: testCloud({ instances: [instance({ count })] }) });
}

const sumOf = ({ controller }: WorldController): ReturnType<typeof controller.status>['dryRun'] =>
  controller.status().dryRun;

describe('the sum of a dry run', () => {
  test('says what it would do, by subnet, and is logged each minute', async () => {
    const world = worldOf(2);
    const controller = startController(world, { flags: dry });
    await world.announce(world.machine(0));
    await world.announce(world.machine(1), { spec: { ipam: { 'min-allocate': 15 } } });
    await world.advance(300_000);

    const sum = sumOf(controller);
    expect(sum).toMatchObject({
      verdict: 'go',
      nodes: { total: 2, read: 2 },
      would: { createInterfaces: 1, assign: 23, release: 0, deleteInterfaces: 0 },
      notServed: {},
    });
    expect(Object.values(sum?.subnets ?? {})).toEqual([23]);
    const { name } = world.machine(1);
    expect(toldOf(explained(controller.controller, name), 'dry run')).toContainEqual(
      expect.stringMatching(/^would now: create interfaces 1, assign 15 \(15 of subnet-\w+\)$/),
    );
    const logged = controller.logged.filter(({ message }) => message === 'sum of the dry run');
    expect(logged.length).toBeGreaterThanOrEqual(3);
    expect(logged.at(-1)?.details).toMatchObject({ would: sum?.would, sentence: sum?.sentence });
  });

  test('says go beside a program that decides the same', async () => {
    const world = worldOf(2);
    const controller = startController(world, { flags: dry, identity: 'dry' });
    await world.advance(60_000);
    startController(world, { identity: 'operator' });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(600_000);
    for (const machine of world.machines) await world.use(machine, 3);
    await world.advance(600_000);

    expect(world.pool(world.machine()).size).toBe(11);
    expect(sumOf(controller)).toMatchObject({
      verdict: 'go',
      sentence:
        'go: 2 nodes would be served; permissions to change were not asked: headwater check asks what it can',
      would: { createInterfaces: 0, assign: 0, release: 0, deleteInterfaces: 0 },
      same: 2,
      otherwise: 0,
    });
    expect(controller.changes).toEqual([]);
  });

  test('names the node where another program decides otherwise, and how', async () => {
    const world = worldOf(1);
    const controller = startController(world, { flags: dry, identity: 'dry' });
    const machine = world.machine();
    await world.announce(machine);
    await world.advance(90_000);
    const [first] = world.interfaces(machine);
    const claim = { addresses: [], count: 3, prefixes: [], prefixCount: 0 };
    assign(world.cluster.ec2.network, first?.id ?? '', claim, false);
    await world.advance(900_000);

    expect(sumOf(controller)).toMatchObject({
      verdict: 'go',
      sentence: expect.stringContaining('after a look at 1 node where another program decided otherwise'),
      otherwise: 1,
      decidedOtherwise: [{ node: machine.name, would: 'assign 8 addresses', did: 'assign 3 addresses' }],
    });
    expect(toldOf(explained(controller.controller, machine.name), 'dry run')).toContain(
      'another program decided otherwise: would: assign 8 addresses; done: assign 3 addresses',
    );
    expect(controller.controller.node('none')).not.toHaveProperty('dryRun');
  });

  test.each([
    ['another instance under its name', 1, 0],
    ['the same instance after a minute', 0, 70_000],
  ])('knows nothing of what was before its CiliumNode went: %s', async (_, index, later) => {
    const world = worldOf(2);
    const controller = startController(world, { flags: dry, identity: 'dry' });
    const gone = world.machine(0);
    await world.announce(gone);
    await world.advance(90_000);
    const [first] = world.interfaces(gone);
    const claim = { addresses: [], count: 3, prefixes: [], prefixCount: 0 };
    assign(world.cluster.ec2.network, first?.id ?? '', claim, false);
    await world.advance(900_000);
    expect(sumOf(controller)).toMatchObject({ otherwise: 1 });

    await world.delete(gone);
    await world.call('DELETE', `/api/v1/nodes/${gone.name}`);
    await world.advance(later);
    await world.announce({ ...world.machine(index), name: gone.name });
    await world.advance(130_000);
    expect(sumOf(controller)).toMatchObject({ nodes: { total: 1, read: 1 }, same: 0, otherwise: 0 });
  });

  test('says no-go with the reason if a node would not be served', async () => {
    const world = worldOf(2);
    const controller = startController(world, { flags: dry });
    await world.announce(world.machine(0));
    await world.announce({ ...world.machine(1), instanceType: 'odd.large' });
    await world.advance(300_000);

    expect(sumOf(controller)).toMatchObject({
      verdict: 'no-go',
      sentence: expect.stringMatching(/^no-go: \w+ on 1 node$/),
      nodes: { total: 2 },
    });
    expect(Object.values(sumOf(controller)?.notServed ?? {})).toEqual([1]);
  });

  test('says no-go while Nodes may not be read', async () => {
    const world = worldOf(2);
    for (const machine of world.machines) await world.announce(machine);
    const end = world.refuse(403, 'GET', /\/api\/v1\/nodes/);
    const controller = startController(world, { flags: dry });
    await world.advance(300_000);

    expect(sumOf(controller)).toMatchObject({
      verdict: 'no-go',
      sentence: 'no-go: Nodes cannot be read (2 CiliumNodes unverified)',
    });

    end();
    await world.advance(900_000);
    expect(sumOf(controller)).toMatchObject({ verdict: 'go' });
  });

  test('says no-go while the last read of the cloud failed', async () => {
    const world = worldOf(2);
    const controller = startController(world, { flags: { ...dry, 'resync-interval': '1m' } });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(300_000);
    const end = world.fault('DescribeNetworkInterfaces', {
      kind: 'error',
      status: 500,
      code: 'InternalError',
      message: 'it fails',
    });
    await world.advance(900_000);

    expect(sumOf(controller)).toMatchObject({
      verdict: 'no-go',
      sentence: expect.stringContaining('the last read of the cloud failed'),
    });

    end();
    await world.advance(300_000);
    expect(sumOf(controller)).toMatchObject({ verdict: 'go' });
  });

  test('says how many Nodes have no CiliumNode', async () => {
    const world = worldOf(3);
    const [first, ...others] = world.machines;
    await world.announce(first ?? world.machine());
    for (const { name } of others) await world.call('POST', '/api/v1/nodes', { metadata: { name } });
    const controller = startController(world, { flags: dry });
    await world.advance(90_000);

    expect(sumOf(controller)).toMatchObject({
      verdict: 'go',
      sentence:
        'go: 1 node would be served; 2 Nodes have no CiliumNode yet: their agents have not started; permissions to change were not asked: headwater check asks what it can',
    });
  });

  test('counts the CiliumNodes of machines that are gone', async () => {
    const world = worldOf(4);
    for (const machine of world.machines) await world.announce(machine);
    for (const { name } of world.machines)
      await world.patch({ name }, { metadata: { ownerReferences: null } });
    for (const { name } of world.machines.slice(1)) await world.call('DELETE', `/api/v1/nodes/${name}`);
    const controller = startController(world, { flags: dry });
    await world.advance(1_500_000);

    expect(sumOf(controller)?.would).toMatchObject({ deleteCiliumNodes: 3 });
    const names = world.machines.map(({ name }) => world.ciliumNode({ name }) !== undefined);
    expect(names).toEqual([true, true, true, true]);
  });

  test('counts what it would release', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const first = startController(world, { identity: 'operator' });
    await world.announce(machine, { spec: { ipam: { 'pre-allocate': 12 } } });
    await world.advance(60_000);
    first.stop();
    await world.advance(60_000);
    const controller = startController(world, { flags: { ...fastReleaseFlags, ...dry } });
    await world.patch(machine, { spec: { ipam: { 'pre-allocate': 4 } } });
    await world.advance(600_000);

    expect(sumOf(controller)?.would).toMatchObject({ assign: 0, release: 8 });
  });

  test('is absent without a dry run', async () => {
    const world = worldOf(1);
    const controller = startController(world);
    await world.announce(world.machine());
    await world.advance(180_000);

    expect(controller.controller.status()).not.toHaveProperty('dryRun');
    expect(controller.logged.filter(({ message }) => message === 'sum of the dry run')).toEqual([]);
  });
});
