import { describe, expect, test } from '@jest/globals';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const nodesList = { what: 'CiliumNodes', path: /\/ciliumnodes(\?|$)/ };
const clusterNodesList = { what: 'Nodes', path: /\/nodes(\?|$)/ };
const podsList = { what: 'Pods', path: /\/pods\?.*status.phase/ };

const ciliumNodes = /^\/apis\/cilium\.io\/v2\/ciliumnodes/;

function worldOf(count = 2): World {
  return new World({ cloud: testCloud({ instances: [instance({ count })] }) });
}

test('newer fields are still written when reads of the definition of CiliumNodes fail with 503 at startup', async () => {
  const publicAddresses = [{ count: 1, tags: { pool: 'egress' } }];
  const world = new World({ cloud: testCloud({ instances: [instance()], publicAddresses }) });
  world.refuse(503, 'GET', /customresourcedefinitions/, 3);
  const controller = startController(world);
  const machine = world.machine();

  await world.announce(machine, { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } });
  await world.advance(60_000);

  expect(textAt(world.ciliumNode(machine), 'status', 'ipam', 'assigned-static-ip')).not.toBe('');
  expect(controller.warnings()).toEqual([]);
});

describe('a controller in trouble with Kubernetes', () => {
  test.each([1, 2, 5])('computes its writes again after %d answers of 409 in a row', async (times) => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);

    world.refuse(409, 'PATCH', ciliumNodes, times);
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
    await world.advance(60_000);

    expect(controller.publications.filter(({ status }) => status === 409)).toHaveLength(times);
    expect(controller.warnings()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('still writes when another client writes all the time, so that it gets 409', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    let left = 12;
    startController(world, {
      beforeAnswer: async ({ path }) => {
        if (!ciliumNodes.test(path) || left-- <= 0) return;
        await world.patch(machine, { metadata: { labels: { written: String(left) } } });
      },
    });

    await world.announce(machine);
    await world.advance(60_000);

    expect(world.pool(machine).size).toBe(8);
    expect(world.broken()).toEqual([]);
  });

  test('retries a write more and more rarely that always gets 409', async () => {
    const world = worldOf(1);
    const controller = startController(world);
    world.refuse(409, 'PATCH', ciliumNodes);
    await world.announce(world.machine());
    await world.advance(300_000);

    await world.advance(300_000);

    const late = controller.publications.filter(({ at }) => at > 300_000);
    expect(late.length).toBeLessThan(300);
    expect(world.broken()).toEqual([]);
  });

  test.each([
    { part: 'status', path: /\/status$/, offered: 0 },
    { part: 'spec', path: /ciliumnodes\/[^/]+$/, offered: 0 },
  ])('reports writes of the $part that get 403 once a node, and tries again', async ({ part, path }) => {
    const world = worldOf(2);
    for (const machine of world.machines) await world.announce(machine);
    const controller = startController(world);

    const end = world.refuse(403, 'PATCH', path);
    await world.advance(300_000);
    const during = {
      offered: world.machines.map((machine) => world.pool(machine).size),
      denied: await controller.metric(`headwater_ciliumnode_writes_total{part="${part}",outcome="denied"}`),
      warnings: controller.logged.filter(({ level }) => level === 'warn'),
    };
    end();
    await world.advance(60_000);

    expect(during.offered).toEqual([0, 0]);
    expect(during.denied).toBeGreaterThanOrEqual(10);
    expect(during.denied).toBeLessThanOrEqual(50);
    expect(
      new Set(during.warnings.map(({ message, details }) => `${message} ${String(details['node'])}`)),
    ).toEqual(new Set(world.machines.map(({ name }) => `cannot publish a node ${name}`)));
    expect(during.warnings).toHaveLength(2);
    expect(during.warnings[0]?.details['problem']).toContain('refused by the test');
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([8, 8]);
    expect(world.broken()).toEqual([]);
  });

  test('reports Events that get 403 once, and continues as before', async () => {
    const world = worldOf(2);
    world.refuse(403, 'POST', /\/events/);
    world.occupy(ids.nodes, 8);
    world.occupy(ids.pods);
    world.occupy(ids.morePods);
    await world.advance(5000);
    const controller = startController(world);

    for (const machine of world.machines) await world.announce(machine);
    await world.advance(300_000);

    const pools = world.machines.map((machine) => world.pool(machine).size);
    expect(pools.toSorted((a, b) => a - b)).toEqual([0, 8]);
    expect(controller.warnings().toSorted()).toEqual(['cannot write Events', 'node cannot be satisfied']);
    expect(world.machines.filter((machine) => world.operatorError(machine) !== '')).toHaveLength(1);
  });

  test('finds the missed changes by a new list when its watch gets 410', async () => {
    const world = worldOf(2);
    const controller = startController(world);
    const [machine, other] = [world.machine(0), world.machine(1)];
    await world.announce(machine);
    await world.advance(30_000);
    const { faults } = world.cluster.kubernetes;

    const end = world.kubernetesFault({
      path: /watch=true.*allowWatchBookmarks|allowWatchBookmarks.*watch=true/,
      effect: { kind: 'dropBefore' },
    });
    faults.closeWatches(/allowWatchBookmarks/);
    await world.advance(1000);
    await world.announce(other);
    await world.request(machine, 12);
    faults.expireHistory();
    end();
    await world.advance(60_000);

    expect(world.pool(machine).size).toBe(12);
    expect(world.pool(other).size).toBe(8);
    expect(await controller.metric('headwater_watch_relists_total{resource="ciliumnodes"}')).toBeGreaterThan(
      0,
    );
    expect(world.broken()).toEqual([]);
  });

  test('reports, while watches fail, why a CiliumNode is not served that replaced one of its name between two lists', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const twin = { ...machine, name: 'twin' };
    startController(world);
    await world.announce(machine);
    await world.announce(twin);
    await world.advance(30_000);
    const before = world.operatorError(twin);

    const end = world.refuse(503, 'GET', /ciliumnodes\?.*watch=true/);
    // The open watch ends.
    await world.advance(700_000);
    await world.delete(twin);
    await world.announce(twin);
    await world.advance(120_000);
    end();
    await world.advance(120_000);

    expect(before).toMatch(/already served/);
    expect(world.operatorError(twin)).toBe(before);
  });

  test('continues where it was after a minute without answers in the middle of a burst', async () => {
    const world = worldOf(4);
    const controller = startController(world, { flags: { 'leader-election': 'false' } });
    void world.cluster.workload.start();
    await world.advance(60_000);
    const load = { kind: 'burst', name: 'web', at: 0, pods: 60, over: 3000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(3500);

    const end = world.kubernetesFault({ effect: { kind: 'dropBefore' } });
    world.cluster.kubernetes.faults.cutWatches(/allowWatchBookmarks/);
    await world.advance(60_000);
    end();
    await world.advance(180_000);

    expect(world.cluster.workload.waits.count).toBe(60);
    expect(world.orphaned()).toEqual([]);
    expect(controller.controller.problem()).toBeUndefined();
    expect(world.broken()).toEqual([]);
  });

  test('loses leadership after a minute without answers, and the next one takes over', async () => {
    const world = worldOf(4);
    const first = startController(world);
    void world.cluster.workload.start();
    await world.advance(60_000);
    const load = { kind: 'burst', name: 'web', at: 0, pods: 60, over: 3000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(3500);

    const end = world.kubernetesFault({ effect: { kind: 'dropBefore' } });
    await world.advance(30_000);
    const outcome = await Promise.race([first.outcome, Promise.resolve('still leading')]);
    const calls = first.calls.length;
    startController(world, { identity: 'headwater-1' });
    await world.advance(30_000);
    end();
    await world.advance(180_000);

    expect(outcome).toBe('lost');
    expect(first.calls).toHaveLength(calls);
    expect(world.cluster.workload.waits.count).toBe(60);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test.each([
    { ...nodesList, how: 'the same process leads on', next: false, known: [4, 0] },
    { ...nodesList, how: 'another process leads', next: true, known: [0, 0] },
    { ...clusterNodesList, how: 'the same process leads on', next: false, known: [4, 0] },
    { ...clusterNodesList, how: 'another process leads', next: true, known: [4, 4] },
    { ...podsList, how: 'the same process leads on', next: false, known: [4, 0] },
    { ...podsList, how: 'another process leads', next: true, known: [4, 0] },
  ])('takes nothing and serves all again after an empty list of $what while $how', async (given) => {
    const world = worldOf(4);
    const flags = {
      'aws-release-excess-ips': 'true',
      'excess-ip-release-delay': '30s',
      'cluster-name': 'blue',
    };
    const first = startController(world, { flags });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);
    for (const machine of world.machines) await world.use(machine, 4);
    await world.advance(60_000);
    const before = world.machines.map((machine) => world.pool(machine));

    const { faults } = world.cluster.kubernetes;
    const end = world.kubernetesFault({ method: 'GET', path: given.path, effect: { kind: 'emptyList' } });
    faults.expireHistory();
    faults.cutWatches(/allowWatchBookmarks/);
    if (given.next) first.stop();
    const leader = given.next ? startController(world, { identity: 'headwater-1', flags }) : first;
    await world.advance(300_000);
    const meanwhile = world.machines.map((machine) => world.pool(machine));
    const { nodes, unverified } = leader.controller.status();
    end();
    await world.advance(120_000);
    // No agent writes these CiliumNodes again.
    for (const machine of world.machines) await world.addPods(machine, { count: 12, prefix: machine.name });
    await world.advance(60_000);

    expect(before.map(({ size }) => size)).toEqual([12, 12, 12, 12]);
    expect(meanwhile).toEqual(before);
    // A process that has just started knows none.
    expect([nodes?.['total'], unverified?.count ?? 0]).toEqual(given.known);
    expect(world.machines.map((machine) => world.pool(machine).size)).toEqual([16, 16, 16, 16]);
    expect([...first.removals, ...leader.removals]).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('changes nothing after events that are late and doubled', async () => {
    const world = worldOf(4);
    startController(world);
    world.kubernetesFault({ path: /allowWatchBookmarks/, effect: { kind: 'delayEvents', ms: 3000 } });
    world.kubernetesFault({ path: /allowWatchBookmarks/, effect: { kind: 'duplicateEvents' } });

    void world.cluster.workload.start();
    const load = { kind: 'steady', name: 'web', arrivalsPerMinute: 20, meanLifetime: 60_000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(400_000);

    expect(world.cluster.workload.waits.count).toBeGreaterThan(60);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

/** The schema without the fields of newer versions of Cilium. */
function oldSchema(): JsonObject {
  const text = JSON.stringify(
    ciliumNodeCrd.spec.versions[0].schema.openAPIV3Schema,
    (name, value: unknown) =>
      ['public-ip', 'operator-status', 'assigned-static-ip', 'ipv6-prefixes', 'prefixes'].includes(name)
        ? undefined
        : value,
  );
  return JSON.parse(text) as JsonObject;
}

describe('a definition of CiliumNode', () => {
  test('lacks newer fields, and the controller does not repeat writes of them', async () => {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 2 })], publicAddresses: [{ count: 1 }] }),
    });
    await world.installSchema(oldSchema());
    const [publicAddress] = world.cluster.ec2.network.all('publicAddresses').values();
    const [first] = world.interfaces(world.machine(0));
    const association = { AllocationId: publicAddress?.id, NetworkInterfaceId: first?.id };
    void world.cluster.ec2.gateway.call('AssociateAddress', association, { arn: 'arn' });
    world.occupy(ids.nodes, 8);
    world.occupy(ids.pods);
    world.occupy(ids.morePods);
    await world.advance(5000);
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);
    const writes = controller.publications.length;

    await world.advance(1_800_000);

    expect(controller.publications).toHaveLength(writes);
    expect(world.cluster.ec2.network.all('publicAddresses').values().next().value?.association).toBeDefined();
    expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(['', '']);
    expect(controller.warnings()).toEqual(['node cannot be satisfied']);
    expect(world.machines.map((machine) => world.pool(machine).size).toSorted((a, b) => a - b)).toEqual([
      0, 8,
    ]);
    expect(world.broken()).toEqual([]);
  });

  test('is read again by a standby that started during an outage and becomes the leader', async () => {
    const world = new World({
      cloud: testCloud({
        instances: [instance()],
        publicAddresses: [{ count: 1, tags: { pool: 'egress' } }],
      }),
    });
    const first = startController(world);
    const end = world.refuse(503, 'GET', /customresourcedefinitions/);
    const second = startController(world, { identity: 'headwater-1' });
    await world.advance(60_000);
    end();
    first.stop();
    await world.until('the second leads', () => second.controller.state === 'leading', 60_000);
    const machine = world.machine();

    await world.announce(machine, { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } });
    await world.advance(60_000);

    expect(textAt(world.ciliumNode(machine), 'status', 'ipam', 'assigned-static-ip')).not.toBe('');
    expect(second.warnings()).toEqual([
      'writing only fields of a CiliumNode that every version of Cilium has',
    ]);
  });

  test('may not be read, and the controller writes only fields that every version has', async () => {
    const world = worldOf(1);
    world.refuse(403, 'GET', /customresourcedefinitions/);
    const controller = startController(world);

    await world.announce(world.machine());
    await world.advance(60_000);

    expect(world.pool(world.machine()).size).toBe(8);
    expect(controller.warnings()).toEqual([
      'writing only fields of a CiliumNode that every version of Cilium has',
    ]);
    expect(world.broken()).toEqual([]);
  });
});
