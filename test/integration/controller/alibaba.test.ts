import { describe, expect, test } from '@jest/globals';
import { readyLife } from '../../../src/simulator/alibaba/states.ts';
import { unassign } from '../../../src/simulator/cloud/assignments.ts';
import { plainInterface } from '../../../src/simulator/cloud/instances.ts';
import { createInterface } from '../../../src/simulator/cloud/network-interfaces.ts';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { belongingTo } from '../../support/orphaned-interfaces.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

interface Change {
  readonly count?: number;
  readonly attachMs?: number;
  /** More of the instances. */
  readonly instance?: object;
  /** More instances. */
  readonly others?: readonly object[];
  readonly preAllocate?: number;
}

function worldOf({
  count = 1,
  attachMs = 3000,
  instance = {},
  others = [],
  preAllocate,
}: Change = {}): AlibabaWorld {
  const cloud = testAlibaba({
    vpcs: [{ name: 'main', blocks: ['10.0.0.0/16', '192.168.0.0/16'] }],
    vSwitches: [{ name: 'nodes', zone: 'cn-hangzhou-a', block: '10.0.0.0/18' }],
    instances: [ecsInstance({ count, ...instance }), ...others],
    latency: { scale: 0 },
    consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
    times: { createMs: 500, attachMs, deleteMs: 500, detachMs: 500 },
    reuse: 0,
  });
  return new AlibabaWorld({
    cloud,
    ...(preAllocate !== undefined && { configure: () => ({ ipam: { preAllocate } }) }),
  });
}

const releasing = { 'alibaba-cloud-release-excess-ips': 'true', 'excess-ip-release-delay': '10s' };

function poolOf(world: AlibabaWorld, machine = world.machine()): readonly string[] {
  return [...world.pool(machine).keys()];
}

function secondary(world: AlibabaWorld): readonly [string, object][] {
  const enis = objectAt(world.ciliumNode(world.machine()), 'status', 'alibaba-cloud', 'enis');
  return Object.entries(enis).flatMap(([id, eni]) =>
    textAt(eni, 'type') === 'Secondary' ? [[id, eni as object]] : [],
  );
}

function served(world: AlibabaWorld, count: number, machine = world.machine()): Promise<void> {
  return world.until(`${machine.name} has ${count} addresses`, () => poolOf(world, machine).length >= count);
}

function changesOf({ changes }: WorldController): readonly string[] {
  return changes.map(({ action }) => action);
}

function tokensOf({ calls }: WorldController, action: string): readonly unknown[] {
  return calls.filter((call) => call.action === action).map(({ input }) => input['clientToken']);
}

function warningsOf({ logged }: WorldController): readonly unknown[] {
  return logged.filter(({ level }) => level === 'warn').map(({ details }) => details);
}

/** Makes a detached interface that belongs to the cluster of this name; returns its id. */
function leave(world: AlibabaWorld, clusterName: string): string {
  const request = {
    ...plainInterface(world.machine().subnetId, []),
    tags: belongingTo(clusterName),
    life: readyLife(world.cluster.network),
  };
  return createInterface(world.cluster.network, request).id;
}

describe('on Alibaba Cloud, an attachment that is refused for a type which ECS does not know yet', () => {
  test('is repeated, and costs no interface', async () => {
    const world = worldOf();
    const refused: Fault = {
      kind: 'error',
      code: 'InvalidOperation.InvalidEniType',
      status: 403,
      message: 'type',
    };
    const { faults } = world.cluster.alibaba.gateway;
    faults.add({ action: 'AttachNetworkInterface', rate: 1, count: 2, match: {}, fault: refused });
    const controller = startController(world);
    await world.announce(world.machine());
    await served(world, 8);

    expect(changesOf(controller)).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AttachNetworkInterface',
      'AttachNetworkInterface',
    ]);
    expect(world.broken()).toEqual([]);
  });
});

