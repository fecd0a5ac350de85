import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const wrongKeys: Fault = {
  kind: 'error',
  code: 'AuthFailure',
  status: 401,
  message: 'AWS was not able to validate the provided access credentials',
};

const reads = [
  'DescribeVpcs',
  'DescribeSubnets',
  'DescribeRouteTables',
  'DescribeSecurityGroups',
  'DescribeNetworkInterfaces',
  'DescribeInstances',
  'DescribeInstanceTypes',
];

const remedy = 'check the credentials that Headwater uses';

/** Refuses every read; returns a function that ends that. */
function refuseReads(world: World): () => void {
  const ends = reads.map((action) => world.fault(action, wrongKeys));
  return () => ends.forEach((end) => end());
}

function readyOf({ controller }: WorldController): string {
  return controller.unreadiness() ?? 'ready';
}

const says = ({ logged }: WorldController, text: string): number =>
  logged.filter(({ level, message }) => level !== 'debug' && message === text).length;

async function nodesBy(controller: WorldController): Promise<Readonly<Record<string, number | undefined>>> {
  const states = ['total', 'satisfied', 'in_deficit', 'blocked', 'unknown'];
  const counts = await Promise.all(
    states.map((state) => controller.metric(`headwater_nodes{state="${state}"}`)),
  );
  return Object.fromEntries(states.map((state, index) => [state, counts[index]]));
}

describe('the readiness of a process', () => {
  test('is in its status, with its age, and that of what is known of the cloud', async () => {
    const world = new World();
    const end = refuseReads(world);
    const controller = startController(world);
    await world.announce(world.machine());
    await world.advance(60_000);
    controller.controller.unreadiness();
    await world.advance(60_000);
    const before = controller.controller.status();

    end();
    await world.until('it is ready', () => readyOf(controller) === 'ready');
    await world.advance(120_000);
    const after = controller.controller.status();

    expect(before).toMatchObject({
      ready: false,
      notReadyForSeconds: expect.any(Number),
      notReadyBecause: expect.stringContaining(remedy),
      cloudRead: { problem: expect.stringContaining(remedy) },
      denied: [{ permission: 'credentials', remedy, why: expect.stringContaining(wrongKeys.message ?? '') }],
    });
    expect(before.notReadyForSeconds).toBeGreaterThanOrEqual(60);
    expect(before.cloudRead).not.toHaveProperty('ageSeconds');
    expect(after).toMatchObject({ ready: true, readyForSeconds: 120 });
    expect(after.denied).toEqual([]);
    expect(after.cloudRead).toEqual({ ageSeconds: expect.any(Number) });
    expect(after.subnets).toContainEqual(
      expect.objectContaining({ id: ids.nodes, held: 8, used: 0, nodes: 1 }),
    );
  });

  test('is given once its cloud has answered one call, also without CiliumNodes', async () => {
    const world = new World();
    const controller = startController(world);

    await world.advance(3_600_000);

    expect(readyOf(controller)).toBe('ready');
    const asked = controller.calls.filter(({ action }) => action === 'DescribeVpcs');
    expect(asked.map(({ result }) => result)).toEqual(['OK']);
    expect(says(controller, 'read the cloud')).toBe(0);
  });

  test('is not given while its cloud refuses its credentials, also as a standby and without CiliumNodes', async () => {
    const world = new World();
    const end = refuseReads(world);
    const leader = startController(world);
    await world.advance(5000);
    const standby = startController(world, { identity: 'headwater-1' });

    await world.advance(60_000);
    const during = [leader, standby].map(readyOf);
    const warned = says(leader, 'cannot reach the cloud');
    const events = world.events('headwater');
    end();
    await world.advance(120_000);

    for (const each of during) expect(each).toContain(`cannot reach the cloud: ${remedy}: the cloud answers`);
    expect(warned).toBe(1);
    expect([...new Set(events)]).toEqual([
      expect.stringMatching(`^Lease CredentialsInvalid: ${remedy}: the cloud `),
    ]);
    expect([leader, standby].map(readyOf)).toEqual(['ready', 'ready']);
    expect(leader.controller.state).toBe('leading');
  });
});

