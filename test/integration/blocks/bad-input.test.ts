// What objects, definitions and roles may be instead of what they should be: each row with its reason, its text and its effect on
// the others.
import { describe, expect, test } from '@jest/globals';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { type JsonObject, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld, type BlockWorldOptions } from '../../simulation/blocks/block-world.ts';

const poolFlags = { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16' };
const nodeFlags = { 'cluster-cidr': '10.0.0.0/16' };

function worldOf(command: 'nodeipam' | 'run', more: Partial<BlockWorldOptions> = {}): BlockWorld {
  return new BlockWorld({ seed: 'one', command, flags: command === 'run' ? poolFlags : nodeFlags, ...more });
}

async function addCiliumNode(world: BlockWorld, name: string, podCIDRs: readonly string[]): Promise<void> {
  const spec = { ipam: { podCIDRs } };
  await world.ask('POST', world.path, {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name },
    spec,
  });
}

async function addNode(world: BlockWorld, name: string, providerID?: string): Promise<void> {
  const spec = providerID === undefined ? {} : { providerID };
  await world.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
}

async function blocksOf(world: BlockWorld, name: string): Promise<readonly string[]> {
  const place = world.form === 'Node' ? ['spec', 'podCIDRs'] : ['spec', 'ipam', 'podCIDRs'];
  return textsAt(await world.ask('GET', `${world.path}/${name}`), ...place);
}

describe('a CiliumNode', () => {
  test.each<[string, readonly string[], string | undefined, RegExp]>([
    [
      'with 10,000 pod CIDRs',
      Array.from({ length: 10_000 }, (_, index) => `10.0.${index % 256}.0/24`),
      'PodCIDRUnreadable',
      /^it shows more than 16 pod CIDRs, and only the first ones count: remove all but one of each family$/,
    ],
    [
      'with text that is no CIDR',
      ['ten/8'],
      'PodCIDRUnreadable',
      /^its pod CIDR "ten\/8" cannot be read because .*: it keeps its blocks and gets no others until/,
    ],
    [
      'with a CIDR of another pool',
      ['192.168.0.0/24'],
      'PodCIDROutsidePools',
      /^its pod CIDR 192.168.0.0\/24 is in no pool, .* add its network to the options, or drain the node/,
    ],
    ['with host bits', ['10.0.0.7/24'], undefined, /^$/],
    [
      'with three pod CIDRs of one family',
      ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24'],
      'PodCIDRUnused',
      /^its agent uses the first pod CIDR of each family: remove 10.0.1.0\/24, 10.0.2.0\/24 once no pod of this node/,
    ],
  ])('%s is reported, keeps what it has, and costs no other its block', async (_, podCIDRs, reason, text) => {
    const world = worldOf('run');
    await addCiliumNode(world, 'bad', podCIDRs);
    await world.clock.advance(2000);
    world.startReplica();
    world.join('good');
    await world.until('the good one is served', () => world.isServed());
    await world.clock.advance(60_000);

    const bad = await world.ask('GET', `${world.path}/bad`);
    expect(textAt(bad, 'status', 'ipam', 'operator-status', 'error')).toMatch(text);
    expect(await blocksOf(world, 'bad')).toEqual(podCIDRs);
    expect(world.leader?.controller.status().reasons).toEqual(reason === undefined ? {} : { [reason]: 1 });
    const [block = ''] = await blocksOf(world, 'good');
    expect(podCIDRs.slice(0, 16).map((each) => each.replace('.7/', '.0/'))).not.toContain(block);
    expect(world.bugs).toEqual([]);
  });

  test('with a CIDR of more than 256 blocks holds it whole if it stood there first, and takes nothing if it comes later', async () => {
    const flags = { 'cluster-pool-ipv4-cidr': '10.0.0.0/14', 'cluster-pool-ipv4-mask-size': '26' };
    const world = worldOf('run', { flags: { ...poolFlags, ...flags } });
    await addCiliumNode(world, 'first', ['10.0.0.0/16']);
    await world.clock.advance(2000);
    world.startReplica();
    world.join('a');
    await world.until('it is served', () => world.isServed());
    expect(await blocksOf(world, 'a')).toEqual(['10.1.0.0/26']);

    await addCiliumNode(world, 'late', ['10.0.0.0/8']);
    await world.clock.advance(5000);
    world.leader?.stop();
    world.startReplica();
    world.join('b');
    await world.until('it is served', () => world.isServed());
    expect(await blocksOf(world, 'b')).toEqual(['10.1.0.64/26']);
    expect(world.leader?.controller.node('late')).toMatchObject({
      reason: 'PodCIDROutsidePools',
      why: expect.stringContaining('its pod CIDR 10.0.0.0/8 is in no pool, or larger than a block may be'),
    });
  });

  test('whose definition prunes pod CIDRs is told so, and gets at most four writes a minute', async () => {
    const world = worldOf('run', { withoutDefinition: true });
    const { versions } = ciliumNodeCrd.spec;
    const schema = { type: 'object', properties: { spec: { type: 'object' }, status: openSchema } };
    await world.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      ...(ciliumNodeCrd as unknown as JsonObject),
      spec: {
        ...(ciliumNodeCrd.spec as unknown as JsonObject),
        versions: versions.map((version) => ({
          ...(version as unknown as JsonObject),
          schema: { openAPIV3Schema: schema },
        })),
      },
    });
    await addCiliumNode(world, 'a', []);
    world.startReplica();
    await world.clock.advance(600_000);

    expect(world.leader?.controller.node('a')).toMatchObject({
      standing: 'waiting',
      reason: 'WriteRefused',
      why: 'its block cannot be written: the API server drops the field, because its definition lacks it',
    });
    const writes = world.writes.filter(({ path }) => path === `${world.path}/a`);
    expect(writes.length).toBeLessThanOrEqual(40);
    expect(world.bugs).toEqual([]);
  });

  test('that empties and steals blocks costs no other its block, nor more than four writes a minute', async () => {
    const world = worldOf('run');
    world.startReplica();
    for (const name of ['a', 'b', 'c']) world.join(name);
    await world.until('all are served', () => world.isServed());
    const before = await Promise.all(['b', 'c'].map((name) => blocksOf(world, name)));
    const written = world.writes.length;
    for (let index = 0; index < 120; index++) {
      const podCIDRs = index % 2 === 0 ? [] : (before[0] ?? []);
      await world.ask('PATCH', `${world.path}/a`, { spec: { ipam: { podCIDRs } } });
      await world.clock.advance(5000);
    }
    world.join('d');
    await world.until('the new one is served', () => world.isServed());

    expect(await Promise.all(['b', 'c'].map((name) => blocksOf(world, name)))).toEqual(before);
    const specWrites = world.writes.slice(written).filter(({ path }) => path === `${world.path}/a`);
    expect(specWrites.length).toBeLessThanOrEqual(40);
    expect(before.flat()).not.toContain((await blocksOf(world, 'd'))[0]);
  });
});