describe('on Alibaba Cloud, a new node', () => {
  test('gets an interface with the addresses that it asks for, by two mutating calls', async () => {
    const world = worldOf();
    const node = world.machine();
    const controller = startController(world);

    await world.announce(node);
    await served(world, 8);

    expect(changesOf(controller)).toEqual(['CreateNetworkInterface', 'AttachNetworkInterface']);
    const [[id, eni] = ['', {}], ...others] = secondary(world);
    expect(others).toEqual([]);
    expect(eni).toMatchObject({
      'network-interface-id': id,
      'instance-id': node.instanceId,
      vpc: { cidr: '10.0.0.0/16', 'secondary-cidrs': ['192.168.0.0/16'] },
      vswitch: { cidr: '10.0.0.0/18' },
      tags: { 'cilium-eni-index': '1', 'io.cilium/cilium-managed': 'true' },
    });
    expect(world.broken()).toEqual([]);
  });

  test('gets one interface even if the answer to its creation shows an unknown type', async () => {
    const world = worldOf();
    const node = world.machine();
    world.fault('CreateNetworkInterface', { kind: 'garbled', form: 'unknownEnum' }, 1);
    const controller = startController(world);

    await world.announce(node);
    await served(world, 8);
    await world.advance(60_000);

    expect(changesOf(controller).filter((action) => action === 'CreateNetworkInterface')).toHaveLength(1);
    expect(world.interfaces(node)).toHaveLength(2);
    expect(world.broken()).toEqual([]);
  });

  test('is never offered an address of its primary interface', async () => {
    const world = worldOf({ instance: { addresses: 3 } });
    const node = world.machine();
    const controller = startController(world);

    await world.announce(node);
    await served(world, 8);

    const [primary] = world.interfaces(node).filter(({ deviceIndex }) => deviceIndex === 0);
    expect(primary?.addresses).toHaveLength(4);
    expect(poolOf(world).filter((address) => primary?.addresses.includes(address))).toEqual([]);
    const why = 'it is the primary interface';
    expect(controller.logged.map(({ details }) => details)).toContainEqual({
      node: node.name,
      interfaces: [{ interfaceId: primary?.id, deviceIndex: 0, why }],
    });
  });

  test('gets more than ten addresses of one interface, once it is attached', async () => {
    const world = worldOf({ preAllocate: 14 });
    const node = world.machine();
    const controller = startController(world);

    await world.announce(node);
    await served(world, 14);

    expect(changesOf(controller)).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AssignPrivateIpAddresses',
    ]);
    expect(secondary(world)).toHaveLength(1);
  });

  test('is not read again after the read that shows its interface attached', async () => {
    const world = worldOf();
    const node = world.machine();
    const controller = startController(world);

    await world.announce(node);
    await served(world, 8);
    await world.advance(10_000);

    const attached = controller.calls.findIndex(({ action }) => action === 'AttachNetworkInterface');
    const reads = controller.calls.slice(attached + 1);
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.filter(({ input }) => input['networkInterfaceId'] === undefined)).toEqual([]);
  });

  test('shares its reads with others', async () => {
    const world = worldOf({ count: 100 });
    const controller = startController(world);
    await world.advance(30_000);
    const before = controller.calls.length;

    await Promise.all(world.machines.map((node) => world.announce(node)));
    await world.until('all nodes have addresses', () =>
      world.machines.every((node) => poolOf(world, node).length >= 8),
    );

    const calls = controller.calls.slice(before).map(({ action }) => action);
    expect(calls.filter((action) => !action.startsWith('Describe'))).toHaveLength(200);
    expect(calls.filter((action) => action.startsWith('Describe')).length).toBeLessThanOrEqual(50);
  });

  test.each([
    ['outside of those that agents know', '77', '2'],
    ['the same twice', '2', '2'],
  ])('keeps and uses interfaces that others attached with index tags %s', async (_, one, other) => {
    const tagged = (value: string) => ({ addresses: 2, tags: { 'cilium-eni-index': value } });
    const world = worldOf({ instance: { interfaces: [tagged(one), tagged(other)] } });
    const node = world.machine();
    const controller = startController(world);

    await world.announce(node);
    await served(world, 8);

    expect(changesOf(controller).every((action) => action === 'AssignPrivateIpAddresses')).toBe(true);
    expect(secondary(world).map(([, eni]) => eni)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ tags: { 'cilium-eni-index': one } }),
        expect.objectContaining({ tags: { 'cilium-eni-index': other } }),
      ]),
    );
  });
});

