// Subnets that another account shares, with a role of that account: the processes, the SDK, STS and EC2 over HTTP.
import { afterEach, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { startTokenService, type TokenService } from '../../support/security-token-service.ts';
import { createNode, flagsFor, rowsOf } from './check-rig.ts';
import { Child, type Ended, endAll, headwater } from './child.ts';
import { announce, type Simulated, simulate } from './simulated.ts';
import { testDirectory } from './test-directory.ts';

const [nodesSubnet, podsSubnet] = ['subnet-0000000000000000a', 'subnet-0000000000000000b'];
const role = 'arn:aws:iam::444455556666:role/headwater-network';
const ours = { id: 'AKIASOURCE0000000001', secret: 'secret-source' };
const theirs = { id: 'ASIATEMPORARY0000001', secret: 'secret-one', token: 'session-one' };

const cloud = `
account: '111122223333'
region: us-east-1
credentials:
  - { accessKeyId: ${ours.id}, secretAccessKey: ${ours.secret}, user: nodes }
  - { accessKeyId: ${theirs.id}, secretAccessKey: ${theirs.secret}, user: network, account: '444455556666' }
vpcs: [{ name: main, id: vpc-00000000000000001, owner: '444455556666', blocks: [10.0.0.0/16] }]
subnets:
  - { name: nodes, id: ${nodesSubnet}, zone: us-east-1a, block: 10.0.0.0/24 }
  - { name: pods, id: ${podsSubnet}, zone: us-east-1a, block: 10.0.1.0/24, tags: { use: pods } }
securityGroups: [{ name: nodes }]
instances: [{ name: one, id: i-00000000000000001, type: m5.large, subnet: nodes, securityGroups: [nodes] }]
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 0 }
`;

const directory = testDirectory('network-account');
afterEach(endAll);

interface Started {
  readonly simulated: Simulated;
  readonly sts: TokenService;
  readonly environment: Readonly<Record<string, string>>;
}

async function start(): Promise<Started> {
  const simulated = await simulate(join(directory.path, 'cloud'), cloud);
  const roles = [{ arn: role, externalId: 'cluster-1', by: ours.id, keys: [theirs], lifetime: 3_600_000 }];
  const sts = await startTokenService(roles, () => systemClock.wall());
  directory.closeLater(sts.close);
  await createNode(simulated.api, 'one', 'aws:///us-east-1a/i-00000000000000001');
  await announce(simulated.api, 'one', 'i-00000000000000001', {
    'subnet-tags': { use: 'pods' },
    'first-interface-index': 1,
  });
  const environment = {
    AWS_ACCESS_KEY_ID: ours.id,
    AWS_SECRET_ACCESS_KEY: ours.secret,
    AWS_ENDPOINT_URL_STS: sts.url,
  };
  return { simulated, sts, environment };
}

function run({ simulated, environment }: Started, flags: readonly string[]): Child {
  const [, ...common] = flagsFor(simulated);
  return new Child(['run', ...common, '--serve-addr=127.0.0.1:0', ...flags], { environment });
}

async function check({ simulated, environment }: Started, flags: readonly string[]): Promise<Ended> {
  return headwater([...flagsFor(simulated), ...flags], { environment });
}

/** The line about an interface that was made, with its subnet. */
const attached = /"subnet":"([^"]+)".*"msg":"attached new interface"/;

const asRole = [`--network-account-role-arn=${role}`, '--network-account-external-id=cluster-1'];
const problemsOf = (ended: Ended): readonly string[] =>
  rowsOf(ended).filter((line) => line.startsWith('problem'));

describe('a node whose tags name a subnet of another account', () => {
  test('gets an interface there with a role of that account', async () => {
    const started = await start();

    const child = run(started, asRole);
    const subnetId = await child.word(attached);

    expect(subnetId).toBe(podsSubnet);
    expect(await child.stop()).toMatchObject({ code: 0, err: '' });
    expect(new Set(started.sts.asked)).toEqual(new Set([`AssumeRole ${role}`]));
  });

  test('gets its own subnet without a role, and STS is never asked for one', async () => {
    const started = await start();

    const child = run(started, []);
    const subnetId = await child.word(attached);

    expect(subnetId).toBe(nodesSubnet);
    expect(started.sts.asked).toEqual([]);
  });

  test.each([
    ['another external id', [asRole[0] ?? '']],
    ['a role that does not exist', ['--network-account-role-arn=arn:aws:iam::444455556666:role/other']],
  ])('waits with %s, and the log says what to do', async (_, flags) => {
    const started = await start();

    const child = run(started, flags);
    const [line] = await child.said(/^.*"msg":"missing cloud permission".*$/m);
    await child.said(/NetworkUnreadable/);
    const { out } = await child.stop();

    expect(line).toMatch(
      /allow sts:AssumeRole to Headwater's role, in its own policy and in the trust policy of arn:/,
    );
    expect(out).not.toMatch(attached);
  });
});

describe('headwater check with a role of the network account', () => {
  test('names the subnet, and that the role may read', async () => {
    const ended = await check(await start(), asRole);

    expect(rowsOf(ended)).toContainEqual(
      expect.stringMatching(new RegExp(`^ok +subnets: .* in ${podsSubnet} `)),
    );
    expect(rowsOf(ended)).toContainEqual(
      expect.stringMatching(
        `permits DescribeInstances, CreateNetworkInterface, DescribeSubnets with ${role};`,
      ),
    );
  });

  test('says why the role cannot be assumed, and what to do', async () => {
    const ended = await check(await start(), asRole.slice(0, 1));

    const remedy = `allow sts:AssumeRole to Headwater's role, in its own policy and in the trust policy of ${role}, or correct --network-account-role-arn or --network-account-external-id`;
    expect(ended.code).toBe(1);
    expect(problemsOf(ended)).toEqual([
      expect.stringMatching(
        `^problem +permissions in the cloud: DescribeSubnets failed: AccessDenied: User: .* sts:AssumeRole on resource: ${role}; remedy: ${remedy}$`,
      ),
      expect.stringMatching(
        `^problem +subnets: 1 node .one. can get no interface: ${remedy}: DescribeSubnets`,
      ),
    ]);
  });
});
