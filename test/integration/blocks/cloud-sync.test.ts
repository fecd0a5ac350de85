// nodeipam with IPAMFromCluster and IPAMFromCloud, against a model of a cloud with aliases.
import { describe, expect, test } from '@jest/globals';
import type { CloudDeps } from '../../../src/controller/clouds/cloud.ts';
import { composeGceAliases } from '../../../src/controller/clouds/gce.ts';
import { cloudSyncMode, type SyncedCloud } from '../../../src/blocks/modes/node-modes.ts';
import { Random } from '../../../src/runtime/random.ts';
import { type GceFaults, GceModel } from '../../../src/simulator/gce/gce-model.ts';
import type { SyncMode } from '../../../src/blocks/node-ipam/sync/sync-step.ts';
import { type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { ModelAliasCloud } from '../../simulation/blocks/alias-cloud.ts';
import { inProcessGce } from '../../support/in-process-gce.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';

class SyncWorld extends BlockWorld {
  readonly cloud: ModelAliasCloud;
  /** Composes the cloud. Default: the model of aliases. */
  compose: (deps: CloudDeps) => SyncedCloud;

  constructor(mode: SyncMode, flags: Readonly<Record<string, string>> = {}) {
    super({
      seed: 'one',
      command: 'nodeipam',
      flags: { 'cluster-cidr': '10.0.0.0/22', 'service-cluster-ip-range': '10.0.0.0/25', ...flags },
      mode: (deps) => cloudSyncMode(deps, mode, this.compose),
    });
    this.cloud = new ModelAliasCloud(this.clock);
    this.compose = this.cloud.compose;
  }

  /** A Node and its instance. */
  async add(name: string, podCidrs: readonly string[], aliases: readonly string[]): Promise<void> {
    const providerID = `model:///${name}`;
    this.cloud.instances.set(providerID, [...aliases]);
    const cidrs = podCidrs.length === 0 ? {} : { podCIDR: podCidrs[0] ?? '', podCIDRs: podCidrs };
    const spec = { providerID, ...cidrs };
    await this.ask('POST', this.path, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
  }

  async accordOf(name: string): Promise<readonly [podCidrs: readonly string[], aliases: readonly string[]]> {
    const node = await this.ask('GET', `${this.path}/${name}`);
    return [textsAt(node, 'spec', 'podCIDRs'), this.cloud.instances.get(`model:///${name}`) ?? []];
  }

  async conditionOf(name: string): Promise<JsonObject | undefined> {
    const node = await this.ask('GET', `${this.path}/${name}`);
    return listAt(node, 'status', 'conditions').find(
      (each): each is JsonObject => textAt(each, 'type') === 'NetworkUnavailable',
    );
  }

  async events(): Promise<readonly string[]> {
    const { items } = (await this.ask('GET', '/api/v1/events')) as { items: never[] };
    return items.map((event) =>
      [textAt(event, 'type'), textAt(event, 'reason'), textAt(event, 'involvedObject', 'name')].join(' '),
    );
  }
}

const [one, other] = ['10.0.1.0/24', '10.0.2.0/24'];

describe('a Node and its instance', () => {
  test.each<[SyncMode, string[], string[], string[], string[], string | undefined]>([
    ['IPAMFromCluster', [], [], [one], [one], undefined],
    ['IPAMFromCluster', [], [one], [], [one], 'CloudCIDRAllocatorInvalidMode'],
    ['IPAMFromCluster', [other], [], [other], [other], undefined],
    ['IPAMFromCluster', [other], [other], [other], [other], undefined],
    ['IPAMFromCluster', [one], [other], [one], [other], 'CloudCIDRAllocatorMismatch'],
    ['IPAMFromCloud', [], [], [], [], 'CloudCIDRAllocatorInvalidMode'],
    ['IPAMFromCloud', [], [other, one], [other], [other, one], undefined],
    ['IPAMFromCloud', [one], [], [one], [], 'CloudCIDRAllocatorInvalidMode'],
    ['IPAMFromCloud', [one], [one], [one], [one], undefined],
    ['IPAMFromCloud', [one], [other], [one], [other], 'CloudCIDRAllocatorMismatch'],
  ])(
    'with %s, %j and %j become %j and %j, with the Event %s',
    async (mode, podCidrs, aliases, after, routed, event) => {
      const world = new SyncWorld(mode);
      await world.add('a', podCidrs, aliases);
      world.startReplica();
      await world.clock.advance(60_000);

      expect(await world.accordOf('a')).toEqual([after, routed]);
      expect(await world.events()).toEqual(event === undefined ? [] : [`Normal ${event} a`]);
      const condition = await world.conditionOf('a');
      expect(condition && [condition['status'], condition['reason']]).toEqual(
        event === undefined ? ['False', 'RouteCreated'] : undefined,
      );
      expect(world.bugs).toEqual([]);
    },
  );

  test('are told as a mismatch once, and are compared again and again', async () => {
    const world = new SyncWorld('IPAMFromCloud');
    await world.add('a', [one], [other]);
    world.startReplica();
    await world.clock.advance(300_000);

    expect(world.cloud.calls.length).toBeLessThanOrEqual(12);
    world.cloud.instances.set('model:///a', [one]);
    await world.clock.advance(60_000);

    expect(world.leader?.controller.status()).toMatchObject({ nodes: { served: 1 }, reasons: {} });
  });
});

describe('IPAMFromCluster', () => {
  test('gives the oldest what is left, and the next one what becomes free', async () => {
    const world = new SyncWorld('IPAMFromCluster', { 'parallel-alloc-workers': '1' });
    for (const name of ['a', 'b', 'c', 'd']) {
      await world.add(name, [], []);
      await world.clock.advance(2000);
    }
    world.startReplica();
    await world.clock.advance(30_000);

    expect(
      await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => (await world.accordOf(name))[0][0])),
    ).toEqual(['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24', undefined]);
    expect(world.leader?.controller.node('d')).toMatchObject({
      standing: 'waiting',
      reason: 'PodCIDRsExhausted',
    });
    await world.ask('DELETE', `${world.path}/b`);
    world.cloud.instances.delete('model:///b');
    await world.clock.advance(5000);

    expect(await world.accordOf('d')).toEqual([['10.0.2.0/24'], ['10.0.2.0/24']]);
  });

  test('gives a block back that the cloud refuses, and takes another one', async () => {
    const world = new SyncWorld('IPAMFromCluster');
    world.cloud.instances.set('model:///elsewhere', [one]);
    await world.add('a', [], []);
    world.startReplica();
    await world.clock.advance(30_000);

    expect(await world.accordOf('a')).toEqual([[other], [other]]);
    expect(world.leader?.controller.status()).toMatchObject({ reasons: {}, pools: [{ held: 2 }] });
  });

  test.each(['lost', 'lostBefore', 'late', 'transient'] as const)(
    'uses one block however often the answer is %s',
    async (fate) => {
      const world = new SyncWorld('IPAMFromCluster');
      let calls = 0;
      world.cloud.fate = ({ kind }) => (kind === 'add' && calls++ < 3 ? fate : 'ok');
      await world.add('a', [], []);
      world.startReplica();
      await world.clock.advance(60_000);

      const [podCidrs, aliases] = await world.accordOf('a');
      expect(podCidrs).toEqual(aliases);
      expect(podCidrs).toHaveLength(1);
      expect(world.leader?.controller.status()).toMatchObject({ reasons: {} });
    },
  );

  test.each(['transient', 'refused'] as const)(
    'uses a block that comes late and was refused meanwhile, although another one was taken, and was %s',
    async (fate) => {
      const world = new SyncWorld('IPAMFromCluster');
      const first = ['late', 'refused'] as const;
      let calls = 0;
      world.cloud.fate = ({ kind, at }) => (kind === 'add' && at < 8000 ? (first[calls++] ?? fate) : 'ok');
      await world.add('a', [], []);
      world.startReplica();
      await world.clock.advance(60_000);

      expect(await world.accordOf('a')).toEqual([[one], [one]]);
      expect(world.leader?.controller.status()).toMatchObject({ reasons: {}, pools: [{ held: 2 }] });
    },
  );

  test('asks a cloud that fails more and more rarely, and at once after it works again for all', async () => {
    const world = new SyncWorld('IPAMFromCluster');
    await world.add('a', [], []);
    world.cloud.fate = () => 'transient';
    world.startReplica();
    await world.clock.advance(120_000);

    // 0.25, 0.5, 1, 2, 4, 8 and then 10 s.
    expect(world.cloud.calls.length).toBeLessThanOrEqual(18);
    expect(world.leader?.controller.node('a')).toMatchObject({ standing: 'waiting', reason: 'Throttled' });

    world.cloud.fate = () => 'ok';
    await world.clock.advance(11_000);
    expect(world.leader?.controller.node('a')).toMatchObject({ standing: 'served' });
  });

  test('writes nothing to Nodes or the cloud in a dry run, and says once what it would do', async () => {
    const world = new SyncWorld('IPAMFromCluster', { 'dry-run': 'true' });
    await world.add('a', [], []);
    const { log } = world.startReplica();
    await world.clock.advance(120_000);

    expect(await world.accordOf('a')).toEqual([[], []]);
    expect(log.lines.filter(({ message }) => message === 'dry run: would give blocks')).toHaveLength(1);
  });

  test('keeps what a Node has while it is being deleted', async () => {
    const world = new SyncWorld('IPAMFromCluster', { 'cluster-cidr': '10.0.0.0/23' });
    await world.add('a', [], []);
    world.startReplica();
    await world.clock.advance(10_000);
    await world.ask('PATCH', `${world.path}/a`, { metadata: { finalizers: ['example.com/drain'] } });
    await world.ask('DELETE', `${world.path}/a`);
    await world.add('b', [], []);
    await world.clock.advance(60_000);
    expect(await world.accordOf('b')).toEqual([[], []]);

    world.cloud.instances.delete('model:///a');
    await world.endDeletion('a');
    await world.clock.advance(5000);
    expect(await world.accordOf('b')).toEqual([[one], [one]]);
  });

  test('tells of a Node without a providerID, and of one whose instance is not found', async () => {
    const world = new SyncWorld('IPAMFromCluster');
    await world.add('gone', [], []);
    world.cloud.instances.clear();
    await world.ask('POST', world.path, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } });
    world.startReplica();
    await world.clock.advance(10_000);

    expect(world.leader?.controller.status().reasons).toEqual({
      ProviderIDUnreadable: 1,
      InstanceNotFound: 1,
    });
    expect(world.leader?.controller.status()).toMatchObject({ pools: [{ held: 1 }] });
  });
});

