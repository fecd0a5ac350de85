// The agent of a node and the controller of a cloud on one cluster, in virtual time: what either does is judged by what pods
// have and by what the model of the cloud has assigned, and never by what the other says.
import { afterEach, describe, expect, test } from '@jest/globals';
import { InProcessTransport } from '../../support/in-process-transport.ts';
import { Random } from '../../../src/runtime/random.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import type { IpamWatermarks, NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { isInside } from '../../simulation/agent/supplier.ts';
import { fastReleaseFlags } from '../../support/fast-release-flags.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, takeOver, type WorldController } from '../../support/world-controller.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

const flags = { ...fastReleaseFlags, 'resync-interval': '30s' };

interface SceneOptions {
  readonly protocol: 'used' | 'pools';
  readonly ipam?: IpamWatermarks;
  readonly flags?: Readonly<Record<string, string>>;
  /** Whether someone else creates the CiliumNode. Default: yes. */
  readonly isAnnounced?: boolean;
}

class Scene {
  readonly world: World;
  readonly node: NodeFacts;
  readonly agent: AgentMachine;
  controller: WorldController;
  /** What pods have, by container. */
  readonly pods = new Map<string, string>();
  /** Pods without the address that they have, at any moment. */
  readonly broken = new Set<string>();

  readonly #isAnnounced: boolean;
  #controllers = 0;
  /** Calls that take addresses away. */
  removals = 0;
  readonly #setup = {
    onCall: (action: string): void => {
      if (/^(?:Unassign|Detach|Delete)/.test(action)) this.removals++;
    },
  };

  constructor({ protocol, ipam = {}, flags: more, isAnnounced = true }: SceneOptions) {
    this.#isAnnounced = isAnnounced;
    const ofNode = protocol === 'used' ? 'crd-allocator' : 'multi-pool';
    this.world = new World({
      cloud: testCloud({ instances: [instance()] }),
      configure: () => ({ protocol: ofNode, ipam }),
    });
    const { clock, random, cluster } = this.world;
    this.node = this.world.machine();
    this.agent = new AgentMachine({
      clock,
      random: random.fork('agent'),
      flags: {
        ipam: 'eni',
        'node-name': this.node.name,
        'cilium-node-protocol': protocol,
        ...(!isAnnounced && { 'cilium-node-spec': '/etc/spec.json' }),
      },
      nodeSpec: JSON.stringify({ eni: { 'vpc-id': ids.vpc } }),
      connect: (process) =>
        new InProcessTransport(
          (request, signal) =>
            process.isDead ? new Promise(() => undefined) : cluster.kubernetes.handle(request, signal),
          clock,
        ),
    });
    this.controller = startController(this.world, { ...this.#setup, flags: { ...flags, ...more } });
  }

  async setUp(): Promise<void> {
    if (this.#isAnnounced) await this.world.announce(this.node);
    else await this.world.register(this.node);
    this.agent.start();
    await this.advance(60_000);
  }

  /** Looks at every event of that time. */
  async advance(ms: number): Promise<void> {
    await this.world.clock.runUntil(() => {
      this.look();
      return false;
    }, ms);
  }

  look(): void {
    const blocks = this.world
      .interfaces(this.node)
      .flatMap(({ addresses, primaryAddress, prefixes }) => [
        ...addresses.filter((each) => each !== primaryAddress).map((each) => `${each}/32`),
        ...prefixes,
      ]);
    for (const [container, ip] of this.pods)
      if (!blocks.some((block) => isInside(block, ip))) this.broken.add(`${container} has ${ip}`);
    const all = [...this.pods.values()];
    if (new Set(all).size < all.length) this.broken.add(`one of ${all.join()} is of two pods`);
  }

  add(container: string, wait = '60s'): void {
    void this.#call('ADD', container, wait).then(({ ip }) => {
      if (ip !== undefined) this.pods.set(container, ip);
    });
  }

  /** The address is not the pod's from before the DEL on. */
  async del(container: string): Promise<void> {
    this.pods.delete(container);
    await this.#call('DEL', container, '0s');
  }

  #call(verb: string, container: string, wait: string): Promise<PluginAnswer> {
    return callPlugin(this.agent, { verb, container, ipam: { wait } });
  }

  /** One step of pods, or of fate. */
  async churn(random: Random): Promise<void> {
    const container = `c${random.integer(16)}`;
    const steps = [
      () => (this.pods.has(container) ? this.del(container) : this.add(container)),
      () => (this.pods.has(container) ? this.del(container) : this.add(container)),
      () => this.advance(random.integer(60_000)),
      () => this.advance(random.integer(2000)),
      () => {
        this.agent.kill();
        this.agent.start();
      },
      () => {
        const identity = `headwater-${++this.#controllers}`;
        this.controller = takeOver(this.world, this.controller, { ...this.#setup, identity, flags });
      },
    ];
    await random.pick(steps)();
    await this.advance(1);
  }

  /** A container runtime deletes what it could not add; most pods go. */
  async settle(): Promise<void> {
    for (const container of names(16)) if (!this.pods.has(container)) this.add(container);
    await this.advance(60_000);
    for (const container of names(16))
      if (!this.pods.has(container) || this.pods.size > 4) await this.del(container);
    await this.advance(400_000);
  }

  /** Addresses of the node in the cloud that pods may have. */
  get assigned(): number {
    return this.world
      .interfaces(this.node)
      .reduce((sum, { addresses, prefixes }) => sum + addresses.length - 1 + prefixes.length * 16, 0);
  }

  get problems(): readonly unknown[] {
    return [...this.broken, ...this.agent.bugs, ...this.agent.failedStarts, ...this.world.broken()];
  }
}

let scene: Scene;

afterEach(() => scene.agent.remove());

const names = (count: number, prefix = 'c'): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`);

describe.each(['used', 'pools'] as const)('a node whose agent speaks the protocol %s', (protocol) => {
  test('grows as ADDs wait, and shrinks to its watermarks after DELs, with every pod served throughout', async () => {
    scene = new Scene({ protocol });
    await scene.setUp();
    expect(scene.assigned).toBe(8);

    for (const container of names(20)) scene.add(container);
    await scene.advance(60_000);
    expect(scene.pods.size).toBe(20);

    const stays = [...scene.pods.entries()].slice(0, 3);
    for (const container of names(20).slice(3)) await scene.del(container);
    await scene.advance(400_000);
    expect([...scene.pods.entries()]).toEqual(stays);
    expect(scene.assigned).toBe(3 + 8);
    expect(scene.removals).toBeGreaterThan(0);

    for (const container of names(20, 'd')) scene.add(container);
    await scene.advance(60_000);
    expect(scene.pods.size).toBe(23);
    expect(scene.problems).toEqual([]);
  });

  test.each<[string, SceneOptions['ipam'], Readonly<Record<string, string>>, number, number, number]>([
    ['no watermark', {}, {}, 8, 9, 17],
    ['min-allocate', { minAllocate: 12 }, {}, 12, 9, 17],
    ['pre-allocate', { preAllocate: 2 }, {}, 2, 9, 11],
    ['max-allocate', { maxAllocate: 6 }, {}, 6, 6, 6],
    ['more pods than the instance has addresses', {}, {}, 8, 27, 27],
    ['prefixes', {}, { 'aws-enable-prefix-delegation': 'true' }, 16, 9, 32],
  ])('with %s has what that asks for', async (_, ipam = {}, more, dry, served, busy) => {
    scene = new Scene({ protocol, ipam, flags: more });
    await scene.setUp();
    expect(scene.assigned).toBe(dry);

    for (const container of names(served)) scene.add(container);
    await scene.advance(50_000);
    expect(scene.pods.size).toBe(served);
    expect(scene.assigned).toBe(busy);
    expect(scene.problems).toEqual([]);
  });

  test('that is full serves the pod that waits with the address of one that goes', async () => {
    scene = new Scene({ protocol, ipam: { maxAllocate: 6 } });
    await scene.setUp();
    for (const container of names(7)) scene.add(container);
    await scene.advance(20_000);
    expect(scene.pods.size).toBe(6);

    await scene.del([...scene.pods.keys()][0] ?? '');
    await scene.advance(20_000);
    expect(scene.pods.size).toBe(6);
    expect(scene.problems).toEqual([]);
  });

  test.each(['1', '2'])(
    'serves its pods while agent and controller are killed among ADDs and DELs: seed %s',
    async (seed) => {
      scene = new Scene({ protocol });
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

describe('an address in hand-over', () => {
  test.each(['marked-for-release', 'ready-for-release', 'released'])(
    'is of no pod that comes when it is %s',
    async (state) => {
      scene = new Scene({ protocol: 'used' });
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

test('an agent creates the CiliumNode that the controller serves, where no Cilium does', async () => {
  scene = new Scene({ protocol: 'used', isAnnounced: false });
  await scene.setUp();

  scene.add('c0');
  await scene.advance(10_000);
  expect(scene.pods.size).toBe(1);
  expect(scene.problems).toEqual([]);
});