describe('a node that is unknown', () => {
  test('says why, everywhere, and counts as unknown', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const machine = world.machine();
    const end = refuseReads(world);
    const controller = startController(world);
    for (const each of world.machines) await world.announce(each);
    await world.addPods(machine, { count: 1 });

    await world.advance(200_000);
    const status = controller.controller.status();
    const during = {
      ready: readyOf(controller),
      nodes: await nodesBy(controller),
      blocked: await controller.metric('headwater_blocked{resource="node",reason="CredentialsInvalid"}'),
      pods: await controller.metric('headwater_pending_pods'),
      deficit: await controller.metric('headwater_oldest_deficit_seconds{priority="critical"}'),
      error: world.operatorError(machine),
      events: world.events(machine.name),
    };
    end();
    await world.advance(120_000);

    expect(during.ready).toContain(remedy);
    expect(during.nodes).toEqual({ total: 2, satisfied: 0, in_deficit: 0, blocked: 0, unknown: 2 });
    expect(during.blocked).toBe(2);
    expect(during.pods).toBe(1);
    expect(during.deficit).toBeGreaterThan(120);
    expect(status.inDeficit).toContainEqual(
      expect.objectContaining({
        name: machine.name,
        reason: 'CredentialsInvalid',
        why: expect.stringContaining(remedy) as unknown,
      }),
    );
    expect(during.error).toContain(remedy);
    for (const kind of ['Node', 'CiliumNode'])
      expect(during.events).toContainEqual(expect.stringMatching(`^${kind} CredentialsInvalid: ${remedy}`));
    expect(await nodesBy(controller)).toMatchObject({ total: 2, satisfied: 2, unknown: 0 });
    expect(world.operatorError(machine)).toBe('');
    expect(await controller.metric('headwater_oldest_deficit_seconds{priority="critical"}')).toBe(0);
    expect(world.broken()).toEqual([]);
  });
});

describe('a node whose CiliumNode may not be written', () => {
  test('is in deficit with a reason, and other nodes are not', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) });
    const machine = world.machine();
    const controller = startController(world);
    const end = world.refuse(403, 'PATCH', new RegExp(`/ciliumnodes/${machine.name}(/status)?$`));
    for (const each of world.machines) await world.announce(each);

    await world.advance(120_000);
    const during = {
      nodes: await nodesBy(controller),
      inDeficit: controller.controller.status().inDeficit,
      blocked: await controller.metric('headwater_blocked{resource="node",reason="WriteRefused"}'),
      events: world.events(machine.name),
      ready: readyOf(controller),
    };
    end();
    await world.advance(60_000);

    expect(during.nodes).toEqual({ total: 3, satisfied: 2, in_deficit: 1, blocked: 0, unknown: 0 });
    expect(during.inDeficit).toEqual([
      expect.objectContaining({
        name: machine.name,
        reason: 'WriteRefused',
        why: expect.stringMatching(/^allow Headwater to patch ciliumnodes\/status of cilium.io: /) as unknown,
      }),
    ]);
    expect(during.blocked).toBe(1);
    expect(during.events).toContainEqual(
      expect.stringMatching(/^Node WriteRefused: allow Headwater to patch/),
    );
    // One node among others does not make the process unready.
    expect(during.ready).toBe('ready');
    expect(await nodesBy(controller)).toMatchObject({ satisfied: 3, in_deficit: 0 });
    expect(world.operatorError(machine)).toBe('');
    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('keeps the process unready while it tries, when no CiliumNode may be written', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const controller = startController(world);
    const end = world.refuse(403, 'PATCH', /\/ciliumnodes\//);
    for (const each of world.machines) await world.announce(each);

    await world.advance(90_000);
    const during = readyOf(controller);
    end();
    await world.advance(60_000);

    expect(during).toMatch(
      /^no write of a CiliumNode succeeded in the last minute: allow Headwater to patch/,
    );
    expect(readyOf(controller)).toBe('ready');
    expect(world.broken()).toEqual([]);
  });
});

describe('an option that restricts what is served', () => {
  const [wrong, right] = ['vpc-00000000000000009', 'vpc-00000000000000001'];

  test('keeps the process unready, and says why, while every node is outside', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const controller = startController(world, { flags: { 'vpc-id': wrong } });
    const before = readyOf(controller);
    for (const each of world.machines) await world.announce(each);

    await world.advance(60_000);
    const during = readyOf(controller);
    for (const each of world.machines) await world.patch(each, { spec: { eni: { 'vpc-id': wrong } } });
    await world.advance(60_000);

    expect(before).not.toContain('--vpc-id');
    expect(during).toBe(
      `no node is served: --vpc-id restricts Headwater to ${wrong}, and all nodes name ${right}`,
    );
    expect(readyOf(controller)).toBe('ready');
    expect(controller.controller.status().inDeficit).toHaveLength(2);
  });

  test('leaves the process ready, and one node blocked, while that one is outside', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const controller = startController(world, { flags: { 'vpc-id': right } });
    const [served, outside] = [world.machine(0), world.machine(1)];
    await world.announce(served);
    await world.announce(outside, { spec: { eni: { 'vpc-id': wrong } } });

    await world.advance(60_000);

    expect(readyOf(controller)).toBe('ready');
    expect(world.pool(served).size).toBe(8);
    expect(controller.controller.status().inDeficit).toEqual([
      expect.objectContaining({ name: outside.name, reason: 'OutsideNetwork' }),
    ]);
  });
});

