// What cilium-operator does beside giving out addresses: CiliumNodes of machines that are gone are deleted, and Nodes whose
// agent is ready are opened for pods.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { type JsonObject, valueAt } from '../../../src/simulator/workload/json.ts';
import { mountedConfig } from '../../support/config-directory.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const interval = 300_000;
/** An agent sets the Node as the owner: then Kubernetes deletes both together. */
const unowned = { metadata: { ownerReferences: null } };

describe('a CiliumNode without a Node', () => {
  let world: World;

  beforeEach(async () => {
    world = new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });
    await world.announce(world.machine(2));
  });

  const isThere = (): boolean => world.ciliumNode(world.machine()) !== undefined;

  test('is deleted once two passes find none, and nothing of it is left', async () => {
    const controller = startController(world);
    await world.announce(world.machine(), unowned);
    await world.call('DELETE', `/api/v1/nodes/${world.machine().name}`);
    await world.advance(interval - 60_000);
    const early = isThere();
    await world.advance(2 * interval);

    expect([early, isThere()]).toEqual([true, false]);
    expect(world.ciliumNode(world.machine(2))).toBeDefined();
    expect(controller.controller.status().nodes).toMatchObject({ total: 1 });
    expect(await controller.metric('headwater_ciliumnode_gc_total{outcome="deleted"}')).toBe(1);
    expect(world.broken()).toEqual([]);
  });

  test.each<[string, JsonObject, Readonly<Record<string, string>>]>([
    ['its owner asks to keep', { annotations: { 'cilium.io/do-not-gc': 'true' } }, {}],
    [
      'something owns',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'other', uid: 'uid-of-another' }] },
      {},
    ],
    ['is to be ignored', { annotations: { 'ipam.cilium.io/ignore': 'true' } }, {}],
    ['stays with an interval of 0', {}, { 'nodes-gc-interval': '0' }],
    ['stays in a dry run', {}, { 'dry-run': 'true' }],
  ])('that %s stays', async (_, metadata, flags) => {
    startController(world, { flags });
    await world.announceAlone(world.machine(), { metadata: { ...unowned.metadata, ...metadata } });

    await world.advance(4 * interval);

    expect(isThere()).toBe(true);
  });

  test('stays while not a single Node is known', async () => {
    startController(world);
    await world.announceAlone(world.machine(), unowned);
    await world.call('DELETE', `/api/v1/nodes/${world.machine(2).name}`);

    await world.advance(4 * interval);

    expect(isThere()).toBe(true);
  });
});

describe('CiliumNodes without a Node, of which one cannot go', () => {
  let world: World;
  let names: readonly string[];
  const left = (): readonly string[] => names.filter((name) => world.ciliumNode({ name }) !== undefined);

  beforeEach(async () => {
    world = new World({ cloud: testCloud({ instances: [instance({ count: 4 })] }) });
    for (const machine of world.machines) await world.announce(machine, unowned);
    names = world.machines.map(({ name }) => name).toSorted();
    for (const name of names.slice(0, 2)) await world.call('DELETE', `/api/v1/nodes/${name}`);
  });

  test('are deleted, and the one that a finalizer keeps counts once', async () => {
    await world.patch({ name: names[0] ?? '' }, { metadata: { finalizers: ['example.com/keep'] } });
    const controller = startController(world);
    await world.advance(12 * interval);

    expect(left()).toEqual([names[0], ...names.slice(2)]);
    expect(await controller.metric('headwater_ciliumnode_gc_total{outcome="deleted"}')).toBe(2);
    expect(controller.warnings()).toEqual([]);
  });

  const failed = 'cannot delete a CiliumNode without a Node: what is reserved for it stays';

  test('are deleted, and the one whose deletion is denied is reported', async () => {
    world.refuse(403, 'DELETE', new RegExp(`/ciliumnodes/${names[0]}`));
    const controller = startController(world);
    await world.advance(12 * interval);

    expect(left()).toEqual([names[0], ...names.slice(2)]);
    expect(controller.logged.filter(({ level }) => level === 'warn').at(-1)).toMatchObject({
      message: failed,
      details: { node: names[0], problem: expect.stringMatching(/^allow Headwater to delete ciliumnodes /) },
    });
  });

  test('are reported once if no deletion is allowed', async () => {
    world.refuse(403, 'DELETE', /ciliumnodes/);
    const controller = startController(world);
    await world.advance(12 * interval);

    expect(left()).toEqual(names);
    expect(controller.warnings()).toEqual([failed]);
  });
});

const taint = { key: 'node.cilium.io/agent-not-ready', effect: 'NoSchedule' };
const other = { key: 'team', value: 'a', effect: 'NoExecute' };
const pods = '/api/v1/namespaces/kube-system/pods';

