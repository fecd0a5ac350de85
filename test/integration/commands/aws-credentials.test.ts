import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type Front, startFront } from '../../support/front.ts';
import { startProxy } from '../../support/local-proxy.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { type Role, startTokenService, type TokenService } from '../../support/security-token-service.ts';
import { Child } from './child.ts';
import { announce, type Simulated, simulate, smallCloud } from './simulated.ts';
import { testDirectory } from './test-directory.ts';

const minute = 60_000;
const nodesRole = 'arn:aws:iam::111122223333:role/headwater-nodes';
const podRole = 'arn:aws:iam::444455556666:role/headwater-pod';

/** Keys that EC2 knows, and one that only STS knows. */
const first = { id: 'ASIATEMPORARY0000001', secret: 'secret-one', token: 'session-one' };
const second = { id: 'ASIATEMPORARY0000002', secret: 'secret-two', token: 'session-two' };
const source = { id: 'AKIASOURCE0000000001', secret: 'secret-source', token: 'session-source' };

const acrossAccounts: Role = {
  arn: nodesRole,
  externalId: 'cluster-1',
  by: source.id,
  keys: [first],
  lifetime: 60 * minute,
};

const directory = testDirectory('credentials');
let simulated: Simulated;
let ec2: Front;

async function startClouds(roles: readonly Role[]): Promise<TokenService> {
  const users = { [first.id]: first.secret, [second.id]: second.secret };
  simulated = await simulate(join(directory.path, 'cloud'), smallCloud(users));
  ec2 = await startFront(simulated.ec2);
  await announce(simulated.api, 'one', 'i-00000000000000001');
  const sts = await startTokenService(roles, () => systemClock.wall());
  directory.closeLater(ec2.close, sts.close);
  return sts;
}

function startWith(environment: Readonly<Record<string, string>>): Child {
  return new Child(
    [
      'run',
      '--k8s-kubeconfig-path',
      simulated.kubeconfig,
      '--ec2-api-endpoint',
      ec2.url,
      '--aws-region=us-east-1',
      '--serve-addr=127.0.0.1:0',
    ],
    { environment },
  );
}

/** The access key and the session token of each request to EC2. */
function signers(): ReadonlySet<string> {
  return new Set(
    ec2.seen.map((headers) => {
      const id = /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1];
      return `${id} ${String(headers['x-amz-security-token'])}`;
    }),
  );
}

const firstSigner = `${first.id} ${first.token}`;