describe('IPAMFromCluster on Google Cloud', () => {
  test.each<[string, Partial<GceFaults>, string]>([
    ['answers 500', { errors: 12 }, 'Unreachable'],
    ['lies about the fingerprint', { isLying: true }, 'CallFailed'],
    ['never ends an operation', { isEndless: true }, 'CallFailed'],
    ['fails an operation for good', { failure: 'IP_SPACE_EXHAUSTED' }, 'CallFailed'],
    ['denies changes', { isDenying: true }, 'AccessDenied'],
  ])('serves a Node with one block once the server that %s works again', async (_, faults, reason) => {
    const world = new SyncWorld('IPAMFromCluster');
    const random = new Random('gce');
    const { clock } = world;
    const gce = new GceModel({
      clock,
      random,
      project: 'my-project',
      zone: 'us-central1-a',
      operationTime: 500,
    });
    world.compose = (deps) => composeGceAliases(inProcessGce(gce, clock), deps);
    const instance = gce.add('a');
    Object.assign(gce.faults, faults);
    const spec = { providerID: 'gce://my-project/us-central1-a/a' };
    await world.ask('POST', world.path, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec });
    world.startReplica();
    await world.until('it says so', () => reasonOf(world) === reason, 600_000);
    expect(textsAt(await world.ask('GET', `${world.path}/a`), 'spec', 'podCIDRs')).toEqual([]);

    Object.assign(gce.faults, {
      errors: 0,
      isLying: false,
      isEndless: false,
      isDenying: false,
      failure: undefined,
    });
    // The server drops the operation at last.
    instance.isChanging = false;
    await world.until('it is served', () => world.leader?.controller.status().nodes?.served === 1, 600_000);

    const [podCidr, ...more] = textsAt(await world.ask('GET', `${world.path}/a`), 'spec', 'podCIDRs');
    expect(more).toEqual([]);
    expect(instance.ranges.map(({ ipCidrRange }) => ipCidrRange)).toEqual([podCidr]);
    expect(world.leader?.controller.status().reasons).toEqual({});
    expect(world.bugs).toEqual([]);
  });
});

function reasonOf(world: SyncWorld): string | undefined {
  const report = world.leader?.controller.node('a');
  return report?.known === true ? report.reason : undefined;
}

describe('IPAMFromCloud', () => {
  test.each([
    ['192.168.0.0/24', 'PodCIDROutsidePools', /is not within --cluster-cidr/],
    ['10.0.0.0/24', 'PodCIDRConflict', /overlaps the addresses of Services/],
    ['10.0.3.0/25', 'PodCIDRConflict', /overlaps a pod CIDR or an alias of old/],
  ])('does not write %s to a Node', async (alias, reason, text) => {
    const world = new SyncWorld('IPAMFromCloud');
    await world.add('old', ['10.0.3.0/24'], ['10.0.3.0/24']);
    await world.clock.advance(2000);
    await world.add('a', [], [alias]);
    world.startReplica();
    await world.clock.advance(10_000);

    expect((await world.accordOf('a'))[0]).toEqual([]);
    expect(world.leader?.controller.node('a')).toMatchObject({ reason, why: expect.stringMatching(text) });
    expect(world.leader?.controller.node('old')).toMatchObject({ standing: 'served' });
  });
});
