import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { connectToAzure } from '../../../src/controller/clouds/connect-to-azure.ts';
import { readNoProxy } from '../../../src/network/no-proxy.ts';
import type { Proxies } from '../../../src/network/proxies.ts';
import { subscriptions, interfacesInGroup } from '../../../src/providers/azure/requests.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import type { ArmGateway } from '../../../src/simulator/arm/arm-gateway.ts';
import { answerArm } from '../../../src/simulator/arm/arm-http.ts';
import { type ArmServer, startArmServer } from '../../../src/simulator/arm/arm-server.ts';
import { createArm } from '../../../src/simulator/arm/create-arm.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { type HttpOutcome, type HttpRequest, startHttpFront } from '../../../src/simulator/http-front.ts';
import { startProxy } from '../../support/local-proxy.ts';
import { type GivenFlags, optionsOf } from '../../support/given-options.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { armTopologyFrom } from '../../unit/simulator/arm/arm-rig.ts';

const subscriptionId = '00000000-0000-0000-0000-000000000001';
const place = { subscriptionId, resourceGroup: 'nodes' };
const signal = new AbortController().signal;
const trusted = getCACertificates('default');
const given: Readonly<Record<string, string>> = {
  AZURE_TENANT_ID: '00000000-0000-0000-0000-0000000000aa',
  AZURE_CLIENT_ID: '00000000-0000-0000-0000-0000000000cc',
  AZURE_CLIENT_SECRET: 'headwater-example-secret',
};

let gateway: ArmGateway;
let server: ArmServer;

beforeAll(async () => {
  const topology = armTopologyFrom(`
cloud: azure
environment: AzureChinaCloud
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
machines: [{ name: one, interfaces: [{ name: nic0, subnet: a }] }]
latency: { scale: 0 }
`);
  ({ gateway } = createArm({ topology, clock: systemClock, random: new Random('arm') }));
  server = await startArmServer({ gateway });
  setDefaultCACertificates([...trusted, server.ca]);
  Object.assign(process.env, given, { AZURE_AUTHORITY_HOST: server.url });
});

afterAll(async () => {
  setDefaultCACertificates(trusted);
  for (const name of [...Object.keys(given), 'AZURE_AUTHORITY_HOST'])
    Reflect.deleteProperty(process.env, name);
  await server.close();
});

const direct: Proxies = { http: undefined, https: undefined, exempt: readNoProxy('') };

function connect(flags: GivenFlags, proxies = direct) {
  const log = recordingLogger();
  return connectToAzure(
    {
      options: optionsOf({ ipam: 'azure', ...flags }),
      outbound: { proxies, extraAuthorities: [] },
      environment: process.env,
      log,
      clock: systemClock,
    },
    signal,
  );
}

/** Only the date is that of another time. */
const realTimers = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