describe('a Node', () => {
  test('that registers again under another name is another node: the old one keeps its CIDR until it is gone', async () => {
    const world = worldOf('nodeipam');
    world.startReplica();
    await addNode(world, 'old', 'aws:///eu-central-1a/i-1');
    await world.clock.advance(5000);
    await addNode(world, 'new', 'aws:///eu-central-1a/i-1');
    await world.clock.advance(5000);

    expect([await blocksOf(world, 'old'), await blocksOf(world, 'new')]).toEqual([
      ['10.0.0.0/24'],
      ['10.0.1.0/24'],
    ]);

    await world.ask('DELETE', '/api/v1/nodes/old');
    await world.clock.advance(5000);

    expect(await blocksOf(world, 'new')).toEqual(['10.0.1.0/24']);
    expect(world.leader?.controller.status().pools).toMatchObject([{ held: 1 }]);
  });

  test('without a providerID gets its CIDR as any other', async () => {
    const world = worldOf('nodeipam');
    world.startReplica();
    await addNode(world, 'bare');
    await addNode(world, 'usual', 'aws:///eu-central-1a/i-1');
    await world.clock.advance(5000);

    expect([await blocksOf(world, 'bare'), await blocksOf(world, 'usual')]).toEqual([
      ['10.0.0.0/24'],
      ['10.0.1.0/24'],
    ]);
    expect(world.leader?.controller.status().reasons).toEqual({});
  });
});

describe.each([
  ['run', 'ciliumnodes', 'allow Headwater to patch ciliumnodes of cilium.io'],
  ['nodeipam', 'nodes', 'allow Headwater to patch nodes'],
] as const)('a role of %s without patch', (command, resource, remedy) => {
  test('is named for every object that waits, with at most four refused writes a minute for each', async () => {
    const world = worldOf(command);
    world.model.authorize = ({ verb, resource: asked }) => verb !== 'patch' || asked !== resource;
    let refused = 0;
    world.onSend = () => refused++;
    for (const name of ['a', 'b', 'c'])
      await (command === 'run' ? addCiliumNode(world, name, []) : addNode(world, name));
    world.startReplica();
    await world.clock.advance(300_000);

    expect(world.leader?.controller.node('a')).toMatchObject({
      standing: 'waiting',
      reason: 'WriteRefused',
      why: expect.stringContaining(remedy),
    });
    expect(refused).toBeLessThanOrEqual(60);

    world.model.authorize = undefined;
    await world.clock.advance(60_000);

    expect(world.leader?.controller.status()).toMatchObject({ nodes: { served: 3 }, reasons: {} });
    expect(world.bugs).toEqual([]);
  });
});

const openSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