describe('on Alibaba Cloud, a lost answer', () => {
  const lost: Fault = { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 };

  test.each(['CreateNetworkInterface', 'AssignPrivateIpAddresses'])(
    'to %s is asked for again with the same token, and nothing is made twice',
    async (action) => {
      const world = worldOf({ preAllocate: 14 });
      const node = world.machine();
      const controller = startController(world);
      world.fault(action, lost, 1);

      await world.announce(node);
      await served(world, 14);
      await world.advance(30_000);

      const tokens = tokensOf(controller, action);
      expect(tokens).toHaveLength(2);
      expect(new Set(tokens).size).toBe(1);
      expect(poolOf(world)).toHaveLength(14);
      expect(world.interfaces(node)).toHaveLength(2);
      expect(world.broken()).toEqual([]);
    },
  );

  test.each(['CreateNetworkInterface', 'AssignPrivateIpAddresses'])(
    'to %s whose request is still under way is asked for again with the same token',
    async (action) => {
      const world = worldOf({ preAllocate: 14 });
      const node = world.machine();
      const controller = startController(world);
      world.fault(
        action,
        { kind: 'error', code: 'IdempotentProcessing', status: 400, message: 'not yet' },
        1,
      );

      await world.announce(node);
      await served(world, 14);

      const tokens = tokensOf(controller, action);
      expect(tokens).toHaveLength(2);
      expect(new Set(tokens).size).toBe(1);
      expect(world.interfaces(node)).toHaveLength(2);
      expect(world.broken()).toEqual([]);
    },
  );

  test('that arrives late does not bring back an address that was taken away meanwhile', async () => {
    const world = worldOf({ preAllocate: 14 });
    const node = world.machine();
    const controller = startController(world, { flags: { 'consistency-window': '20s' } });
    world.fault('AssignPrivateIpAddresses', { ...lost, connection: 'hang' }, 1);
    const held = (): NetworkInterface | undefined =>
      world.interfaces(node).find(({ deviceIndex }) => deviceIndex === 1);
    await world.announce(node);
    await world.until('the assignment takes effect', () => held()?.addresses.length === 14);
    const taken = held()?.addresses.at(-1) ?? '';

    unassign(world.cluster.network, held()?.id ?? '', {
      addresses: [taken],
      prefixes: [],
    });
    const offered = new Set<string>();
    await world.until('the node has 14 addresses again', () => {
      for (const address of poolOf(world)) offered.add(address);
      return poolOf(world).length === 14;
    });

    expect(taken).not.toBe('');
    expect(offered).not.toContain(taken);
    expect(tokensOf(controller, 'AssignPrivateIpAddresses').length).toBeGreaterThan(1);
    expect(world.broken()).toEqual([]);
  });

  test('to AttachNetworkInterface is looked for', async () => {
    const world = worldOf();
    const node = world.machine();
    const controller = startController(world);
    world.fault('AttachNetworkInterface', lost, 1);

    await world.announce(node);
    await served(world, 8);

    expect(world.interfaces(node)).toHaveLength(2);
    expect(changesOf(controller).filter((action) => action === 'DeleteNetworkInterface')).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('on Alibaba Cloud, an attachment', () => {
  test('that falls back is tried again', async () => {
    const world = worldOf();
    const node = world.machine();
    const controller = startController(world);
    world.fault('AttachNetworkInterface', { kind: 'failed', code: 'InternalError', message: 'fell back' }, 1);

    await world.announce(node);
    await served(world, 8);

    expect(changesOf(controller).slice(0, 3)).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AttachNetworkInterface',
    ]);
    expect(world.interfaces(node)).toHaveLength(2);
  });

  test('that does not end is reported, and nothing is assigned meanwhile', async () => {
    const world = worldOf({ attachMs: 10_000_000 });
    const node = world.machine();
    const controller = startController(world);

    await world.announce(node);
    await world.advance(300_000);

    expect(poolOf(world)).toEqual([]);
    expect(changesOf(controller)).not.toContain('AssignPrivateIpAddresses');
    expect(changesOf(controller)).not.toContain('DeleteNetworkInterface');
    expect(warningsOf(controller)).toContainEqual(expect.objectContaining({ reason: 'InterfaceNotShown' }));
    const said = controller.logged.map(({ level, message }) => `${level} ${message}`);
    expect(said).toContain('warn new interface is still being attached');
    expect(said).not.toContain('info attached new interface');
  });
});

describe('on Alibaba Cloud, attachments that begin one after the other', () => {
  test('are waited for with half of the reads that a small share of the limits allows', async () => {
    const world = worldOf({ count: 20, attachMs: 10_000 });
    const controller = startController(world, { flags: { 'cloud-quota-share': '0.05' } });

    for (const node of world.machines) {
      await world.announce(node);
      await world.advance(3000);
    }
    for (const node of world.machines) await served(world, 8, node);

    const reads = controller.calls.filter(
      ({ action, input }) => action === 'DescribeNetworkInterfaces' && 'networkInterfaceId' in input,
    );
    expect(reads.length).toBeGreaterThan(0);
    const since = (end: number): number => reads.filter(({ at }) => at > end - 60_000 && at <= end).length;
    expect(Math.max(...reads.map(({ at }) => since(at)))).toBeLessThanOrEqual(20);
  });
});

describe('on Alibaba Cloud, a throttled call', () => {
  test('is repeated when its window has room again', async () => {
    const world = worldOf();
    const node = world.machine();
    const controller = startController(world);
    world.fault('CreateNetworkInterface', { kind: 'throttle' }, 1);

    await world.announce(node);
    await served(world, 8);

    expect(controller.calls.map(({ result }) => result).filter((result) => result !== 'OK')).toEqual([
      expect.stringMatching(/^Throttling/),
    ]);
  });
});

describe('on Alibaba Cloud, addresses that a node does not need', () => {
  test('are released once its agent has given them up', async () => {
    const world = worldOf();
    const controller = startController(world, { flags: releasing });
    await world.startAgents();
    world.addLivingPods(12);
    await world.until('all pods have addresses', () => world.used().length >= 12, 180_000);

    await world.deleteLivingPods(11);
    await world.until('the node has no more than it needs', () => poolOf(world).length <= 11, 900_000);
    await world.advance(60_000);

    expect(changesOf(controller)).toContain('UnassignPrivateIpAddresses');
    expect(poolOf(world)).toEqual(expect.arrayContaining([...world.used()]));
    expect([...world.held(world.machine())].sort()).toEqual([...poolOf(world)].sort());
    expect(world.broken()).toEqual([]);
  });
});

describe('on Alibaba Cloud, an agent that requests pools', () => {
  test('is warned about, and nothing of its node is released', async () => {
    const world = worldOf({ preAllocate: 14 });
    const node = world.machine();
    const controller = startController(world, { flags: releasing });
    await world.announce(node);
    await served(world, 14);

    const [kept = ''] = poolOf(world);
    const pools = {
      requested: [{ pool: 'default', needed: { 'ipv4-addrs': 2, 'ipv6-addrs': 2 } }],
      allocated: [{ pool: 'default', cidrs: [`${kept}/32`] }],
    };
    await world.patch(node, { spec: { ipam: { 'pre-allocate': 1, 'max-above-watermark': 0, pools } } });
    await world.advance(900_000);

    expect(poolOf(world)).toHaveLength(14);
    expect(changesOf(controller)).not.toContain('UnassignPrivateIpAddresses');
    expect(warningsOf(controller)).toContainEqual(
      expect.objectContaining({ reason: 'AgentProtocolUnsupported', node: node.name }),
    );
    expect(warningsOf(controller)).toContainEqual(
      expect.objectContaining({ reason: 'Ipv6NotSupported', node: node.name }),
    );
  });
});

describe('on Alibaba Cloud, an instance type', () => {
  test('that a node brings later is asked for when it appears', async () => {
    const world = worldOf({ others: [ecsInstance({ name: 'large', type: 'ecs.g7.2xlarge' })] });
    const [first, second] = [world.machine(0), world.machine(1)];
    const controller = startController(world);
    await world.announce(first);
    await served(world, 8, first);

    await world.announce(second);
    await served(world, 8, second);

    const asked = controller.calls.filter(({ action }) => action === 'DescribeInstanceTypes');
    expect(asked.map(({ input }) => input['instanceTypes'])).toEqual([
      [first.instanceType],
      [second.instanceType],
    ]);
  });
});

describe('on Alibaba Cloud, an orphaned interface of the cluster', () => {
  test('is deleted after a while, and one of others is not', async () => {
    const world = worldOf();
    const controller = startController(world, { flags: { 'cluster-name': 'demo', 'eni-gc-interval': '1m' } });
    await world.announce(world.machine());
    await served(world, 8);
    const [ours, others] = [leave(world, 'demo'), leave(world, 'another')];

    await world.until('ours is gone', () => !world.cluster.network.interfaces.has(ours), 900_000);
    await world.advance(300_000);

    expect(world.cluster.network.interfaces.has(others)).toBe(true);
    expect(changesOf(controller).slice(2)).toEqual(['DeleteNetworkInterface']);
  });
});

test('a node on Alibaba Cloud with static-ip-tags is blocked, and is told what to remove', async () => {
  const world = worldOf();
  const machine = world.machine();
  const controller = startController(world);
  await world.announce(machine, { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } });
  await served(world, 8);
  const { reasons } = controller.controller.status();
  const error = world.operatorError(machine);

  await world.patch(machine, { spec: { ipam: { 'static-ip-tags': null } } });
  await world.advance(10_000);

  expect(reasons).toEqual({ StaticIpNotSupported: 1 });
  expect(error).toContain("remove ipam-static-ip-tags from the configuration of Cilium's agent");
  expect(world.operatorError(machine)).toBe('');
});
