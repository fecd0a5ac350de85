// Two releases share a cluster: each serves the nodes whose Node has the labels of its selector.
import { describe, expect, test } from '@jest/globals';
import { explained, toldOf } from '../../support/explained.ts';
import { LabelledWorld } from '../../support/labelled-world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const ours = { 'node-selector': 'network=eni', 'nodes-gc-interval': '1m' };

describe('a node whose Node lacks the labels of the selector', () => {
  test('is not written, given addresses, counted or measured', async () => {
    const world = new LabelledWorld(2);
    const [machine, other] = [world.machine(), world.machine(1)];
    const controller = startController(world, { flags: ours });
    await world.join(0, 'eni');
    await world.join(1, 'blocks');
    await world.advance(60_000);
    await world.request(other, 25);
    await world.advance(300_000);

    expect(world.pool(machine).size).toBe(8);
    expect(world.pool(other).size).toBe(0);
    expect(controller.writes.filter(({ path }) => path.includes(other.name))).toEqual([]);
    expect(controller.calls.filter(({ input }) => JSON.stringify(input).includes(other.instanceId))).toEqual(
      [],
    );
    expect(controller.controller.status()).toMatchObject({
      nodeSelector: 'network=eni',
      leftToOthers: 1,
      nodes: { total: 1, satisfied: 1, leftAlone: 0 },
      pendingPods: 0,
    });
    expect(await controller.metric('headwater_nodes{state="total"}')).toBe(1);
    const lines = explained(controller.controller, other.name);
    expect(lines[0]).toBe(`${other.name}: left to others`);
    expect(toldOf(lines, 'why')).toEqual([
      'its Node does not have the labels of node-selector network=eni: another release serves it',
    ]);
    expect(world.broken()).toEqual([]);
  });

  test('keeps its CiliumNode when its Node is gone, and loses it when it is ours', async () => {
    const world = new LabelledWorld(2);
    startController(world, { flags: ours });
    await world.join(0, 'eni');
    await world.join(1, 'blocks');
    await world.advance(30_000);
    for (const index of [0, 1]) await world.call('DELETE', `/api/v1/nodes/${world.machine(index).name}`);
    await world.call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'another' },
    });
    await world.advance(600_000);

    const [isThere, isOthersThere] = [0, 1].map(
      (index) => world.ciliumNode(world.machine(index)) !== undefined,
    );
    expect({ isThere, isOthersThere }).toEqual({ isThere: false, isOthersThere: true });
  });
});

describe('while Nodes cannot be listed, which say whose a node is', () => {
  test('a process that starts serves none, also by the labels that agents copied, and names that list', async () => {
    const world = new LabelledWorld(2);
    await world.join(0, 'eni');
    await world.join(1, 'blocks');
    for (const machine of world.machines)
      await world.patch(machine, { metadata: { labels: { network: 'eni' } } });
    const answer = world.refuse(500, 'GET', /\/v1\/nodes\?/);
    const controller = startController(world, { flags: ours });
    await world.advance(120_000);
    const waits = [controller.controller.state, controller.controller.unreadiness(), controller.publications];
    answer();
    await world.until('its own node is served', () => world.pool(world.machine()).size === 8);

    expect(waits).toEqual([
      'starting',
      'it reads the cluster: cannot list Nodes (status 500): refused by the test with 500',
      [],
    ]);
    expect(world.pool(world.machine(1)).size).toBe(0);
  });

  test('a process that may not read them goes by the labels that agents copied', async () => {
    const world = new LabelledWorld(1);
    await world.join(0, 'blocks');
    await world.patch(world.machine(), { metadata: { labels: { network: 'eni' } } });
    world.refuse(403, 'GET', /\/v1\/nodes\?/);
    const controller = startController(world, { flags: ours });
    await world.advance(60_000);

    expect(controller.controller.status()).toMatchObject({ state: 'leading', nodes: { total: 1 } });
  });
});

