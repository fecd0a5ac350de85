// The agents of two nodes and the controller of pools on one cluster, in virtual time: judged by what pods have.
import { afterEach, describe, expect, test } from '@jest/globals';
import { type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { Random } from '../../../src/runtime/random.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { isInside } from '../../simulation/agent/supplier.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { kubernetesPort } from '../../simulation/ports.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

const nodeNames = ['a', 'b'] as const;
type NodeName = (typeof nodeNames)[number];

class Scene {
  readonly world = new BlockWorld({ seed: 'pools', command: 'run', flags: { ipam: 'multi-pool' } });
  readonly agents = new Map<NodeName, AgentMachine>();
  /** Addresses of pods, by `node/container`. */
  readonly pods = new Map<string, string>();
  readonly broken = new Set<string>();

  async setUp(): Promise<void> {
    const { world } = this;
    const { clock, random } = world;
    await this.#pool('default', { ipv4: { cidrs: ['10.0.0.0/26'], maskSize: 29 } });
    await this.#pool('red', { ipv4: { cidrs: ['10.9.0.0/28'], maskSize: 30 } });
    await world.ask('POST', '/api/v1/namespaces', named('Namespace', 'ns'));
    world.startReplica();
    for (const name of nodeNames) {
      await world.ask('POST', '/api/v1/nodes', named('Node', name));
      const flags = {
        ipam: 'multi-pool',
        'node-name': name,
        'ipam-multi-pool-pre-allocation': 'default=4',
        'ipam-cilium-node-update-rate': '5s',
      };
      const agent = new AgentMachine({
        clock,
        random: random.fork(name),
        flags,
        connect: (process) => kubernetesPort(process, world.model.handle, () => undefined),
      });
      this.agents.set(name, agent);
      agent.start();
    }
    await this.advance(60_000);
  }

  /** Looks at every event of that time. */
  async advance(ms: number): Promise<void> {
    await this.world.clock.runUntil(() => {
      const all = [...this.pods.values()];
      if (new Set(all).size < all.length) this.broken.add(`of two pods: ${all.join()}`);
      return false;
    }, ms);
  }

  /** Returns its uid. */
  async createPod(name: string, node: NodeName, annotations: JsonObject): Promise<string> {
    const metadata = { name, namespace: 'ns', annotations };
    const spec = { nodeName: node, containers: [{ name: 'c', image: 'i' }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    const created = await this.world.ask('POST', '/api/v1/namespaces/ns/pods', pod);
    await this.advance(1000);
    return textAt(created, 'metadata', 'uid');
  }

  add(node: NodeName, container: string, pod = '', uid = ''): void {
    const args = pod === '' ? '' : `K8S_POD_NAMESPACE=ns;K8S_POD_NAME=${pod};K8S_POD_UID=${uid}`;
    void this.#call(node, 'ADD', container, args).then(({ ip }) => {
      if (ip !== undefined) this.pods.set(`${node}/${container}`, ip);
    });
  }

  async del(node: NodeName, container: string): Promise<void> {
    this.pods.delete(`${node}/${container}`);
    await this.#call(node, 'DEL', container);
  }

  blocksOf(node: NodeName): readonly string[] {
    const object = this.world.model.get('ciliumnodes.cilium.io', node);
    return listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((entry) => textsAt(entry, 'cidrs'));
  }

  /** Every pod has an address of a block that its node lists, and the other node does not. */
  get strays(): readonly string[] {
    return [...this.pods].flatMap(([key, ip]) => {
      const lists = nodeNames.filter((name) => this.blocksOf(name).some((block) => isInside(block, ip)));
      return lists.join() === key.slice(0, 1) ? [] : [`${key} has ${ip}, which ${lists.join(' and ')} list`];
    });
  }

  get problems(): readonly unknown[] {
    const agents = [...this.agents.values()].flatMap(({ bugs, failedStarts }) => [...bugs, ...failedStarts]);
    return [...this.broken, ...agents, ...this.world.bugs];
  }

  /** One step of pods, or of fate. */
  async churn(random: Random): Promise<void> {
    const node = random.pick([...nodeNames]);
    const container = `c${random.integer(12)}`;
    const toggles = (): void | Promise<void> =>
      this.pods.has(`${node}/${container}`) ? this.del(node, container) : this.add(node, container);
    const steps = [
      toggles,
      toggles,
      toggles,
      () => this.advance(random.integer(20_000)),
      () => this.advance(random.integer(500)),
      () => {
        this.agents.get(node)?.kill();
        this.agents.get(node)?.start();
      },
      () => {
        this.world.leader?.process.kill();
        this.world.startReplica();
      },
    ];
    await random.pick(steps)();
    await this.advance(1);
  }

  #pool(name: string, spec: JsonObject): Promise<JsonObject> {
    const path = '/apis/cilium.io/v2alpha1/ciliumpodippools';
    const kind = { apiVersion: 'cilium.io/v2alpha1', kind: 'CiliumPodIPPool' };
    return this.world.ask('POST', path, { ...kind, metadata: { name }, spec });
  }

  #call(node: NodeName, verb: string, container: string, args = ''): Promise<PluginAnswer> {
    const agent = this.agents.get(node);
    if (agent === undefined) throw new Error(`${node} has no agent`);
    return callPlugin(agent, { verb, container, ipam: { wait: '60s' }, args });
  }
}