describe('a CiliumNode that is not served', () => {
  test('says why in its own status until it is served', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const [machine, other] = [world.machine(0), world.machine(1)];
    const controller = startController(world);
    await world.announce(machine, { spec: { 'instance-id': '' } });
    await world.announceAlone({ ...other, name: 'twin' });
    await world.announce(other);

    await world.advance(60_000);
    const during = [machine, { name: 'twin' }].map((each) => world.operatorError(each));
    const writes = controller.publications.length;
    await world.advance(600_000);
    const later = controller.publications.length;
    await world.patch(machine, { spec: { 'instance-id': machine.instanceId } });
    await world.advance(30_000);

    expect(during).toEqual([
      'the CiliumNode cannot be read: spec.instance-id is missing',
      `instance ${other.instanceId} belongs to Node ${other.name}: correct spec.instance-id, or delete this CiliumNode`,
    ]);
    expect(later).toBe(writes);
    expect(world.operatorError(machine)).toBe('');
    expect(world.pool(machine).size).toBe(8);
    expect(world.events(machine.name)).toContainEqual(
      'Node Resolved: NodeUnreadable is resolved: the CiliumNode is no longer blocked',
    );
    expect(world.broken()).toEqual([]);
  });
});

describe('a subnet that is full for many nodes', () => {
  test('is one log line and one Event for all of them, and clears the same way', async () => {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 40 })] }),
      configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
    });
    const freed = [ids.pods, ids.morePods].map((subnet) => world.occupy(subnet));
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);

    await world.advance(120_000);
    const { reasons } = controller.controller.status();
    const events = world.machines
      .flatMap(({ name }) => world.events(name))
      .filter((text) => /Exhausted/.test(text));
    const fleet = world.events('headwater');
    const lines = says(controller, 'node cannot be satisfied');
    for (const end of freed) end();
    await world.advance(700_000);

    expect(reasons).toEqual({ SubnetsExhausted: 40 });
    expect(lines).toBe(1);
    expect(events.length).toBeLessThanOrEqual(10);
    expect(fleet).toEqual([
      expect.stringMatching(/^Lease SubnetsExhausted: several nodes: no address is left in subnet-/),
    ]);
    expect(world.events('headwater')).toContain('Lease Resolved: the condition of several nodes is resolved');
    expect(controller.controller.status().reasons).toEqual({});
    expect(world.machines.map((machine) => world.operatorError(machine)).join('')).toBe('');
    expect(world.broken()).toEqual([]);
  });
});

// eslint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u202e]/;

/** Every text in a value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('an untrusted text that is endless and odd', () => {
  const odd = `\u001b[31mred\u202e\n${'x'.repeat(1_000_000)}`;

  test.each<[string, (world: World) => void]>([
    [
      'of a call to the cloud',
      (world) => {
        const fault = { kind: 'error', code: `Odd${odd}`, status: 400, message: odd } as const;
        world.fault('AssignPrivateIpAddresses', fault);
        world.fault('CreateNetworkInterface', fault);
        world.fault('DescribeInstanceTypes', fault, 1);
      },
    ],
    [
      'of a write to Kubernetes',
      (world) => {
        const failure = { code: 403, reason: 'Forbidden', message: odd } as const;
        world.kubernetesFault({ method: 'PATCH', path: /ciliumnodes/, effect: { kind: 'refuse', failure } });
      },
    ],
  ])('%s is cut and escaped wherever it is shown', async (_, spoil) => {
    const world = new World();
    const machine = world.machine();
    spoil(world);
    const controller = startController(world);
    await world.announce(machine);

    await world.advance(300_000);

    const reported = [
      controller.logged,
      controller.controller.status(),
      controller.controller.node(machine.name),
      [...world.events(machine.name), ...world.events('headwater')],
      [readyOf(controller), world.operatorError(machine)],
    ];
    const texts = reported.flatMap(textsIn);
    expect(controller.controller.status().inDeficit).toHaveLength(1);
    expect(texts.some((text) => text.includes('red') && text.includes('xxx'))).toBe(true);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(1200);
    expect(texts.filter((text) => unprintable.test(text))).toEqual([]);
    expect((await controller.scrape()).length).toBeLessThan(200_000);
  });
});