describe('a node that moves', () => {
  test('out keeps all that it has, and gets nothing more', async () => {
    const world = new LabelledWorld(1);
    const machine = world.machine();
    const controller = startController(world, {
      flags: { ...ours, 'aws-release-excess-ips': 'true', 'excess-ip-release-delay': '10s' },
    });
    await world.join(0, 'eni');
    await world.request(machine, 25);
    await world.advance(60_000);
    const before = world.pool(machine);
    await world.label(0, 'blocks');
    await world.advance(10_000);
    const [written, called] = [controller.writes.length, controller.changes.length];

    await world.request(machine, 0);
    await world.advance(900_000);

    expect(before.size).toBe(25);
    expect(world.pool(machine)).toEqual(before);
    expect(controller.writes.slice(written).filter(({ path }) => path.includes(machine.name))).toEqual([]);
    expect(controller.changes.slice(called)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('in is served once nothing of its former release can take effect any more', async () => {
    const world = new LabelledWorld(1);
    const machine = world.machine();
    const { controller } = startController(world, { flags: ours });
    await world.join(0, 'blocks');
    await world.advance(60_000);
    await world.label(0, 'eni');
    await world.advance(55_000);
    const [settling, size] = [explained(controller, machine.name)[0], world.pool(machine).size];
    await world.advance(30_000);

    expect(settling).toBe(`${machine.name}: settling`);
    expect(size).toBe(0);
    expect(world.pool(machine).size).toBe(8);
    expect(controller.status()).toMatchObject({ leftToOthers: 0, nodes: { total: 1 } });
  });

  test('from one release to another is served by one at a time, and loses nothing', async () => {
    const world = new LabelledWorld(2);
    const machine = world.machine();
    const [first, second] = ['one', 'two'].map((network) =>
      startController(world, {
        identity: `headwater-${network}`,
        flags: { 'node-selector': `network=${network}`, 'leader-election-lease-name': network },
      }),
    );
    await world.join(0, 'one');
    await world.join(1, 'two');
    await world.advance(60_000);
    const before = world.pool(machine);

    await world.label(0, 'two');
    await world.request(machine, 20);
    await world.advance(180_000);

    expect(before.size).toBe(8);
    expect(world.pool(machine).size).toBe(20);
    for (const [address] of before) expect(world.pool(machine).has(address)).toBe(true);
    expect(second?.changes.length).toBeGreaterThan(0);
    expect(first?.warnings()).toEqual([]);
    expect(second?.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('two releases that choose one node', () => {
  const release = (name: string, selector: string) => ({
    identity: `headwater-${name}`,
    flags: {
      'leader-election-lease-name': name,
      ...(selector !== '' && { 'node-selector': selector }),
    },
  });

  test('leave it to the one with the older Lease, and both say so', async () => {
    const world = new LabelledWorld(2);
    const machine = world.machine();
    const older = startController(world, release('one', 'network'));
    await world.join(0, 'eni');
    await world.advance(60_000);
    const younger = startController(world, release('two', 'network in (eni,other)'));
    await world.join(1, 'other');
    await world.request(machine, 20);
    await world.advance(180_000);

    expect(world.pool(machine).size).toBe(20);
    expect(younger.changes).toEqual([]);
    expect(younger.writes.filter(({ path }) => /ciliumnodes/.test(path))).toEqual([]);
    const ofNode = { node: machine.name, reason: 'NodeSelectorsOverlap' };
    expect(older.controller.status()).toMatchObject({
      nodes: { total: 2 },
      overlaps: expect.arrayContaining([expect.objectContaining({ ...ofNode, lease: 'two' })]),
    });
    expect(younger.controller.status()).toMatchObject({
      nodes: { total: 0 },
      overlaps: expect.arrayContaining([expect.objectContaining({ ...ofNode, lease: 'one' })]),
    });
    expect(explained(younger.controller, machine.name).slice(0, 2)).toEqual([
      `${machine.name}: contested`,
      expect.stringContaining('NodeSelectorsOverlap'),
    ]);
    for (const { logged } of [older, younger])
      expect(logged.map(({ message }) => message)).toContain(
        'nodes are chosen by two releases: the one with the older Lease serves them',
      );
    expect(world.broken()).toEqual([]);
  });

  test('by a changed label leave it to the older one, until the Lease of that one is gone', async () => {
    const world = new LabelledWorld(1);
    const machine = world.machine();
    const older = startController(world, release('one', 'network=one'));
    await world.join(0, 'one');
    await world.advance(60_000);
    startController(world, release('two', 'network'));
    await world.advance(60_000);
    older.stop();
    await world.advance(60_000);
    await world.request(machine, 20);
    await world.advance(120_000);
    const contested = world.pool(machine).size;
    await world.call('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/one');
    await world.advance(180_000);

    expect(contested).toBe(8);
    expect(world.pool(machine).size).toBe(20);
    expect(world.broken()).toEqual([]);
  });

  test.each([
    ['a wider selector', 'network', 'leading'],
    ['no selector', '', 'catchingUp'],
  ])(
    'because the older one came back with %s: it takes over what the younger one has left',
    async (_, wider, state) => {
      const world = new LabelledWorld(2);
      const machine = world.machine(1);
      const older = startController(world, release('one', 'network=eni'));
      await world.join(0, 'eni');
      await world.advance(60_000);
      const younger = startController(world, release('two', 'network=blocks'));
      await world.join(1, 'blocks');
      await world.until('the younger one serves it', () => world.pool(machine).size === 8);
      older.stop();
      await world.advance(30_000);
      const again = startController(world, release('one', wider));
      const of = ({ calls }: WorldController): number =>
        calls.filter(({ input }) => JSON.stringify(input).includes(machine.instanceId)).length;
      await world.until('it leads, or will', () => again.controller.status().state === state);
      await world.advance(1000);
      await world.request(machine, 15);
      await world.until(
        'the younger one looks',
        () => (younger.controller.status().overlaps ?? []).length > 0,
      );
      const before = {
        calls: of(again),
        writes: again.writes.filter(({ path }) => path.includes(machine.name)),
      };
      const unready = again.controller.unreadiness();
      await world.request(machine, 20);
      await world.advance(180_000);

      expect(before).toEqual({ calls: 0, writes: [] });
      expect(unready).toEqual(
        wider === '' ? expect.stringContaining('until the release of the Lease two') : undefined,
      );
      expect(again.changes.length).toBeGreaterThan(0);
      expect(world.pool(machine).size).toBe(20);
      expect(world.broken()).toEqual([]);
    },
  );

  test.each([
    ['its leader changes again before the younger one has looked', 'network', {}, 0],
    ['what that one began may take effect for long', '', { 'consistency-window': '10m' }, 600_000],
  ])('and is not served by both although %s', async (_, wider, flags, longer) => {
    const world = new LabelledWorld(2);
    const machine = world.machine(1);
    const older = startController(world, release('one', 'network=eni'));
    await world.join(0, 'eni');
    await world.advance(60_000);
    const younger = startController(world, release('two', 'network=blocks'));
    await world.join(1, 'blocks');
    await world.until('the younger one serves it', () => world.pool(machine).size === 8);
    older.stop();
    await world.advance(30_000);
    const { identity, flags: given } = release('one', wider);
    const first = startController(world, { identity, flags: { ...given, ...flags } });
    await world.advance(5000);
    if (longer === 0) first.stop();
    const again =
      longer === 0 ? startController(world, { ...release('one', wider), identity: 'third' }) : first;
    await world.until('it has the Lease', () => again.controller.status().state !== 'standby');
    await world.advance(1000);
    await world.request(machine, 15);
    await world.until('the younger one looks', () => (younger.controller.status().overlaps ?? []).length > 0);
    const touched = again.writes.filter(({ path }) => path.includes(machine.name));
    await world.advance(longer);
    const later = again.writes.filter(({ path }) => path.includes(machine.name));
    await world.advance(180_000);
    await world.request(machine, 20);
    await world.advance(60_000);

    expect([touched, longer === 0 ? [] : later]).toEqual([[], []]);
    expect(again.logged.filter(({ level }) => level === 'error')).toEqual([]);
    expect(world.pool(machine).size).toBe(20);
    expect(world.broken()).toEqual([]);
  });

  test('is known before anything is served, as soon as the API server answers again', async () => {
    const world = new LabelledWorld(1);
    const machine = world.machine();
    startController(world, release('one', 'network=eni'));
    await world.join(0, 'eni');
    await world.advance(60_000);
    const end = world.refuse(500, 'GET', /leases(\?|$)/);
    const younger = startController(world, release('two', 'network'));
    await world.advance(20_000);
    const unready = younger.controller.unreadiness();
    end();
    await world.until('it leads', () => younger.controller.status().state === 'leading', 10_000);
    await world.request(machine, 20);
    await world.advance(30_000);

    expect(unready).toContain('refused by the test with 500');
    expect(younger.warnings().join()).toContain('cannot read Leases');
    expect(younger.changes).toEqual([]);
  });

  test('is looked for later if the API server does not answer for a minute', async () => {
    const world = new LabelledWorld(1);
    world.refuse(500, 'GET', /leases(\?|$)/);
    const controller = startController(world, release('one', 'network=eni'));
    await world.join(0, 'eni');

    await world.until('it is served', () => world.pool(world.machine()).size === 8, 90_000);
    expect(controller.controller.unreadiness()).toBeUndefined();
  });

  test('one of them without a selector: the younger one ends at its start, and says why', async () => {
    const world = new LabelledWorld(1);
    startController(world, release('one', 'network=eni'));
    await world.join(0, 'eni');
    await world.advance(60_000);
    const whole = startController(world, release('two', ''));
    await world.advance(60_000);

    expect(await whole.outcome).toBe('lost');
    expect(whole.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'another release serves nodes of this cluster, and this one has no node-selector',
        details: expect.objectContaining({ lease: 'one', nodeSelector: 'network=eni' }),
      }),
    );
    expect(whole.changes).toEqual([]);
  });

  test('one of them without a selector: the younger one ends once the older one chooses a Node, too', async () => {
    const world = new LabelledWorld(2);
    const machine = world.machine(1);
    const older = startController(world, release('one', 'network=eni'));
    await world.advance(60_000);
    const whole = startController(world, release('two', ''));
    await world.join(0, 'other');
    await world.advance(120_000);
    const before = whole.controller.status();
    await world.join(1, 'eni');
    await world.advance(70_000);
    const { state } = whole.controller.status();
    const written = whole.writes.length;
    await world.request(machine, 20);
    await world.advance(60_000);

    expect(before).toMatchObject({ state: 'leading', nodes: { total: 1 } });
    expect(state).toBe('stopped');
    expect(await whole.outcome).toBe('lost');
    expect(whole.writes).toHaveLength(written);
    expect(older.changes.length).toBeGreaterThan(0);
    expect(world.pool(machine).size).toBe(20);
    expect(world.broken()).toEqual([]);
  });

  test('one of them without a selector: the younger one goes on while the older one does not run', async () => {
    const world = new LabelledWorld(1);
    const older = startController(world, release('one', 'network=eni'));
    await world.advance(60_000);
    const whole = startController(world, release('two', ''));
    await world.advance(60_000);
    older.stop();
    await world.advance(60_000);
    await world.join(0, 'eni');
    await world.advance(300_000);

    expect(whole.controller.status()).toMatchObject({ state: 'leading', nodes: { total: 1 } });
    expect(world.pool(world.machine()).size).toBe(8);
  });

  test('one of them in a dry run: it plans for all that it chooses, and the other one serves it', async () => {
    const world = new LabelledWorld(1);
    const machine = world.machine();
    const older = startController(world, release('one', 'network'));
    await world.join(0, 'eni');
    await world.advance(60_000);
    const dry = startController(world, {
      ...release('two', ''),
      flags: { ...release('two', '').flags, 'dry-run': 'true' },
    });
    await world.request(machine, 20);
    await world.advance(180_000);

    expect(dry.controller.status()).toMatchObject({ nodes: { total: 1 } });
    expect(older.controller.status()).not.toHaveProperty('overlaps');
    expect(world.pool(machine).size).toBe(20);
  });

  test('that may not read Leases say so once, and go on', async () => {
    const world = new LabelledWorld(1);
    world.cluster.kubernetes.authorize = ({ resource, verb }) => !(resource === 'leases' && verb === 'list');
    const controller = startController(world, release('one', 'network=eni'));
    await world.join(0, 'eni');
    await world.advance(300_000);

    expect(world.pool(world.machine()).size).toBe(8);
    expect(controller.warnings().filter((message) => message.startsWith('cannot read Leases'))).toHaveLength(
      1,
    );
  });
});