function named(kind: string, name: string): JsonObject {
  return { apiVersion: 'v1', kind, metadata: { name } };
}

let scene: Scene;

afterEach(() => {
  for (const agent of scene.agents.values()) agent.remove();
});

describe('agents of two nodes under a controller of pools', () => {
  test('create their CiliumNodes, get blocks as pods wait, and give back what is empty', async () => {
    scene = new Scene();
    await scene.setUp();
    expect(nodeNames.map((name) => scene.blocksOf(name).length)).toEqual([1, 1]);

    for (let each = 0; each < 20; each++) scene.add('a', `c${each}`);
    await scene.advance(30_000);
    expect(scene.pods.size).toBe(20);
    expect(scene.strays).toEqual([]);

    for (let each = 1; each < 20; each++) await scene.del('a', `c${each}`);
    await scene.advance(400_000);
    const usable = scene.blocksOf('a').length * 6;
    expect(usable).toBeGreaterThanOrEqual(5);
    expect(usable).toBeLessThanOrEqual(12);

    // The other node gets what was given back.
    for (let each = 0; each < 30; each++) scene.add('b', `d${each}`);
    await scene.advance(60_000);
    expect(scene.pods.size).toBe(31);
    expect(scene.strays).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  test('give a pod an address of the pool that it names', async () => {
    scene = new Scene();
    await scene.setUp();
    await scene.createPod('picky', 'a', { 'ipam.cilium.io/ip-pool': 'red' });

    scene.add('a', 'c1', 'picky');
    await scene.advance(20_000);
    expect(scene.pods.get('a/c1')).toMatch(/^10\.9\.0\./);
    expect(scene.strays).toEqual([]);

    await scene.del('a', 'c1');
    await scene.advance(400_000);
    expect(scene.blocksOf('a').filter((block) => block.startsWith('10.9.'))).toEqual([]);
    expect(scene.problems).toEqual([]);
  });

  test('give a pod no address of the pool that an earlier pod of its name named', async () => {
    scene = new Scene();
    await scene.setUp();
    const earlier = await scene.createPod('web-0', 'a', { 'ipam.cilium.io/ip-pool': 'red' });
    scene.add('a', 'c2', 'web-0', 'of-the-next-pod');
    scene.add('a', 'c1', 'web-0', earlier);
    await scene.advance(20_000);
    expect([...scene.pods.keys()]).toEqual(['a/c1']);

    await scene.world.ask('DELETE', '/api/v1/namespaces/ns/pods/web-0?gracePeriodSeconds=0');
    const next = await scene.createPod('web-0', 'a', {});
    scene.add('a', 'c3', 'web-0', next);
    await scene.advance(20_000);
    expect(scene.pods.get('a/c3')).toMatch(/^10\.0\.0\./);

    // The late DEL of the earlier pod.
    await scene.del('a', 'c1');
    await scene.advance(1000);
    scene.add('a', 'c3', 'web-0', next);
    await scene.advance(1000);
    expect([...scene.pods.keys()]).toEqual(['a/c3']);
    expect(scene.problems).toEqual([]);
  });

  test.each(['1', '2'])('never give one address to two pods, whoever is killed: seed %s', async (seed) => {
    scene = new Scene();
    await scene.setUp();
    const random = new Random(seed);
    for (let step = 0; step < 120; step++) await scene.churn(random);
    await scene.advance(120_000);

    expect(scene.pods.size).toBeGreaterThan(0);
    expect(scene.strays).toEqual([]);
    expect(scene.problems).toEqual([]);
  });
});
