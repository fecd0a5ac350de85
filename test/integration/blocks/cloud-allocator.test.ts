// nodeipam with CloudAllocator, in one process and in virtual time, on the models of EC2 and of Kubernetes.
import { describe, expect, test } from '@jest/globals';
import { composeAwsAliases } from '../../../src/controller/clouds/aws.ts';
import { cloudAllocatorMode } from '../../../src/blocks/modes/node-modes.ts';
import type { CidrFleetReport } from '../../../src/blocks/modes/block-status-report.ts';
import type { Ec2Api } from '../../../src/providers/aws/ec2-api.ts';
import { Random } from '../../../src/runtime/random.ts';
import type { FaultRule } from '../../../src/simulator/cloud/faults.ts';
import { createEc2, type Ec2 } from '../../../src/simulator/ec2/create-ec2.ts';
import { type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { controllerArn, InProcessEc2 } from '../../support/in-process-ec2.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';

const following = { 'cidr-allocator-type': 'CloudAllocator', 'cloud-provider': 'aws' };

class CloudWorld extends BlockWorld {
  readonly ec2: Ec2;
  readonly calls: string[];
  /** How often STS was asked. */
  accountReads = 0;

  constructor(instances: readonly object[], flags: Readonly<Record<string, string>> = {}) {
    let api: Ec2Api;
    super({
      seed: 'one',
      command: 'nodeipam',
      flags: { ...following, ...flags },
      mode: (deps) => cloudAllocatorMode(deps, (cloud) => composeAwsAliases(api, cloud)),
    });
    const topology = testCloud({
      vpcs: [{ name: 'main', blocks: ['10.0.0.0/16'], ipv6Block: 'fd00:ec2::/56' }],
      subnets: [{ name: 'nodes', zone: 'us-east-1a', block: '10.0.0.0/20', ipv6Block: 'fd00:ec2::/64' }],
      routeTables: [],
      instances,
      consistency: { visibilityDelayMs: 0, listingLagMs: 0 },
    });
    const calls: string[] = [];
    this.calls = calls;
    this.ec2 = createEc2({ topology, clock: this.clock, random: new Random('ec2') });
    api = Object.assign(
      new InProcessEc2(this.ec2.gateway, (action, _, result) => calls.push(`${action} ${result}`)),
      {
        region: () => Promise.resolve('us-east-1'),
        account: () => Promise.resolve(String(210_000_000_000 + this.accountReads++)),
      },
    );
  }

  async register(name: string, spec: JsonObject): Promise<void> {
    await this.ask('POST', this.path, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
  }

  /** The pod CIDRs of a Node, and its condition. */
  async shown(name: string): Promise<readonly [readonly string[], string | undefined]> {
    const node = await this.ask('GET', `${this.path}/${name}`);
    const condition = listAt(node, 'status', 'conditions').find(
      (each) => textAt(each, 'type') === 'NetworkUnavailable',
    );
    return [
      textsAt(node, 'spec', 'podCIDRs'),
      condition === undefined ? undefined : textAt(condition, 'status'),
    ];
  }

  async setCondition(name: string, status: string): Promise<void> {
    const conditions = [
      { type: 'NetworkUnavailable', status, lastHeartbeatTime: null, lastTransitionTime: null },
    ];
    await this.ask('PATCH', `${this.path}/${name}/status`, { status: { conditions } });
  }

  prefixOf(id: string): { readonly ipv4: string | undefined; readonly ipv6: string | undefined } {
    const [primary] = [...this.ec2.network.all('interfaces').values()].filter(
      ({ attachment }) => attachment?.instanceId === id && attachment.deviceIndex === 0,
    );
    return { ipv4: primary?.prefixes[0], ipv6: primary?.ipv6Prefixes[0] };
  }

  async assign(id: string, wanted: { readonly ipv4?: number; readonly ipv6?: number }): Promise<void> {
    const [primary] = [...this.ec2.network.all('interfaces').values()].filter(
      ({ attachment }) => attachment?.instanceId === id,
    );
    const caller = { arn: controllerArn };
    const NetworkInterfaceId = primary?.id ?? '';
    const { ipv4 = 0, ipv6 = 0 } = wanted;
    const pending = [
      ...(ipv4 > 0 ? [['AssignPrivateIpAddresses', { Ipv4PrefixCount: ipv4 }] as const] : []),
      ...(ipv6 > 0 ? [['AssignIpv6Addresses', { Ipv6PrefixCount: ipv6 }] as const] : []),
    ].map(([action, input]) => this.ec2.gateway.call(action, { NetworkInterfaceId, ...input }, caller));
    await this.clock.advance(1000);
    await Promise.all(pending);
  }

  get status(): Partial<CidrFleetReport> {
    return this.leader?.controller.status() ?? {};
  }

  reasonOf(name: string): string | undefined {
    const report = this.leader?.controller.node(name);
    return report?.known === true ? report.reason : undefined;
  }

  fail(fault: FaultRule['fault'], count?: number): number {
    return this.ec2.gateway.faults.add({ action: '*', rate: 1, count, match: {}, fault });
  }

  async events(): Promise<readonly string[]> {
    const list = await this.ask('GET', '/api/v1/events');
    return listAt(list, 'items').map(
      (event) =>
        `${textAt(event, 'type')} ${textAt(event, 'reason')} ${textAt(event, 'involvedObject', 'name')}`,
    );
  }
}

const ids = ['i-00000000000000001', 'i-00000000000000002'] as const;
const providerID = `aws:///us-east-1a/${ids[0]}`;

function machine(change: object = {}, id: string = ids[0]): object {
  return instance({ name: id, id, ...change });
}

describe('a Node that follows EC2', () => {
  test('gets the first prefix of each family, in the order of the Services', async () => {
    const world = new CloudWorld([machine({ prefixes: 2, ipv6Prefixes: 1 })], {
      'service-cluster-ip-range': 'fd00:10::/108,10.96.0.0/16',
    });
    await world.register('a', { providerID });
    world.startReplica();
    await world.until('it is served', () => world.status.nodes?.served === 1);

    const { ipv4, ipv6 } = world.prefixOf(ids[0]);
    expect(await world.shown('a')).toEqual([[ipv6, ipv4], 'False']);
    expect(world.writes.map(({ path }) => path)).toEqual(['/api/v1/nodes/a', '/api/v1/nodes/a/status']);
    expect(world.bugs).toEqual([]);
  });

  test('waits for its provider ID and for its prefix, and has a reason only if that takes long', async () => {
    const world = new CloudWorld([machine()]);
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.register('a', {});
    await world.clock.advance(500);
    expect(world.reasonOf('a')).toBeUndefined();
    await world.until('it says so', () => world.reasonOf('a') === 'ProviderIDUnreadable');
    await world.ask('PATCH', `${world.path}/a`, { spec: { providerID } });
    await world.until('it says what is missing', () => world.reasonOf('a') === 'AliasMissing');
    await world.assign(ids[0], { ipv6: 1 });
    await world.until('it is served', () => world.status.nodes?.served === 1, 31_000);

    expect(await world.shown('a')).toEqual([[world.prefixOf(ids[0]).ipv6], 'False']);
    expect(await world.events()).toEqual(['Warning CIDRNotAvailable a', 'Warning CIDRNotAvailable a']);
  });

  test('waits for a prefix of each family that Services have', async () => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })], {
      'service-cluster-ip-range': '10.96.0.0/16,fd00:10::/108',
    });
    await world.register('a', { providerID });
    world.startReplica();
    await world.until('it says so', () => world.reasonOf('a') === 'AliasMissing');
    expect(world.leader?.controller.node('a')).toMatchObject({
      why: expect.stringMatching(/no IPv4 prefix/),
    });
    expect(world.writes).toEqual([]);
    await world.assign(ids[0], { ipv4: 1 });
    await world.until('it is served', () => world.status.nodes?.served === 1);

    expect(await world.shown('a')).toEqual([Object.values(world.prefixOf(ids[0])), 'False']);
  });

  test('does not get what an older Node shows, until that is deleted', async () => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })]);
    const { ipv6 = '' } = world.prefixOf(ids[0]);
    await world.register('gone', { podCIDR: ipv6, podCIDRs: [ipv6] });
    await world.register('a', { providerID });
    world.startReplica();
    await world.until('it says so', () => world.reasonOf('a') === 'PodCIDRConflict');
    expect(world.leader?.controller.node('a')).toMatchObject({
      why: expect.stringMatching(/of gone: delete/),
    });
    await world.clock.advance(120_000);
    expect(world.writes).toEqual([]);
    await world.ask('DELETE', `${world.path}/gone`);
    await world.until('it is served', () => world.status.nodes?.served === 1);

    expect(await world.shown('a')).toEqual([[ipv6], 'False']);
  });

  test('does not get what overlaps the Services', async () => {
    const world = new CloudWorld([machine({ prefixes: 1 })], { 'service-cluster-ip-range': '10.0.0.0/16' });
    await world.register('a', { providerID });
    world.startReplica();
    await world.until('it says so', () => world.reasonOf('a') === 'PodCIDRConflict');

    expect(world.leader?.controller.node('a')).toMatchObject({
      why: expect.stringMatching(/overlaps the addresses of Services/),
    });
    expect(world.writes).toEqual([]);
  });

  test('is not said to have its network while EC2 does not route its CIDR to it', async () => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })]);
    await world.register('a', { providerID, podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] });
    world.startReplica();
    await world.until('it says so', () => world.reasonOf('a') === 'PodCIDRMismatch');
    await world.clock.advance(120_000);

    expect(world.leader?.controller.node('a')).toMatchObject({
      why: expect.stringMatching(
        /^the cloud routes [\da-f:]+\/80 to it, and not its pod CIDR 10\.1\.0\.0\/24\. The API server/,
      ),
    });
    expect(world.writes).toEqual([]);
    expect(await world.shown('a')).toEqual([['10.1.0.0/24'], undefined]);
    expect(await world.events()).toEqual(['Normal CloudCIDRAllocatorMismatch a']);
  });

  test('has its condition set again if it is taken away, and costs no call meanwhile', async () => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })]);
    await world.register('a', { providerID });
    world.startReplica();
    await world.until('it is served', () => world.status.nodes?.served === 1);
    await world.clock.advance(1000);
    const calls = world.calls.length;
    await world.clock.advance(600_000);
    expect(world.calls).toHaveLength(calls);
    await world.setCondition('a', 'True');
    await world.until('it waits', () => world.status.nodes?.waiting === 1);
    await world.until('it is served', () => world.status.nodes?.served === 1);

    expect(await world.shown('a')).toEqual([[world.prefixOf(ids[0]).ipv6], 'False']);
    expect(world.calls).toHaveLength(calls + 1);
  });

  test('is only logged in a dry run', async () => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })], { 'dry-run': 'true' });
    await world.register('a', { providerID });
    const { log } = world.startReplica();
    await world.clock.advance(60_000);

    expect(world.writes).toEqual([]);
    const said = log.lines.filter(({ message }) => message === 'dry run: would give blocks');
    expect(said.map(({ details }) => details)).toEqual([
      { node: 'a', podCIDRs: [world.prefixOf(ids[0]).ipv6] },
    ]);
  });
});