describe('a role in the account of the nodes', () => {
  const baseProfile = `[profile base]\naws_access_key_id = ${source.id}\naws_secret_access_key = ${source.secret}\n`;
  const role = `role_arn = ${nodesRole}\nexternal_id = cluster-1`;

  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['source_profile', `[profile nodes]\n${role}\nsource_profile = base\n${baseProfile}`, {}],
    [
      'credential_source = Environment',
      `[profile nodes]\n${role}\ncredential_source = Environment\n`,
      { AWS_ACCESS_KEY_ID: source.id, AWS_SECRET_ACCESS_KEY: source.secret },
    ],
  ])('is assumed with its external id by %s', async (name, text, environment) => {
    const sts = await startClouds([acrossAccounts]);
    const config = await directory.file(`${name.slice(0, 6)}.config`, text);

    const child = startWith({
      AWS_CONFIG_FILE: config,
      AWS_PROFILE: 'nodes',
      AWS_ENDPOINT_URL_STS: sts.url,
      ...environment,
    });
    await child.said(/"msg":"(?:assigned|attached) /);

    expect(sts.asked).toEqual([`AssumeRole ${nodesRole}`]);
    expect(signers()).toEqual(new Set([firstSigner]));
  });

  test('is assumed by a pod whose own role comes from its service account (IRSA)', async () => {
    const sts = await startClouds([
      { arn: podRole, by: 'the-token-of-the-pod', keys: [source], lifetime: 60 * minute },
      acrossAccounts,
    ]);
    const token = await directory.file('token', 'the-token-of-the-pod');
    const config = await directory.file(
      'irsa.config',
      `[profile nodes]\n${role}\nsource_profile = pod\n[profile pod]\nrole_arn = ${podRole}\nweb_identity_token_file = ${token}\n`,
    );

    const child = startWith({
      AWS_CONFIG_FILE: config,
      AWS_PROFILE: 'nodes',
      AWS_ENDPOINT_URL_STS: sts.url,
    });
    await child.said(/"msg":"(?:assigned|attached) /);

    expect(sts.asked).toEqual([`AssumeRoleWithWebIdentity ${podRole}`, `AssumeRole ${nodesRole}`]);
    expect(signers()).toEqual(new Set([firstSigner]));
  });

  test('is assumed by an EKS pod identity', async () => {
    const sts = await startClouds([acrossAccounts]);
    const agent = await loopbackServer((request, response) => {
      const known = request.headers.authorization === 'the-token-of-the-pod';
      json(response, known ? 200 : 403, keysFrom(source));
    });
    directory.closeLater(agent.close);
    const config = await directory.file(
      'pod-identity.config',
      `[profile nodes]\n${role}\ncredential_source = EcsContainer\n`,
    );

    const child = startWith({
      AWS_CONFIG_FILE: config,
      AWS_PROFILE: 'nodes',
      AWS_ENDPOINT_URL_STS: sts.url,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: await directory.file('token', 'the-token-of-the-pod'),
    });
    await child.said(/"msg":"(?:assigned|attached) /);

    expect(sts.asked).toEqual([`AssumeRole ${nodesRole}`]);
    expect(signers()).toEqual(new Set([firstSigner]));
  });

  test('is assumed again before its keys expire', async () => {
    // The SDK renews credentials that expire within 5 minutes.
    const sts = await startClouds([{ ...acrossAccounts, keys: [first, second], lifetime: minute }]);
    const config = await directory.file(
      'renewed.config',
      `[profile nodes]\n${role}\ncredential_source = Environment\n`,
    );

    const child = startWith({
      AWS_CONFIG_FILE: config,
      AWS_PROFILE: 'nodes',
      AWS_ENDPOINT_URL_STS: sts.url,
      AWS_ACCESS_KEY_ID: source.id,
      AWS_SECRET_ACCESS_KEY: source.secret,
    });
    await child.said(/"msg":"(?:assigned|attached) /);

    expect(signers()).toEqual(new Set([firstSigner, `${second.id} ${second.token}`]));
  });

  test('is not assumed without its external id: the log says so, and Headwater keeps trying', async () => {
    const sts = await startClouds([acrossAccounts]);
    const config = await directory.file(
      'without.config',
      `[profile nodes]\nrole_arn = ${nodesRole}\nsource_profile = base\n${baseProfile}`,
    );

    const child = startWith({
      AWS_CONFIG_FILE: config,
      AWS_PROFILE: 'nodes',
      AWS_ENDPOINT_URL_STS: sts.url,
    });
    await child.said(
      /"code":"AccessDenied","message":"User: \S+ is not authorized to perform: sts:AssumeRole on resource: \S+","msg":"cannot read the cloud"/,
    );

    expect(ec2.seen).toEqual([]);
    expect(await child.stop()).toMatchObject({ code: 0, err: '' });
  });
});

test('keys of the instance come from its metadata service, which is reached without any proxy', async () => {
  await startClouds([]);
  const asked: (string | undefined)[] = [];
  const metadata = await loopbackServer((request, response) => {
    asked.push(request.url);
    if (request.method === 'PUT') response.end('a-token');
    else if (request.url?.endsWith('/security-credentials/') === true) response.end('node-role');
    else json(response, 200, { Code: 'Success', ...keysFrom(first) });
  });
  const proxy = await startProxy({ routes: {} });
  directory.closeLater(metadata.close, proxy.close);

  const child = startWith({
    AWS_EC2_METADATA_DISABLED: 'false',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url,
    HTTP_PROXY: proxy.url,
    HTTPS_PROXY: proxy.url,
    NODE_USE_ENV_PROXY: '1',
  });
  await child.said(/"msg":"(?:assigned|attached) /);

  expect(signers()).toEqual(new Set([firstSigner]));
  expect(asked).toContain('/latest/meta-data/iam/security-credentials/node-role');
  expect(proxy.asked).toEqual([]);
});

function keysFrom({ id, secret, token }: typeof first): object {
  const expiration = new Date(systemClock.wall() + 60 * minute).toISOString();
  return { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration };
}
