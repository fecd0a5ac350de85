// Somebody deletes the CiliumNode of a machine that lives: its pods run on with addresses of its blocks.
import { describe, expect, test } from '@jest/globals';
import type { KubernetesHandler } from '../../../src/simulator/kubernetes/exchange.ts';
import { listAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ipv4, pools, requested } from './pool-world.ts';

const podsPath = '/api/v1/namespaces/default/pods';
const forms = ['cluster-pool', 'multi-pool'] as const;
type Form = (typeof forms)[number];

/** What becomes of a list of pods. */
type Pods = (handler: KubernetesHandler) => KubernetesHandler;
const readable: Pods = (handler) => handler;

class LeftWorld extends BlockWorld {
  readonly #form: Form;

  constructor(form: Form, flags: Readonly<Record<string, string>> = {}, pods = readable) {
    super({
      seed: 'one',
      command: 'run',
      flags: {
        ipam: form,
        'nodes-gc-interval': '0',
        ...(form === 'cluster-pool' && { 'cluster-pool-ipv4-cidr': '10.0.0.0/22' }),
        ...flags,
      },
      intercept: (_, handler) => (request, signal) =>
        request.url.startsWith('/api/v1/pods?') ? pods(handler)(request, signal) : handler(request, signal),
    });
    this.#form = form;
  }

  async add(name: string): Promise<void> {
    await this.create(name, this.#form === 'multi-pool' ? { default: 1 } : {});
    await this.clock.advance(2000);
  }

  /** As an agent creates it or, with `blocks`, lists what it has. */
  async create(
    name: string,
    asked: Readonly<Record<string, number>>,
    blocks?: readonly string[],
  ): Promise<void> {
    const kind = { apiVersion: 'cilium.io/v2', kind: 'CiliumNode' };
    const pooled = {
      pools: {
        requested: requested(asked),
        ...(blocks && { allocated: [{ pool: 'default', cidrs: blocks }] }),
      },
    };
    const spec = { ipam: this.#form === 'multi-pool' ? pooled : { ...(blocks && { podCIDRs: blocks }) } };
    if (blocks === undefined) await this.ask('POST', this.path, { ...kind, metadata: { name }, spec });
    else await this.ask('PATCH', `${this.path}/${name}`, { spec });
  }

  async delete(name: string): Promise<void> {
    await this.ask('DELETE', `${this.path}/${name}`);
  }

  async blocks(name: string): Promise<readonly string[]> {
    const object = await this.ask('GET', `${this.path}/${name}`);
    const listed = listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((each) =>
      textsAt(each, 'cidrs'),
    );
    return [...textsAt(object, 'spec', 'ipam', 'podCIDRs'), ...listed];
  }

  async runPod(node: string, address: string, spec = {}): Promise<void> {
    const metadata = { name: 'web', namespace: 'default' };
    const containers = [{ name: 'main', image: 'web' }];
    await this.ask('POST', podsPath, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { nodeName: node, containers, ...spec },
    });
    const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
    await this.ask('PATCH', `${podsPath}/web/status`, { status });
  }

  async endPod(): Promise<void> {
    await this.ask('DELETE', `${podsPath}/web`, { gracePeriodSeconds: 0 });
  }

  said(start: string): number {
    const lines = this.replicas.flatMap(({ log }) => log.lines);
    return lines.filter(({ message }) => message.startsWith(start)).length;
  }
}

/** Four blocks, of which these nodes have one each. */
async function withNodes(names: string, form: Form, flags = {}, pods = readable): Promise<LeftWorld> {
  const world = new LeftWorld(form, flags, pods);
  if (form === 'multi-pool')
    await world.ask('POST', pools, {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'default' },
      spec: ipv4(24, '10.0.0.0/22'),
    });
  world.startReplica();
  await world.until('it leads', () => world.leader !== undefined);
  for (const name of names) await world.add(name);
  return world;
}

const full = (form: Form, flags = {}, pods = readable): Promise<LeftWorld> =>
  withNodes('abxy', form, flags, pods);

