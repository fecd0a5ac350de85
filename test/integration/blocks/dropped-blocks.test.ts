import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { ipv4, nodes, pools, PoolWorld, usual } from './pool-world.ts';

const pods = '/api/v1/namespaces/default/pods';
const address = '10.0.0.40';

/** A pod of the node `one` that runs with an address of its second block. */
async function runPod(world: PoolWorld, spec: JsonObject = {}, status: JsonObject = {}): Promise<void> {
  await world.ask('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: { nodeName: 'one', containers: [{ name: 'main', image: 'web' }], ...spec },
  });
  await world.ask('PATCH', `${pods}/web/status`, {
    status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }], ...status },
  });
}

/** A node with two blocks of the pool, whose agent lists only the first one from then on. */
async function dropping(prepare: (world: PoolWorld) => Promise<unknown>, flags = {}): Promise<PoolWorld> {
  const world = await usual(flags);
  await world.node('one', { default: 60 });
  await world.clock.advance(5000);
  expect(await world.blocks('one')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });
  await prepare(world);
  await world.request('one', { default: 20 });
  await world.list('one', { default: ['10.0.0.0/27'] });
  await world.clock.advance(5000);
  return world;
}

function reserved(world: PoolWorld): string {
  return JSON.stringify(world.held());
}