describe('a Node that awaits its agent', () => {
  const flags = { 'manage-agent-taint': 'true', 'k8s-namespace': 'kube-system' };
  let world: World;
  let name: string;

  beforeEach(async () => {
    world = new World();
    ({ name } = world.machine());
    await world
      .call('POST', '/api/v1/namespaces', { metadata: { name: 'kube-system' } })
      .catch(() => undefined);
    await world.announce(world.machine());
    await world.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: [other, taint] } });
  });

  async function addAgent(ready: 'True' | 'False', labels = { 'k8s-app': 'cilium' }): Promise<void> {
    await world.call('POST', pods, {
      metadata: { name: 'agent', namespace: 'kube-system', labels },
      spec: { nodeName: name, hostNetwork: true, containers: [{ name: 'agent', image: 'cilium' }] },
    });
    await setReady(ready);
  }

  async function setReady(status: 'True' | 'False'): Promise<void> {
    await world.call('PATCH', `${pods}/agent/status`, {
      status: { conditions: [{ type: 'Ready', status }] },
    });
  }

  const taints = (): unknown => valueAt(node(), 'spec', 'taints');
  const conditions = (): unknown => valueAt(node(), 'status', 'conditions');
  const node = (): JsonObject => world.cluster.kubernetes.get('nodes', name) ?? {};

  test('is opened for pods as its agent is ready, and keeps its other taints', async () => {
    const controller = startController(world, { flags });
    await addAgent('False');
    await world.advance(60_000);
    const before = taints();
    await setReady('True');
    await world.advance(5000);

    expect(before).toEqual([other, taint]);
    expect(taints()).toEqual([other]);
    expect(conditions()).toEqual([
      expect.objectContaining({
        type: 'NetworkUnavailable',
        status: 'False',
        reason: 'CiliumIsUp',
        message: 'Cilium is running on this node',
      }),
    ]);
    expect(controller.warnings()).toEqual([]);
  });

  test('is opened by a new leader, also if the taint comes later, and then left alone', async () => {
    await addAgent('True');
    const controller = startController(world, { flags });
    await world.advance(30_000);
    const first = taints();
    await world.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: [taint] } });
    await world.advance(30_000);
    const second = taints();
    const writes = controller.writes.filter(({ path }) => path.includes('/nodes/')).length;
    await world.advance(600_000);

    expect([first, second]).toEqual([[other], undefined]);
    expect(controller.writes.filter(({ path }) => path.includes('/nodes/'))).toHaveLength(writes);
    expect(controller.warnings()).toEqual([]);
  });

  test('is opened once Headwater may read Nodes, which it might not at its start', async () => {
    const allow = world.refuse(403, 'GET', /\/api\/v1\/nodes/);
    await addAgent('True');
    startController(world, { flags });
    await world.advance(120_000);
    const before = taints();
    allow();
    await world.advance(120_000);

    expect([before, taints()]).toEqual([[other, taint], [other]]);
  });

  const closed = 'a Node stays closed for pods although its agent is ready';
  const noCondition =
    'the condition NetworkUnavailable of a Node is not set to false although its agent is ready';

  test.each([
    ['the taint of Nodes', /\/nodes\/[^/]+$/, closed, [other, taint]],
    ['the status of Nodes', /\/nodes\/[^/]+\/status$/, noCondition, [other]],
  ])('is reported once for all if Headwater may not change %s', async (_, path, warning, left) => {
    const allow = world.refuse(403, 'PATCH', path);
    await addAgent('True');
    const controller = startController(world, { flags });
    await world.advance(600_000);
    const denied = [taints(), controller.warnings()];
    allow();
    await world.advance(120_000);

    expect(denied).toEqual([left, [warning]]);
    expect([taints(), conditions(), controller.warnings()]).toEqual([
      [other],
      [expect.objectContaining({ reason: 'CiliumIsUp' })],
      [warning],
    ]);
  });

  test('is reported again once another part of it fails', async () => {
    const allow = world.refuse(500, 'PATCH', /\/nodes\/[^/]+$/);
    world.refuse(500, 'PATCH', /\/nodes\/[^/]+\/status$/);
    await addAgent('True');
    const controller = startController(world, { flags });
    await world.advance(300_000);
    allow();
    await world.advance(300_000);

    expect(controller.warnings()).toEqual([closed, noCondition]);
  });

  test('is named once in a dry run, and opened once that ends', async () => {
    const config = mountedConfig();
    config.mount({ 'dry-run': 'true' });
    const controller = startController(world, {
      flags: { ...flags, 'config-dir': config.path },
      processEnvironment: { ...thisProcess, environment: {} },
    });
    await addAgent('True');
    await world.advance(60_000);
    await world.call('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels: { a: 'b' } } });
    await world.advance(60_000);
    const dry = [taints(), namedIn(controller)];
    config.mount({});
    await world.advance(60_000);
    config.remove();

    expect(dry).toEqual([[other, taint], [name]]);
    expect([taints(), namedIn(controller)]).toEqual([[other], [name]]);
  });

  const namedIn = ({ logged }: WorldController): readonly unknown[] =>
    logged
      .filter(({ message }) => message === 'dry run: would open a Node for pods, because its agent is ready')
      .map(({ details }) => details['node']);

  const notFound = ['no pod of a Cilium agent is found: Nodes keep their taint'];

  test.each<[string, Readonly<Record<string, string>>, () => Promise<void>, readonly string[]]>([
    ['without the option', { 'k8s-namespace': 'kube-system' }, () => addAgent('True'), []],
    ['in a dry run', { ...flags, 'dry-run': 'true' }, () => addAgent('True'), []],
    ['by a pod that is no agent', flags, () => addAgent('True', { 'k8s-app': 'other' }), notFound],
    [
      'by an agent of another namespace',
      { ...flags, 'cilium-pod-namespace': 'default' },
      () => addAgent('True'),
      notFound,
    ],
  ])('is not opened %s', async (_, given, addPod, warnings) => {
    const controller = startController(world, { flags: given });
    await addPod();

    await world.advance(120_000);

    expect(taints()).toEqual([other, taint]);
    expect(conditions()).toBeUndefined();
    expect(controller.warnings()).toEqual(warnings);
  });
});