describe.each(forms)('the block of a CiliumNode that was deleted (%s)', (form) => {
  test('is given to no other node while a pod of its node has an address of it, and is free once that is gone', async () => {
    const world = await full(form);
    await world.runPod('a', '10.0.0.40');
    await world.delete('a');
    await world.add('c');
    await world.clock.advance(120_000);
    const meanwhile = await world.blocks('c');

    await world.endPod();
    await world.clock.advance(600_000);

    expect(meanwhile).toEqual([]);
    expect(await world.blocks('c')).toEqual(['10.0.0.0/24']);
    expect(world.said('blocks of a deleted CiliumNode are in use by pods')).toBe(1);
    expect(world.bugs).toEqual([]);
  });

  test.each<[string, string, object]>([
    ['no pod has an address of it', 'b', {}],
    ['the pod is on the network of the host', 'a', { hostNetwork: true }],
  ])('is free at once if %s', async (_, node, spec) => {
    const world = await full(form);
    await world.runPod(node, '10.0.0.40', spec);
    await world.delete('a');
    await world.add('c');

    expect(await world.blocks('c')).toEqual(['10.0.0.0/24']);
  });

  test('is the first that a new object of that name gets, if a pod has an address of it', async () => {
    const world = await withNodes('ab', form);
    await world.runPod('a', '10.0.0.40');
    await world.delete('b');
    await world.add('b');
    await world.delete('a');
    await world.add('a');

    expect(await world.blocks('a')).toEqual(['10.0.0.0/24']);
    expect(await world.blocks('b')).toEqual(['10.0.2.0/24']);
    expect(world.bugs).toEqual([]);
  });

  test('is the first that a new object of that name gets minutes later', async () => {
    const world = await withNodes('ab', form);
    await world.runPod('a', '10.0.0.40');
    await world.delete('a');
    await world.delete('b');
    await world.clock.advance(300_000);
    await world.add('a');

    expect(await world.blocks('a')).toEqual(['10.0.0.0/24']);
  });

  test.each<[string, (world: LeftWorld) => void]>([
    ['went', (world) => world.leader?.stop()],
    ['was killed', (world) => world.leader?.process.kill()],
  ])('is given to no other node by the next leader after one that %s', async (_, end) => {
    const world = await full(form);
    await world.runPod('a', '10.0.0.40');
    await world.delete('a');
    await world.clock.advance(10_000);
    end(world);
    await world.clock.advance(2000);
    await world.add('c');
    world.startReplica();
    await world.clock.advance(180_000);
    const meanwhile = await world.blocks('c');

    await world.endPod();
    await world.clock.advance(600_000);

    expect(meanwhile).toEqual([]);
    expect(await world.blocks('c')).toEqual(['10.0.0.0/24']);
    expect(world.bugs).toEqual([]);
  });

  test('stays while pods cannot be read', async () => {
    let isFailing = false;
    const world = await full(
      form,
      {},
      (handler) => (request, signal) =>
        isFailing ? Promise.resolve({ status: 500, headers: {}, body: 'broken' }) : handler(request, signal),
    );
    isFailing = true;
    await world.delete('a');
    await world.add('c');
    await world.clock.advance(60_000);
    const meanwhile = await world.blocks('c');

    isFailing = false;
    await world.clock.advance(600_000);

    expect(meanwhile).toEqual([]);
    expect(await world.blocks('c')).toEqual(['10.0.0.0/24']);
  });

  test('is free at once where pods may not be read, which is logged once', async () => {
    const world = await full(form);
    world.model.authorize = ({ resource }) => resource !== 'pods';
    await world.runPod('a', '10.0.0.40');
    await world.delete('a');
    await world.add('c');
    await world.delete('b');
    await world.add('d');

    expect(await world.blocks('c')).toEqual(['10.0.0.0/24']);
    expect(await world.blocks('d')).toEqual(['10.0.1.0/24']);
    expect(world.said('pods may not be read: the blocks of a deleted CiliumNode')).toBe(1);
  });

  test('is free at once where the deletion is enough', async () => {
    const world = await full(form, { 'release-pod-check': 'false' });
    await world.runPod('a', '10.0.0.40');
    await world.delete('a');
    await world.add('c');

    expect(await world.blocks('c')).toEqual(['10.0.0.0/24']);
  });
});

test('blocks of deleted CiliumNodes that agents list again are no work of another allocator', async () => {
  const world = await withNodes('ab', 'multi-pool');
  const [left, right] = [await world.blocks('a'), await world.blocks('b')];
  for (const name of 'ab') await world.delete(name);
  await world.clock.advance(1000);
  for (const [name, blocks] of [
    ['a', left],
    ['b', right],
  ] as const) {
    await world.create(name, {});
    await world.clock.advance(10);
    await world.create(name, {}, blocks);
  }
  await world.add('c');

  expect(await world.blocks('c')).toEqual(['10.0.2.0/24']);
  expect(world.said('another allocator gives out blocks')).toBe(0);
});