describe('a connection to Azure', () => {
  test('takes cloud, subscription and group from the metadata service', async () => {
    const { api, ...found } = await connect({ 'azure-metadata-endpoint': server.metadataUrl });
    api.close();

    expect(found).toEqual({ cloud: 'AzureChinaCloud', place });
  });

  test('takes what options say before that', async () => {
    const { api, ...found } = await connect({
      'azure-cloud': 'AzureUSGovernmentCloud',
      'azure-subscription-id': '00000000-0000-0000-0000-000000000002',
      'azure-resource-group': 'others',
      'azure-metadata-endpoint': server.metadataUrl,
    });
    api.close();

    expect(found).toEqual({
      cloud: 'AzureUSGovernmentCloud',
      place: { subscriptionId: '00000000-0000-0000-0000-000000000002', resourceGroup: 'others' },
    });
  });

  const other = '00000000-0000-0000-0000-000000000002';

  test.each<[string, GivenFlags, typeof place | undefined]>([
    ['its own group, among several', { 'azure-subscription-id': `${other},${subscriptionId}` }, place],
    ['another group', { 'azure-resource-group': 'others' }, { subscriptionId, resourceGroup: 'others' }],
    ['another subscription, whose groups nothing names', { 'azure-subscription-id': other }, undefined],
    [
      'groups that may be in any of several subscriptions',
      { 'azure-subscription-id': `${other},${subscriptionId}`, 'azure-resource-group': 'others' },
      undefined,
    ],
  ])('probes no group in a subscription that has it not, when told of %s', async (_, flags, expected) => {
    const { api, place: found } = await connect({ 'azure-metadata-endpoint': server.metadataUrl, ...flags });
    api.close();

    expect(found).toEqual(expected);
  });

  test('reads with a token of the authority that the environment names', async () => {
    const { api } = await connect({
      'azure-metadata-endpoint': server.metadataUrl,
      'azure-endpoint': server.url,
    });

    const { body } = await api.send(interfacesInGroup(place), { signal, onSend: () => undefined });

    expect(body).toMatchObject({ value: [{ name: 'one-nic0' }] });
    api.close();
  });

  test('proves itself by the federated token of a file, and reads a rotated file anew', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'headwater-federated-'));
    const file = join(directory, 'token');
    const authority = certificateAuthority('azure with federated tokens');
    setDefaultCACertificates([...trusted, authority.cert]);
    const proofs: string[] = [];
    const answer = (request: HttpRequest): Promise<HttpOutcome> => {
      const proof = new URLSearchParams(request.body).get('client_assertion');
      if (proof !== null) proofs.push(proof);
      return answerArm(request, gateway);
    };
    const front = await startHttpFront({ answer, port: 0, tls: authority.issue('127.0.0.1') });
    Reflect.deleteProperty(process.env, 'AZURE_CLIENT_SECRET');
    Object.assign(process.env, { AZURE_AUTHORITY_HOST: front.url, AZURE_FEDERATED_TOKEN_FILE: file });

    try {
      const { api } = await connect({ 'azure-cloud': 'AzureChinaCloud', 'azure-endpoint': front.url });
      const read = () => api.send(interfacesInGroup(place), { signal, onSend: () => undefined });
      await writeFile(file, 'first\n');
      await read();
      await writeFile(file, 'second\n');
      await read();
      jest.useFakeTimers({ now: Date.now() + 2 * 3_600_000, doNotFake: [...realTimers] });
      await read();
      api.close();
    } finally {
      jest.useRealTimers();
      await front.close();
      await rm(directory, { recursive: true });
      Reflect.deleteProperty(process.env, 'AZURE_FEDERATED_TOKEN_FILE');
      Object.assign(process.env, given, { AZURE_AUTHORITY_HOST: server.url });
      setDefaultCACertificates([...trusted, server.ca]);
    }

    // As long as a token of Azure is valid, none is asked for.
    expect(proofs).toEqual(['first', 'second']);
  });

  test('passes through the proxy for its target, whose certificate it checks', async () => {
    const authority = certificateAuthority('azure behind a proxy');
    setDefaultCACertificates([...trusted, server.ca, authority.cert]);
    const tls = authority.issue('arm.headwater.test');
    const front = await startHttpFront({ answer: (request) => answerArm(request, gateway), port: 0, tls });
    const proxy = await startProxy({ routes: { 'arm.headwater.test:443': front.url } });
    const url = new URL(proxy.url);
    const proxies = { http: url, https: url, exempt: readNoProxy('') };
    const { api } = await connect(
      { 'azure-metadata-endpoint': server.metadataUrl, 'azure-endpoint': 'https://arm.headwater.test' },
      proxies,
    );

    const { status } = await api.send(interfacesInGroup(place), { signal, onSend: () => undefined });

    expect(status).toBe(200);
    expect(proxy.asked).toEqual(['CONNECT arm.headwater.test:443']);
    api.close();
    await Promise.all([proxy.close(), front.close()]);
    setDefaultCACertificates([...trusted, server.ca]);
  });

  test('without any word about the cloud uses the public one', async () => {
    const page = createServer((_, answer) => answer.writeHead(503).end('<html>no metadata here</html>'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;

    const { api, ...found } = await connect({ 'azure-metadata-endpoint': endpoint });
    api.close();
    page.close();

    expect(found).toEqual({ cloud: 'AzurePublicCloud', place: undefined });
  });

  test('is refused over plain HTTP, over which no token may be sent', async () => {
    await expect(connect({ 'azure-endpoint': 'http://localhost:1' })).rejects.toThrow(
      'name an https endpoint by --azure-endpoint: tokens are sent only over TLS',
    );
  });

  test('is refused if the cloud is unknown', async () => {
    const document = { azEnvironment: 'AzureMoonCloud', subscriptionId, resourceGroupName: 'nodes' };
    const moon = createServer((_, answer) => answer.end(JSON.stringify(document)));
    await new Promise<void>((resolve) => moon.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(moon.address() as AddressInfo).port}`;

    await expect(connect({ 'azure-metadata-endpoint': endpoint })).rejects.toThrow(
      'names the cloud "AzureMoonCloud", which Headwater does not know: set --azure-cloud',
    );
    moon.close();
  });

  test('sends its token to no other host', async () => {
    const { api } = await connect({
      'azure-metadata-endpoint': server.metadataUrl,
      'azure-endpoint': server.url,
    });
    const elsewhere = { ...subscriptions(), url: 'https://elsewhere.example/page?2' };

    await expect(api.send(elsewhere, { signal, onSend: () => undefined })).rejects.toMatchObject({
      code: 'UnreadableAnswer',
      message: 'it leads to elsewhere.example',
    });
    api.close();
  });
});
