// headwater agent with single addresses that a CiliumNode offers, over HTTP.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, valueAt } from '../../../src/runtime/json.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { startKubernetesServer } from '../../../src/simulator/kubernetes/kubernetes-server.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { AgentProcess, cniCall } from './agent-process.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('agent-crd');
let api: EmbeddedApi;
let url: string;

beforeEach(async () => {
  api = new EmbeddedApi(systemClock);
  const server = await startKubernetesServer({ model: api.model, clock: systemClock, port: 0 });
  url = server.url;
  directory.closeLater(() => server.close());
});

function agentOf(...flags: readonly string[]): AgentProcess {
  const place = mkdtempSync(join(directory.path, 'one-'));
  const fixed = ['--node-name=one', `--k8s-api-server=${url}`, '--ipam-cilium-node-update-rate=1s'];
  return new AgentProcess(place, [...fixed, ...flags]);
}

const eni = {
  id: 'eni-1',
  mac: '02:00:00:00:00:01',
  number: 1,
  subnet: { id: 'subnet-1', cidr: '10.0.1.0/24' },
  vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/16', cidrs: ['10.1.0.0/16'] },
};

async function offer(...ips: readonly string[]): Promise<void> {
  const pool = Object.fromEntries(ips.map((ip) => [ip, { resource: 'eni-1' }]));
  await api.create('one', { 'instance-id': 'i-1', ipam: { pool } });
  await api.patch('one', { status: { eni: { enis: { 'eni-1': eni } } } }, '/status');
}

/** Waits until a part of the CiliumNode is as the test wants it. */
async function shows(
  isRight: (value: Json | undefined) => boolean,
  ...path: readonly string[]
): Promise<void> {
  for (;;) {
    const node = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
    if (isRight(valueAt(node, ...path))) return;
    await sleep(systemClock, 50, new AbortController().signal);
  }
}

async function isHealthy(agent: AgentProcess): Promise<void> {
  while ((await agent.ask('GET', '/v1/healthz')).status !== 200)
    await sleep(systemClock, 50, new AbortController().signal);
}

const isEmpty = (value: Json | undefined): boolean => Object.keys(value ?? {}).length === 0;

describe('agent --ipam=eni', () => {
  test('gives the address that is offered, reports it in use, and forgets it after a DEL', async () => {
    await offer('10.0.1.7');
    const agent = agentOf('--ipam=eni');
    await agent.start();

    const added = await agent.ask('POST', '/v1/cni', cniCall('ADD', 'c1', { wait: '60s' }));
    await shows((used) => !isEmpty(used), 'status', 'ipam', 'used');
    const node = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');

    expect(added.body).toMatchObject({ ips: [{ address: '10.0.1.7/24', gateway: '10.0.1.1' }] });
    expect(valueAt(node, 'status', 'ipam', 'used')).toEqual({
      '10.0.1.7': { owner: 'c1:eth0', resource: 'eni-1' },
    });

    await agent.ask('POST', '/v1/cni', cniCall('DEL'));
    await shows(isEmpty, 'status', 'ipam', 'used');
    const rest = await agent.ask('POST', '/v1/ipam?owner=a/b');
    expect(rest).toMatchObject({
      status: 201,
      body: {
        address: { ipv4: '10.0.1.7', 'ipv4-pool-name': 'default' },
        ipv4: {
          ip: '10.0.1.7',
          gateway: '10.0.1.1',
          cidrs: ['10.0.0.0/16', '10.1.0.0/16'],
          'master-mac': '02:00:00:00:00:01',
          'interface-number': '1',
        },
      },
    });
    expect(await agent.child.stop()).toMatchObject({ code: 0 });
  });

  test('leaves out entries of its pool that are no addresses', async () => {
    await offer('x', '10.0.1.300', 'fd00::7', '10.0.1.7/32', '10.0.1.7');
    const agent = agentOf('--ipam=eni');
    await agent.start();
    await agent.child.said(/an entry of the pool is no address/);
    await isHealthy(agent);

    expect((await agent.ask('POST', '/v1/ipam?owner=a/b')).body).toMatchObject({
      address: { ipv4: '10.0.1.7' },
    });
    expect((await agent.ask('POST', '/v1/ipam?owner=c/d')).status).toBe(502);
  });

  test('lets an address go that no pod has, and keeps one that a pod has', async () => {
    await offer('10.0.1.7', '10.0.1.8');
    const agent = agentOf('--ipam=eni');
    await agent.start();
    await isHealthy(agent);
    await agent.ask('POST', '/v1/ipam/10.0.1.7?owner=a/b');
    await shows((used) => !isEmpty(used), 'status', 'ipam', 'used');

    const marks = { '10.0.1.7': 'marked-for-release', '10.0.1.8': 'marked-for-release' };
    await api.patch('one', { status: { ipam: { 'release-ips': marks } } }, '/status');
    const path = ['status', 'ipam', 'release-ips'];
    await shows((states) => valueAt(states, '10.0.1.8') === 'ready-for-release', ...path);
    await shows((states) => valueAt(states, '10.0.1.7') === 'do-not-release', ...path);
    const refused = await agent.ask('POST', '/v1/ipam?owner=c/d');
    expect(refused).toMatchObject({
      status: 502,
      body: expect.stringMatching(
        /^no IPs currently available on the node, allocation will be retried once /,
      ),
    });

    await api.patch('one', { spec: { ipam: { pool: { '10.0.1.8': null } } } });
    await api.patch('one', { status: { ipam: { 'release-ips': { '10.0.1.8': 'released' } } } }, '/status');
    await shows((states) => valueAt(states, '10.0.1.8') === undefined, ...path);
  });

  test('creates its CiliumNode with what its Node says, and the rest from a file', async () => {
    const labels = {
      'node.kubernetes.io/instance-type': 'm5.large',
      'topology.kubernetes.io/zone': 'eu-west-1a',
    };
    const node = { metadata: { name: 'one', labels }, spec: { providerID: 'aws:///eu-west-1a/i-0abc' } };
    await api.kubectl('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...node });
    const file = join(directory.path, 'spec.json');
    writeFileSync(file, '{"eni":{"vpc-id":"vpc-1","instance-type":"x"},"ipam":{"min-allocate":3}}');
    const agent = agentOf('--ipam=eni', `--cilium-node-spec=${file}`);
    await agent.start();
    await agent.child.said(/created the CiliumNode/);

    const { spec } = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
    expect(spec).toEqual({
      'instance-id': 'i-0abc',
      eni: { 'vpc-id': 'vpc-1', 'instance-type': 'm5.large', 'availability-zone': 'eu-west-1a' },
      ipam: { 'min-allocate': 3 },
    });
    expect((await agent.ask('GET', '/v1/healthz')).body).toMatchObject({
      waitingFor: expect.stringContaining('spec.ipam.pool of the CiliumNode one'),
    });
  });
});
