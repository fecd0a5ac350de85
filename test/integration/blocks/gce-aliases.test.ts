// Alias IP ranges of Google Cloud, in one process and in virtual time, on our model of Compute Engine alone.
import { describe, expect, test } from '@jest/globals';
import type { AliasAddition } from '../../../src/blocks/node-ipam/cloud/cloud-aliases.ts';
import type { AliasCloud } from '../../../src/controller/clouds/cloud.ts';
import { composeGceAliases } from '../../../src/controller/clouds/gce.ts';
import { cloudAllocatorMode } from '../../../src/blocks/modes/node-modes.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type GceFaults, GceModel } from '../../../src/simulator/gce/gce-model.ts';
import { type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { type AuditLine, auditInto } from '../../support/audit-lines.ts';
import { inProcessGce } from '../../support/in-process-gce.ts';

const never = new AbortController().signal;

class GceWorld extends BlockWorld {
  readonly gce: GceModel;
  readonly audited: AuditLine[] = [];
  #cloud: AliasCloud | undefined;

  constructor(flags: Readonly<Record<string, string>> = {}) {
    let gce: GceModel | undefined;
    super({
      seed: 'one',
      command: 'nodeipam',
      flags: { 'cidr-allocator-type': 'CloudAllocator', 'cloud-provider': 'gce', ...flags },
      mode: (deps) =>
        cloudAllocatorMode(deps, (cloud) => {
          if (gce === undefined) throw new Error('the model comes first');
          const audit = auditInto(this.audited, cloud);
          this.#cloud = composeGceAliases(inProcessGce(gce, deps.host.clock), { ...cloud, audit });
          return this.#cloud;
        }),
    });
    this.gce = gce = new GceModel({
      clock: this.clock,
      random: new Random('gce'),
      project: 'my-project',
      zone: 'us-central1-a',
      operationTime: 3000,
    });
  }

  async register(name: string, spec: JsonObject = { providerID: providerOf(name) }): Promise<void> {
    await this.ask('POST', this.path, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
  }

  async shown(name: string): Promise<readonly [readonly string[], readonly string[]]> {
    const node = await this.ask('GET', `${this.path}/${name}`);
    const reasons = listAt(node, 'status', 'conditions').map((each) => textAt(each, 'reason') ?? '');
    return [textsAt(node, 'spec', 'podCIDRs'), reasons];
  }

  get served(): number {
    return this.leader?.controller.status().nodes?.served ?? 0;
  }

  reasonOf(name: string): string | undefined {
    const report = this.leader?.controller.node(name);
    return report?.known === true ? report.reason : undefined;
  }

  /** Adds an alias and waits for the answer, in virtual time. */
  async add(name: string, cidr: string): Promise<AliasAddition> {
    if (this.leader === undefined) this.startReplica();
    await this.until('it leads', () => this.leader !== undefined);
    const answers: AliasAddition[] = [];
    void this.#cloud?.aliases
      .addAlias({ name, providerId: providerOf(name) }, cidr, never)
      .then((answer) => answers.push(answer));
    await this.until('it is answered', () => answers.length > 0, 300_000);
    return answers[0] ?? { kind: 'added' };
  }

  /** Adds an alias, and ends the wait for it once its call is accepted. */
  async addUntilShutdown(name: string): Promise<void> {
    this.startReplica();
    await this.until('it leads', () => this.leader !== undefined);
    const ending = new AbortController();
    const node = { name, providerId: providerOf(name) };
    const added = this.#cloud?.aliases.addAlias(node, '10.4.2.0/24', ending.signal);
    await this.until('it is accepted', () => this.audited.length > 0);
    ending.abort(new Error('shut down'));
    await expect(added).rejects.toThrow('shut down');
  }
}

function providerOf(name: string): string {
  return `gce://my-project/us-central1-a/${name}`;
}

describe('a Node that follows Google Cloud', () => {
  test('gets the first alias IP range, and the first /112 of the IPv6 range', async () => {
    const world = new GceWorld();
    const ranges = ['10.4.1.0/24', '10.4.2.0/24'].map((ipCidrRange) => ({ ipCidrRange }));
    world.gce.add('a', ranges, 'fd20:1:2:3::');
    await world.register('a');
    world.startReplica();
    await world.until('it is served', () => world.served === 1);

    expect(await world.shown('a')).toEqual([['10.4.1.0/24', 'fd20:1:2:3::/112'], ['RouteCreated']]);
    expect(world.gce.calls).toEqual(['GET instances/a 200']);
    expect(world.bugs).toEqual([]);
  });

  test('waits with a reason for its alias, its instance and a provider ID that names one', async () => {
    const world = new GceWorld();
    const instance = world.gce.add('bare');
    for (const name of ['bare', 'gone']) await world.register(name);
    await world.register('odd', { providerID: 'gce://my-project/us-central1-a/../x' });
    world.startReplica();
    await world.until('all say so', () => ['bare', 'gone', 'odd'].every((name) => world.reasonOf(name)));

    expect(world.leader?.controller.status().reasons).toEqual({
      AliasMissing: 1,
      InstanceNotFound: 1,
      ProviderIDUnreadable: 1,
    });
    instance.change([{ ipCidrRange: '10.4.1.0/24', subnetworkRangeName: 'pods' }]);
    await world.until('it is served', () => world.served === 1);
    expect(await world.shown('bare')).toEqual([['10.4.1.0/24'], ['RouteCreated']]);
  });

  test('is served once Compute Engine no longer answers 500', async () => {
    const world = new GceWorld();
    world.gce.add('a', [{ ipCidrRange: '10.4.1.0/24' }]);
    world.gce.faults.errors = 4;
    await world.register('a');
    world.startReplica();
    await world.until('it says so', () => world.reasonOf('a') === 'Unreachable');
    await world.until('it is served', () => world.served === 1);

    expect(world.reasonOf('a')).toBeUndefined();
    expect(world.bugs).toEqual([]);
  });
});

describe('500 Nodes that follow Google Cloud', () => {
  test('are served with two writes each, although the leader is killed in the middle', async () => {
    const world = new GceWorld();
    const ranges = Array.from({ length: 500 }, (_, index) => `10.${4 + (index >> 8)}.${index & 255}.0/24`);
    for (const [index, ipCidrRange] of ranges.entries()) {
      world.gce.add(`n${index}`, [{ ipCidrRange }]);
      await world.register(`n${index}`);
    }
    world.startReplica();
    await world.until('a part is served', () => world.writes.length > 300);
    world.startReplica();
    world.leader?.process.kill();
    await world.until('all are served', () => world.writes.length >= 1000, 300_000);
    await world.until('the second one leads', () => world.served === 500);

    const shown = await Promise.all(ranges.map((_, index) => world.shown(`n${index}`)));
    expect(shown).toEqual(ranges.map((range) => [[range], ['RouteCreated']]));
    expect(world.writes.length).toBeLessThan(1010);
    expect(world.gce.calls.length).toBeLessThan(1000);
    expect(world.bugs).toEqual([]);
  });
});

describe('an alias that is added on Google Cloud', () => {
  test('keeps the others, and is added once its operation ends', async () => {
    const world = new GceWorld();
    const instance = world.gce.add('a', [{ ipCidrRange: '10.4.1.0/24', subnetworkRangeName: 'pods' }]);
    const before = instance.fingerprint;

    expect(await world.add('a', '10.4.2.0/24')).toEqual({ kind: 'added' });
    expect(instance.ranges).toEqual([
      { ipCidrRange: '10.4.1.0/24', subnetworkRangeName: 'pods' },
      { ipCidrRange: '10.4.2.0/24' },
    ]);
    expect(instance.fingerprint).not.toBe(before);
    expect(world.gce.calls.slice(0, 2)).toEqual([
      'GET instances/a 200',
      'PATCH instances/a/updateNetworkInterface 200',
    ]);
    const calls = world.gce.calls.length;
    expect(await world.add('a', '10.4.2.0/24')).toEqual({ kind: 'added' });
    expect(world.gce.calls).toHaveLength(calls + 1);
    const of = { change: 1, node: 'a', instance: 'my-project/us-central1-a/a', why: 'podCidr' };
    const subjects = [{ prefixes: ['10.4.2.0/24'] }];
    expect(world.audited).toMatchObject([
      { ...of, audit: 'change', result: 'accepted', requestId: expect.stringMatching(/./), subjects },
      { ...of, audit: 'end', result: 'ok', subjects },
    ]);
  });

  test('has an unclear end in the audit when Headwater shuts down before', async () => {
    const world = new GceWorld();
    world.gce.add('a');

    await world.addUntilShutdown('a');

    expect(world.audited.map(({ audit, result, code }) => [audit, result, code])).toEqual([
      ['change', 'accepted', undefined],
      ['end', 'unclear', 'Ended'],
    ]);
  });

  test.each<[string, Partial<GceFaults>, AliasAddition['kind'], RegExp, string]>([
    ['answers 500 to the read', { errors: 1 }, 'transient', /backendError/, 'Unreachable'],
    ['lies about the fingerprint', { isLying: true }, 'transient', /conditionNotMet/, 'CallFailed'],
    ['never ends the operation', { isEndless: true }, 'unclear', /has not ended/, 'CallFailed'],
    ['fails the operation', { failure: 'IP_SPACE_EXHAUSTED' }, 'refused', /IP_SPACE_EXHAUSTED/, 'CallFailed'],
    ['fails it for now', { failure: 'RESOURCE_NOT_READY' }, 'transient', /NOT_READY/, 'CallFailed'],
    [
      'denies it',
      { isDenying: true },
      'refused',
      /^allow compute.instances.updateNetworkInterface to/,
      'AccessDenied',
    ],
  ])('of a server that %s is told as such', async (_, faults, kind, message, reason) => {
    const world = new GceWorld();
    const instance = world.gce.add('a');
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    Object.assign(world.gce.faults, faults);

    const answer = await world.add('a', '10.4.2.0/24');
    expect(answer).toMatchObject({ kind, reason, message: expect.stringMatching(message) });
    expect(instance.ranges).toEqual([]);
    expect(world.gce.calls.length).toBeLessThanOrEqual(30);
    const lines = world.audited.filter(({ audit }) => audit === 'change');
    expect(lines).toHaveLength(world.gce.calls.filter((call) => call.startsWith('PATCH')).length);
    expect(world.audited.at(-1)?.result ?? 'refused').toBe(kind === 'unclear' ? 'unclear' : 'refused');
    expect(world.bugs).toEqual([]);
  });

  test.each<[string, string, AliasAddition['kind'], string]>([
    ['an instance that is gone', 'gone', 'notFound', 'InstanceNotFound'],
    ['one that another instance has', 'a', 'refused', 'CallFailed'],
  ])('to %s is told as such', async (_, name, kind, reason) => {
    const world = new GceWorld();
    world.gce.add('a');
    world.gce.add('b', [{ ipCidrRange: '10.4.2.0/24' }]);

    expect(await world.add(name, '10.4.2.0/24')).toMatchObject({ kind, reason });
  });

  test('may or may not be there if the change is answered with 500', async () => {
    const world = new GceWorld();
    world.gce.add('a');
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    const answering = world.add('a', '10.4.2.0/24');
    await world.until('it was read', () => world.gce.calls.length === 1);
    world.gce.faults.errors = 1;

    expect(await answering).toMatchObject({ kind: 'unclear' });
  });
});

describe('the model of Compute Engine', () => {
  const clock = new VirtualClock();
  const options = { clock, random: new Random('strict'), project: 'p', zone: 'z', operationTime: 10 };
  const path = '/compute/v1/projects/p/zones/z/instances/a';

  test.each<[string, string, string, Readonly<Record<string, string>>, string, number]>([
    ['a token', 'GET', path, {}, '', 401],
    ['a token of its own', 'GET', path, { authorization: 'Bearer other' }, '', 401],
    ['the flavor', 'GET', '/computeMetadata/v1/instance/service-accounts/default/token', {}, '', 403],
    ['a fingerprint', 'PATCH', `${path}/updateNetworkInterface?networkInterface=nic0`, {}, '{}', 400],
    [
      'the right fingerprint',
      'PATCH',
      `${path}/updateNetworkInterface?networkInterface=nic0`,
      {},
      '{"fingerprint":"AAAA","aliasIpRanges":[]}',
      412,
    ],
    ['an interface', 'PATCH', `${path}/updateNetworkInterface`, {}, '{}', 400],
    ['its project', 'GET', '/compute/v1/projects/other/zones/z/instances/a', {}, '', 404],
  ])('insists on %s', (what, method, url, headers, body, status) => {
    const model = new GceModel(options);
    model.add('a');
    const authorization = `Bearer ${model.token().text}`;
    const given = what.includes('token') || what === 'the flavor' ? headers : { authorization, ...headers };

    expect(model.answer({ method, url, headers: given, body })).toMatchObject({ status });
  });

  test('no longer accepts a token that has ended', async () => {
    const model = new GceModel({ ...options, tokenLifetime: 1000 });
    model.add('a');
    const headers = { authorization: `Bearer ${model.token().text}` };
    const request = { method: 'GET', url: path, headers, body: '' };
    expect(model.answer(request)).toMatchObject({ status: 200 });
    await clock.advance(1001);

    expect(model.answer(request)).toMatchObject({ status: 401 });
  });
});
