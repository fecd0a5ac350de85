// The agent of a node and the controller of a cloud on one cluster, in virtual time.
import { afterEach, describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { isInside } from '../../simulation/agent/supplier.ts';
import { CloudScene, names, type SceneCloud, type SceneOptions } from './cloud-scene.ts';

let scene: CloudScene;

afterEach(() => scene.agent.remove());

describe.each<[SceneCloud, SceneOptions['protocol']]>([
  ['eni', 'used'],
  ['eni', 'pools'],
  ['azure', 'used'],
  ['azure', 'pools'],
  ['alibabacloud', 'used'],
])('a node with ipam=%s whose agent speaks the protocol %s', (cloud, protocol) => {
  test('grows as ADDs wait, and shrinks to its watermarks after DELs, with every pod served throughout', async () => {
    scene = new CloudScene({ cloud, protocol });
    await scene.setUp();
    expect(scene.assigned).toBe(8);

    for (const container of names(20)) scene.add(container);
    await scene.grow();
    expect(scene.pods.size).toBe(20);

    const stays = [...scene.pods.entries()].slice(0, 3);
    for (const container of names(20).slice(3)) await scene.del(container);
    await scene.shrink();
    expect([...scene.pods.entries()]).toEqual(stays);
    expect(scene.assigned).toBe(3 + 8);
    expect(scene.removals).toBeGreaterThan(0);

    for (const container of names(20, 'd')) scene.add(container);
    await scene.grow();
    expect(scene.pods.size).toBe(23);
    expect(scene.problems).toEqual([]);
  });

  test.each(cloud === 'eni' ? ['1', '2'] : ['1'])(
    'serves its pods while agent and controller are killed among ADDs and DELs: seed %s',
    async (seed) => {
      scene = new CloudScene({ cloud, protocol });
      await scene.setUp();
      const random = new Random(seed);
      for (let step = 0; step < 50; step++) await scene.churn(random);
      await scene.settle();

      expect(scene.pods.size).toBe(4);
      expect(scene.assigned).toBe(4 + 8);
      expect(scene.removals).toBeGreaterThan(0);
      expect(scene.problems).toEqual([]);
    },
  );
});

describe.each(['used', 'pools'] as const)('a node on AWS whose agent speaks the protocol %s', (protocol) => {
  test.each<[string, SceneOptions['ipam'], Readonly<Record<string, string>>, number, number, number]>([
    ['no watermark', {}, {}, 8, 9, 17],
    ['min-allocate', { minAllocate: 12 }, {}, 12, 9, 17],
    ['pre-allocate', { preAllocate: 2 }, {}, 2, 9, 11],
    ['max-allocate', { maxAllocate: 6 }, {}, 6, 6, 6],
    ['more pods than the instance has addresses', {}, {}, 8, 27, 27],
    ['prefixes', {}, { 'aws-enable-prefix-delegation': 'true' }, 16, 9, 32],
  ])('with %s has what that asks for', async (_, ipam = {}, more, dry, served, busy) => {
    scene = new CloudScene({ protocol, ipam, flags: more });
    await scene.setUp();
    expect(scene.assigned).toBe(dry);

    for (const container of names(served)) scene.add(container);
    await scene.advance(50_000);
    expect(scene.pods.size).toBe(served);
    expect(scene.assigned).toBe(busy);
    expect(scene.problems).toEqual([]);
  });

  test('that is full serves the pod that waits with the address of one that goes', async () => {
    scene = new CloudScene({ protocol, ipam: { maxAllocate: 6 } });
    await scene.setUp();
    for (const container of names(7)) scene.add(container);
    await scene.advance(20_000);
    expect(scene.pods.size).toBe(6);

    await scene.del([...scene.pods.keys()][0] ?? '');
    await scene.advance(20_000);
    expect(scene.pods.size).toBe(6);
    expect(scene.problems).toEqual([]);
  });
});

describe('a node on AWS whose agent has IPv6', () => {
  test('gets one prefix, and gives each pod an address of each family, while agent and controller are killed', async () => {
    scene = new CloudScene({ protocol: 'pools', ipv6: true });
    await scene.setUp();
    const prefixes = (): readonly string[] =>
      scene.world.interfaces(scene.node).flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
    const [prefix = ''] = prefixes();

    for (const container of names(12)) scene.add(container);
    await scene.grow();
    const random = new Random('dual stack');
    for (let step = 0; step < 20; step++) await scene.churn(random);
    await scene.settle();

    expect(prefixes()).toEqual([prefix]);
    expect(scene.pods.size).toBe(4);
    for (const [container] of scene.pods) {
      const [ipv4, ipv6 = ''] = scene.addresses.get(container) ?? [];
      expect(ipv4).toMatch(/^10\.0\./);
      expect(isInside(prefix, ipv6.split('/')[0] ?? '')).toBe(true);
    }
    expect(scene.problems).toEqual([]);
  });
});

describe('an address in hand-over', () => {
  test.each(['marked-for-release', 'ready-for-release', 'released'])(
    'is of no pod that comes when it is %s',
    async (state) => {
      scene = new CloudScene({ protocol: 'used' });
      await scene.setUp();
      for (const container of names(20)) scene.add(container);
      await scene.advance(60_000);
      for (const container of names(20).slice(1)) await scene.del(container);
      const states = (): readonly string[] =>
        Object.values(objectAt(scene.world.ciliumNode(scene.node), 'status', 'ipam', 'release-ips')).map(
          String,
        );
      await scene.world.until('addresses are in that state', () => states().includes(state));

      for (const container of names(20, 'd')) scene.add(container);
      await scene.advance(200_000);
      expect(scene.pods.size).toBe(21);
      expect(scene.removals).toBeGreaterThan(0);
      expect(scene.problems).toEqual([]);
    },
  );
});

describe.each<SceneCloud>(['eni', 'azure', 'alibabacloud'])(
  'where no Cilium runs, with ipam=%s,',
  (cloud) => {
    test('the agent creates the CiliumNode that the controller serves', async () => {
      scene = new CloudScene({ cloud, protocol: 'used', isAnnounced: false });
      await scene.setUp();

      scene.add('c0');
      await scene.grow();
      expect(scene.pods.size).toBe(1);
      expect(scene.problems).toEqual([]);
    });
  },
);