test('a Node is opened in the mode cluster-pool once Headwater may read Nodes, which it might not at its start', async () => {
  const flags = {
    ipam: 'cluster-pool',
    'cluster-pool-ipv4-cidr': '10.0.0.0/22',
    'manage-agent-taint': 'true',
  };
  const blocks = new BlockWorld({ seed: 'one', command: 'run', flags });
  const agent = { name: 'agent', namespace: 'kube-system', labels: { 'k8s-app': 'cilium' } };
  await blocks.ask('POST', '/api/v1/namespaces', { metadata: { name: 'kube-system' } });
  await blocks.ask('POST', '/api/v1/nodes', { metadata: { name: 'a' }, spec: { taints: [taint] } });
  await blocks.ask('POST', pods, {
    metadata: agent,
    spec: { nodeName: 'a', hostNetwork: true, containers: [{ name: 'agent', image: 'cilium' }] },
  });
  await blocks.ask('PATCH', `${pods}/agent/status`, {
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const failure = { code: 403, reason: 'Forbidden', message: 'no' };
  const allow = blocks.model.faults.inject({
    times: Infinity,
    method: 'GET',
    path: /\/api\/v1\/nodes/,
    effect: { kind: 'refuse', failure },
  });
  blocks.startReplica();
  await blocks.clock.advance(120_000);
  allow();
  const before = valueAt(await blocks.ask('GET', '/api/v1/nodes/a'), 'spec', 'taints');
  await blocks.clock.advance(120_000);

  expect(before).toEqual([taint]);
  expect(valueAt(await blocks.ask('GET', '/api/v1/nodes/a'), 'spec', 'taints')).toBeUndefined();
});

describe('the security groups of an interface that exists', () => {
  const second = { spec: { ipam: { 'min-allocate': 15 } } };

  test('are reported if new ones would get others, and never changed', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, second);
    await world.advance(400_000);
    const before = controller.warnings();
    const [, made] = world.interfaces(machine);
    await world.patch(machine, { spec: { eni: { 'security-groups': [ids.podGroup] } } });
    await world.advance(200_000);
    const early = controller.warnings();
    await world.advance(200_000);

    expect([before, early]).toEqual([[], []]);
    expect(controller.controller.status().warnings).toEqual([
      {
        node: machine.name,
        reason: 'SecurityGroupsDiffer',
        why: expect.stringContaining(`give ${made?.id} the`),
      },
    ]);
    expect(world.interfaces(machine)[1]?.groupIds).toEqual(made?.groupIds);
    await world.patch(machine, { spec: { eni: { 'security-groups': [...(made?.groupIds ?? [])] } } });
    await world.advance(10_000);
    expect(controller.controller.status().warnings).toEqual([]);
  });

  test('are what a node asks for if it names one twice', async () => {
    const world = new World();
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, {
      spec: { ...second.spec, eni: { 'security-groups': [ids.podGroup, ids.podGroup] } },
    });
    await world.advance(800_000);

    expect(world.interfaces(machine)[1]?.groupIds).toEqual([ids.podGroup]);
    expect(controller.controller.status().warnings).toEqual([]);
  });
});