describe('EC2 behind CloudAllocator', () => {
  test('gets one call for all Nodes that join together', async () => {
    const many = Array.from({ length: 60 }, (_, index) => `i-${String(index).padStart(17, '0')}`);
    const world = new CloudWorld(many.map((id) => machine({ ipv6Prefixes: 1 }, id)));
    for (const [index, id] of many.entries())
      await world.register(`n${index}`, { providerID: `aws:///a/${id}` });
    world.startReplica();
    await world.until('all are served', () => world.status.nodes?.served === 60);

    expect(world.calls).toEqual(['DescribeNetworkInterfaces OK']);
  });

  test.each<[string, FaultRule['fault'], string, RegExp]>([
    [
      'answers 500',
      { kind: 'error', code: 'InternalError', status: 500, message: 'an internal error' },
      'Unreachable',
      /the cloud failed inside, so Headwater retries.*InternalError/,
    ],
    [
      'denies',
      {
        kind: 'error',
        code: 'UnauthorizedOperation',
        status: 403,
        message: 'You are not authorized to perform this operation.',
      },
      'AccessDenied',
      /^allow ec2:DescribeNetworkInterfaces to Headwater's role/,
    ],
    ['throttles', { kind: 'throttle' }, 'Throttled', /rate limit/],
    ['sends half an answer', { kind: 'garbled', form: 'truncated' }, 'CallFailed', /UnreadableAnswer/],
  ])('that %s is reported, and serves Nodes as soon as it does not', async (_, fault, reason, why) => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })]);
    await world.register('a', { providerID });
    const id = world.fail(fault);
    world.startReplica();
    await world.until('it says so', () => world.reasonOf('a') === reason);
    expect(world.leader?.controller.node('a')).toMatchObject({ why: expect.stringMatching(why) });
    const denied = world.leader?.controller.status().denied?.map(({ permission }) => permission);
    expect(denied).toEqual(reason === 'AccessDenied' ? ['ec2:DescribeNetworkInterfaces'] : []);
    await world.clock.advance(120_000);
    expect(world.writes).toEqual([]);
    world.ec2.gateway.faults.remove(id);
    await world.until('it is served', () => world.status.nodes?.served === 1);

    expect(world.bugs).toEqual([]);
  });

  test('that shows nothing of all Nodes is in the account that a reason names, which is asked for rarely', async () => {
    const world = new CloudWorld([machine()]);
    for (let index = 0; index < 60; index++)
      await world.register(`n${index}`, {
        providerID: `aws:///us-east-1a/i-1${String(index).padStart(16, '0')}`,
      });
    world.startReplica();
    await world.until('all say so', () => world.status.reasons?.['InstanceNotFound'] === 60);

    expect(world.leader?.controller.node('n7')).toMatchObject({
      why: expect.stringMatching(
        /^EC2 shows no instance i-\d+ in us-east-1 of account 21\d{10}: check --aws-region and/,
      ),
    });
    await world.clock.advance(600_000);
    expect(world.accountReads).toBeLessThanOrEqual(5);
    expect(world.writes).toEqual([]);
  });

  test('that shows no such instance, or a terminated one, is no evidence against a Node', async () => {
    const world = new CloudWorld([machine({ ipv6Prefixes: 1 })]);
    await world.register('a', { providerID });
    await world.register('b', { providerID: `aws:///us-east-1a/${ids[1]}` });
    const terminated = world.ec2.gateway.call(
      'TerminateInstances',
      { InstanceIds: [ids[0]] },
      { arn: controllerArn },
    );
    await world.clock.advance(60_000);
    await terminated;
    world.startReplica();
    await world.until('both are known', () => Object.keys(world.status.reasons ?? {}).length === 2);

    expect(world.status.reasons).toEqual({ InstanceNotFound: 1, InstanceTerminated: 1 });
    expect(world.writes).toEqual([]);
    expect(await world.events()).toEqual(['Warning CIDRNotAvailable a', 'Warning CIDRNotAvailable b']);
  });
});
