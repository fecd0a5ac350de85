import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { answerArm } from '../../../src/simulator/arm/arm-http.ts';
import { createArm } from '../../../src/simulator/arm/create-arm.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { startHttpFront } from '../../../src/simulator/http-front.ts';
import { armTopologyFrom } from '../../unit/simulator/arm/arm-rig.ts';
import { Child } from './child.ts';
import { testDirectory } from './test-directory.ts';

const tenant = '00000000-0000-0000-0000-0000000000aa';
const clientId = '00000000-0000-0000-0000-0000000000cc';
const group = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes';
const instanceId = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/0`;

const topology = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
scaleSets: [{ name: pool, count: 1, interfaces: [{ name: nic0, subnet: a }] }]
latency: { scale: 0 }
consistency: { listingLagMs: 0 }
times: { machineMs: 0 }
operations: { retryAfter: 0 }
`;

const directory = testDirectory('azure-credentials');

/** Azure over HTTPS, a Kubernetes API with one node of it, and what the controller asks Azure's authority for. */
async function startClouds() {
  const random = new Random('arm');
  const { gateway } = createArm({ topology: armTopologyFrom(topology), clock: systemClock, random });
  const authority = certificateAuthority('azure of a test');
  const asked: URLSearchParams[] = [];
  const front = await startHttpFront({
    answer: (request) => {
      if (request.url.includes('/oauth2/')) asked.push(new URLSearchParams(request.body));
      return answerArm(request, gateway);
    },
    port: 0,
    tls: authority.issue('127.0.0.1'),
  });
  directory.closeLater(() => front.close());
  const kubeconfig = join(directory.path, 'cluster.kubeconfig');
  const cluster = new Child(['simulate', '--kubernetes', '--kubernetes-port=0', '--kubeconfig', kubeconfig]);
  const api = await cluster.word(/^# the Kubernetes API on (\S+)$/m);
  const node = {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name: 'one' },
    spec: { 'instance-id': instanceId.toLowerCase(), azure: {}, ipam: { 'pre-allocate': 4 } },
  };
  const answer = await fetch(`${api}/apis/cilium.io/v2/ciliumnodes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(node),
  });
  expect(answer.status).toBe(201);
  return { url: front.url, ca: await directory.file('ca.pem', authority.cert), kubeconfig, asked };
}

function startWith(
  { url, ca, kubeconfig }: Awaited<ReturnType<typeof startClouds>>,
  environment: Readonly<Record<string, string>>,
): Child {
  const flags = [
    '--ipam=azure',
    '--azure-cloud=AzurePublicCloud',
    '--azure-subscription-id=00000000-0000-0000-0000-000000000001',
    '--azure-resource-group=nodes',
    `--azure-endpoint=${url}`,
    '--serve-addr=127.0.0.1:0',
  ];
  return new Child(['run', '--k8s-kubeconfig-path', kubeconfig, ...flags], {
    environment: {
      AZURE_AUTHORITY_HOST: url,
      AZURE_TENANT_ID: tenant,
      AZURE_CLIENT_ID: clientId,
      NODE_EXTRA_CA_CERTS: ca,
      ...environment,
    },
  });
}

describe('a controller on Azure, over HTTPS,', () => {
  test('proves its workload identity by the federated token of its file', async () => {
    const clouds = await startClouds();
    const token = await directory.file('token', 'the-token-of-the-service-account\n');

    const child = startWith(clouds, { AZURE_FEDERATED_TOKEN_FILE: token });
    await child.said(/"msg":"assigned /);

    const [first] = clouds.asked;
    expect(Object.fromEntries(first ?? [])).toMatchObject({
      grant_type: 'client_credentials',
      client_id: clientId,
      scope: expect.stringMatching(/^https:\/\/management\.\S+\/\.default/),
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'the-token-of-the-service-account',
    });
    expect(first?.has('client_secret')).toBe(false);
  });

  test('says that a wrong secret is wrong, and assigns nothing', async () => {
    const clouds = await startClouds();

    const child = startWith(clouds, { AZURE_CLIENT_SECRET: 'another' });
    const why = await child.word(/"reason":"CredentialsInvalid","why":"([^"]+)"/);

    expect(why).toMatch(/^check the credentials that Headwater uses: .*Invalid client secret provided/);
    expect(why).not.toContain('another');
    const { out } = await child.stop();
    expect(out).not.toContain('"msg":"assigned ');
  });

  test.each([
    ['a secret', { AZURE_CLIENT_SECRET: 'another' }],
    ['a workload identity', { AZURE_FEDERATED_TOKEN_FILE: '' }],
  ] as const)(
    'says that it does not know the authority of the certificate, and nothing of credentials, with %s',
    async (_, given) => {
      const clouds = await startClouds();
      const token = await directory.file('token', 'the-token\n');
      const file = 'AZURE_FEDERATED_TOKEN_FILE' in given && { AZURE_FEDERATED_TOKEN_FILE: token };

      const child = startWith(clouds, { ...given, ...file, NODE_EXTRA_CA_CERTS: '' });
      const [line, reason, why] = await child.said(/"reason":"(\w+)","why":"([^"]+)"/);

      expect({ line, reason, why }).toMatchObject({ reason: 'Unreachable' });
      expect(why).toMatch(
        /the certificate of 127\.0\.0\.1:\d+ is not trusted: .*; name its authority in --extra-ca-file/,
      );
      expect(why).not.toContain('credentials');
    },
  );
});