describe('a block that an agent no longer lists', () => {
  test.each<[string, JsonObject, JsonObject, boolean]>([
    ['stays while a running pod of its node has an address of it', {}, {}, true],
    ['goes if the pod is on the network of the host', { hostNetwork: true }, {}, false],
    ['goes if the pod has ended', {}, { phase: 'Succeeded' }, false],
    ['goes if the pod has failed', {}, { phase: 'Failed' }, false],
    ['goes if the pod is of another node', { nodeName: 'two' }, {}, false],
  ])('%s', async (_, spec, status, stays) => {
    const world = await dropping((each) => runPod(each, spec, status));

    expect(reserved(world)).toContain(`default 10.0.0.0/24 ${stays ? 2 : 1}`);
    expect(world.reasonOf('one')).toBe(stays ? 'ReleasedAddressesInUse' : undefined);
  });

  test('is given to no other node, which the node says, and goes within minutes once the pod is gone', async () => {
    const world = await dropping((each) => runPod(each));
    const error = await world.error('one');
    await world.node('two', { default: 240 });
    await world.clock.advance(60_000);
    const others = await world.blocks('two');

    await world.ask('DELETE', `${pods}/web`, { gracePeriodSeconds: 0 });
    await world.clock.advance(600_000);

    expect(error).toContain(`pod default/web has ${address}`);
    expect(others['default']).not.toContain('10.0.0.32/27');
    expect((await world.blocks('two'))['default']).toContain('10.0.0.32/27');
    expect(await world.error('one')).toBe('');
  });

  test.each<[string, (world: PoolWorld) => void]>([
    ['a leader that went', (world) => world.leader?.stop()],
    ['a leader that was killed', (world) => world.leader?.process.kill()],
  ])('stays its own after %s, and goes within minutes once the pod is gone', async (_, end) => {
    const world = await dropping((each) => runPod(each));
    end(world);
    await world.clock.advance(5000);
    world.startReplica();
    await world.node('two', { default: 240 });
    await world.clock.advance(120_000);
    const others = await world.blocks('two');
    const [error, reason] = [await world.error('one'), world.reasonOf('one')];

    await world.ask('DELETE', `${pods}/web`, { gracePeriodSeconds: 0 });
    await world.clock.advance(600_000);

    expect(others['default']).toHaveLength(6);
    expect(others['default']).not.toContain('10.0.0.32/27');
    expect(reason).toBe('ReleasedAddressesInUse');
    expect(error).toContain(`pod default/web has ${address}`);
    expect((await world.blocks('two'))['default']).toContain('10.0.0.32/27');
    expect(await world.error('one')).toBe('');
    expect(world.bugs).toEqual([]);
  });

  test('stays its own if it was dropped while nobody led', async () => {
    const world = await usual();
    await world.node('one', { default: 60 });
    await world.clock.advance(5000);
    await runPod(world);
    world.leader?.stop();
    await world.clock.advance(5000);
    await world.request('one', { default: 20 });
    await world.list('one', { default: ['10.0.0.0/27'] });
    await world.node('two', { default: 240 });
    world.startReplica();
    await world.clock.advance(120_000);

    expect((await world.blocks('two'))['default']).not.toContain('10.0.0.32/27');
  });

  test.each<[string, (world: PoolWorld) => Promise<unknown>, (world: PoolWorld) => Promise<unknown>]>([
    [
      'its pool comes back after the start of a new leader',
      (world) => world.ask('DELETE', `${pools}/default`),
      (world) => world.pool('default', ipv4(27, '10.0.0.0/24')),
    ],
    [
      'its network comes to another pool after the start of a new leader',
      (world) => world.ask('PATCH', `${pools}/default`, { spec: ipv4(27, '10.2.0.0/24') }),
      (world) => world.pool('green', ipv4(27, '10.0.0.0/24')),
    ],
  ])('stays its own if it was dropped while nobody led, and %s', async (_, before, after) => {
    const world = await usual();
    await world.node('one', { default: 60 });
    await world.clock.advance(5000);
    await runPod(world);
    world.leader?.stop();
    await world.clock.advance(5000);
    await world.list('one', { default: ['10.0.0.0/27'] });
    await world.request('one', { default: 20 });
    await before(world);
    world.startReplica();
    await world.clock.advance(60_000);
    await after(world);
    await world.node('two', { default: 240, green: 240 });
    await world.clock.advance(120_000);
    const others = Object.values(await world.blocks('two')).flat();

    await world.ask('DELETE', `${pods}/web`, { gracePeriodSeconds: 0 });
    await world.clock.advance(600_000);

    expect(others.length).toBeGreaterThan(4);
    expect(others.filter((block) => /^10\.0\.0\.(0|32)\//.test(block))).toEqual([]);
    expect(Object.values(await world.blocks('two')).flat().length).toBeGreaterThanOrEqual(others.length);
    expect(world.reasonOf('one')).not.toBe('ReleasedAddressesInUse');
    expect(world.bugs).toEqual([]);
  });

  test('stays out of reach if its CiliumNode was deleted while nobody led, until the pod is gone', async () => {
    const world = await usual();
    await world.node('one', { default: 60 });
    await world.clock.advance(5000);
    await runPod(world);
    world.leader?.stop();
    await world.clock.advance(5000);
    await world.ask('DELETE', `${nodes}/one`);
    world.startReplica();
    await world.node('two', { default: 240 });
    await world.clock.advance(120_000);
    const others = await world.blocks('two');

    await world.ask('DELETE', `${pods}/web`, { gracePeriodSeconds: 0 });
    await world.clock.advance(600_000);

    expect(others['default']).toHaveLength(7);
    expect(others['default']).not.toContain('10.0.0.32/27');
    expect((await world.blocks('two'))['default']).toHaveLength(8);
    expect(world.bugs).toEqual([]);
  });

  test('is the first that its node gets again', async () => {
    const world = await dropping((each) => runPod(each));

    await world.request('one', { default: 60 });
    await world.clock.advance(600_000);

    expect(await world.blocks('one')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });
    expect(await world.error('one')).toBe('');
  });

  test('stays if it is the last one and a running pod has an address of it, although its agent asks for nothing', async () => {
    const world = await usual();
    await world.node('one', { default: 60 });
    await world.clock.advance(5000);
    await runPod(world);
    await world.request('one', {});
    await world.list('one', {});
    await world.clock.advance(200_000);
    expect(reserved(world)).toContain('default 10.0.0.0/24 1');
    expect(world.reasonOf('one')).toBe('ReleasedAddressesInUse');

    await world.ask('DELETE', `${pods}/web`, { gracePeriodSeconds: 0 });
    await world.clock.advance(600_000);
    expect(reserved(world)).toContain('default 10.0.0.0/24 0');
  });

  test('goes to no other node if its own gets it again while its pods are being read', async () => {
    let isSlow = false;
    const world: PoolWorld = new PoolWorld(
      {},
      {
        intercept: (process, handler) => async (request, signal) => {
          const isLook = request.method === 'GET' && request.url.includes('/pods?');
          if (isSlow && isLook) await sleep(process, 4000, signal);
          if (isSlow && request.method === 'PATCH') await sleep(process, 3500, signal);
          return handler(request, signal);
        },
      },
    );
    await world.pool('default', ipv4(27, '10.0.0.0/26'));
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.node('one', { default: 60 });
    await world.clock.advance(5000);
    isSlow = true;
    await world.request('one', { default: 20 });
    await world.list('one', { default: ['10.0.0.0/27'] });
    await world.clock.advance(1000);

    await world.request('one', { default: 60 });
    await world.clock.advance(3200);
    await world.node('two', { default: 20 });
    await world.clock.advance(60_000);

    expect(await world.blocks('one')).toEqual({ default: ['10.0.0.0/27', '10.0.0.32/27'] });
    expect(await world.blocks('two')).toEqual({});
  });

  test('is given to nobody by a new leader before the pods are read, and that is said', async () => {
    let isFailing = false;
    const world: PoolWorld = new PoolWorld(
      {},
      {
        intercept: (_, handler) => (request, signal) =>
          isFailing && request.url.startsWith('/api/v1/pods')
            ? Promise.resolve({ status: 500, headers: {}, body: 'broken' })
            : handler(request, signal),
      },
    );
    await world.pool('default', ipv4(27, '10.0.0.0/26'));
    isFailing = true;
    const { log } = world.startReplica();
    await world.node('one', { default: 20 });
    await world.clock.advance(30_000);
    const before = await world.blocks('one');
    const said = log.lines.filter(({ message }) => message.startsWith('cannot read pods'));
    const unreadiness = world.leader?.controller.unreadiness();

    isFailing = false;
    await world.clock.advance(60_000);

    expect(before).toEqual({});
    expect(said).toHaveLength(1);
    expect(unreadiness).toMatch(/^it waits for a list of all pods: .*broken/);
    expect(world.leader?.controller.unreadiness()).toBeUndefined();
    expect(await world.blocks('one')).toEqual({ default: ['10.0.0.0/27'] });
  });

  test('is not looked for where pods may not be read, and nobody waits for that', async () => {
    const world = new PoolWorld();
    world.model.authorize = ({ resource }) => resource !== 'pods';
    await world.pool('default', ipv4(27, '10.0.0.0/26'));
    const { log } = world.startReplica();
    await world.node('one', { default: 20 });
    await world.clock.advance(10_000);

    expect(await world.blocks('one')).toEqual({ default: ['10.0.0.0/27'] });
    expect(log.lines.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^pods may not be read: a block that/),
    );
  });

  test('goes whatever pods show, where the word of the agent is enough', async () => {
    const world = await dropping((each) => runPod(each), { 'release-pod-check': 'false' });

    expect(reserved(world)).toContain('default 10.0.0.0/24 1');
  });
});
