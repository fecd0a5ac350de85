// headwater agent with blocks of pools, and with the addresses of a cloud by the protocol of pools, over HTTP.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { isList, type Json, type JsonObject, textAt, valueAt } from '../../../src/runtime/json.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import { startKubernetesServer } from '../../../src/simulator/kubernetes/kubernetes-server.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { AgentProcess, cniCall, freePort } from './agent-process.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('agent-pools');
let api: EmbeddedApi;
let url: string;

beforeEach(async () => {
  api = new EmbeddedApi(systemClock, 'api', { crds: [ciliumNodeCrd, ciliumPodIpPoolCrd] });
  const server = await startKubernetesServer({ model: api.model, clock: systemClock, port: 0 });
  url = server.url;
  directory.closeLater(() => server.close());
});

function agentOf(...flags: readonly string[]): AgentProcess {
  const place = mkdtempSync(join(directory.path, 'one-'));
  const fixed = ['--node-name=one', `--k8s-api-server=${url}`, '--ipam-cilium-node-update-rate=1s'];
  return new AgentProcess(place, [...fixed, ...flags]);
}

const ciliumNode = (): Promise<JsonObject> => api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');

/** Waits until a part of spec.ipam.pools is as the test wants it, and returns it. */
async function shows(name: string, isRight: (list: readonly Json[]) => boolean): Promise<readonly Json[]> {
  for (;;) {
    const list = valueAt(await ciliumNode(), 'spec', 'ipam', 'pools', name);
    if (isList(list) && isRight(list)) return list;
    await sleep(systemClock, 50, new AbortController().signal);
  }
}

async function isHealthy(agent: AgentProcess): Promise<void> {
  while ((await agent.ask('GET', '/v1/healthz')).status !== 200)
    await sleep(systemClock, 50, new AbortController().signal);
}

const createPool = (name: string, spec: JsonObject, annotations: JsonObject = {}): Promise<JsonObject> =>
  api.kubectl('POST', '/apis/cilium.io/v2alpha1/ciliumpodippools', {
    apiVersion: 'cilium.io/v2alpha1',
    kind: 'CiliumPodIPPool',
    metadata: { name, annotations },
    spec,
  });

const createPod = (name: string, annotations: JsonObject = {}): Promise<JsonObject> =>
  api.kubectl('POST', '/api/v1/namespaces/ns/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns', annotations },
    spec: { nodeName: 'one', containers: [{ name: 'c', image: 'i' }] },
  });

const allocate = (pools: Readonly<Record<string, readonly string[]>>): Promise<JsonObject> => {
  const allocated = Object.entries(pools).map(([pool, cidrs]) => ({ pool, cidrs }));
  return api.patch('one', { spec: { ipam: { pools: { allocated } } } });
};

describe('agent --ipam=multi-pool', () => {
  test('stays alive and is not ready while it waits for a block, and says for what', async () => {
    await createPool('default', { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 28 } });
    await api.create('one', {});
    const port = await freePort();
    const agent = agentOf('--ipam=multi-pool', `--agent-health-port=${port}`);
    const child = await agent.start();
    await child.said(/"msg":"serving health"/);
    const probe = async (path: string): Promise<readonly [number, string]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return [answer.status, await answer.text()];
    };

    expect(await probe('/healthz')).toEqual([200, 'ok']);
    expect(await probe('/readyz')).toEqual([500, expect.stringContaining('waiting for')]);
    await shows('requested', (list) => list.length === 1);
    await allocate({ default: ['10.0.0.0/28'] });
    await isHealthy(agent);

    expect((await probe('/readyz'))[0]).toBe(200);
    expect(await child.stop()).toMatchObject({ code: 0 });
  });

  test('asks for blocks of the pools that pods name, gives addresses of them, and lets blocks go', async () => {
    await api.kubectl('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'ns' },
    });
    await createPool('default', { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 28 } });
    await createPool(
      'red',
      { ipv4: { cidrs: ['10.9.0.0/16'], maskSize: 30, allowFirstIP: true } },
      { 'ipam.cilium.io/skip-masquerade': 'true' },
    );
    await api.create('one', {});
    await createPod('plain');
    await createPod('picky', { 'ipam.cilium.io/ip-pool': 'red' });
    await createPod('lost', { 'ipam.cilium.io/ip-pool': 'blue' });
    const agent = agentOf('--ipam=multi-pool');
    await agent.start();

    expect(await shows('requested', (list) => list.length === 1)).toEqual([
      { pool: 'default', needed: { 'ipv4-addrs': 8 } },
    ]);
    await allocate({ default: ['10.0.0.0/28'] });
    await isHealthy(agent);
    const ofPod = (verb: string, pod: string, wait = '60s'): ReturnType<typeof cniCall> =>
      cniCall(
        verb,
        pod,
        { wait, ...(pod === 'picky' && { prefixLength: 'host' }) },
        `K8S_POD_NAMESPACE=ns;K8S_POD_NAME=${pod}`,
      );
    expect((await agent.ask('POST', '/v1/cni', ofPod('ADD', 'plain'))).body).toMatchObject({
      ips: [{ address: expect.stringMatching(/^10\.0\.0\.\d+\/28$/), gateway: '10.0.0.0' }],
    });
    expect((await agent.ask('POST', '/v1/cni', ofPod('ADD', 'lost', '0s'))).body).toMatchObject({
      code: 11,
      msg: 'there is no CiliumPodIPPool "blue"',
    });
    expect((await agent.ask('POST', '/v1/cni', ofPod('ADD', 'ghost', '0s'))).body).toMatchObject({
      code: 11,
      msg: 'resource Pod "ns/ghost" not found',
    });

    const added = agent.ask('POST', '/v1/cni', ofPod('ADD', 'picky'));
    expect(await shows('requested', (list) => list.length === 2)).toEqual([
      { pool: 'default', needed: { 'ipv4-addrs': 16 } },
      { pool: 'red', needed: { 'ipv4-addrs': 1 } },
    ]);
    await allocate({ default: ['10.0.0.0/28'], red: ['10.9.0.0/30'] });
    expect((await added).body).toMatchObject({
      ips: [{ address: expect.stringMatching(/^10\.9\.0\.[0-2]\/32$/) }],
    });
    const rest = await agent.ask('POST', '/v1/ipam?owner=x&pool=red');
    expect(rest.body).toMatchObject({
      address: { 'ipv4-pool-name': 'red' },
      ipv4: { 'skip-masquerade': true },
    });
    const { body: metrics } = await agent.ask('GET', '/metrics');
    expect(metrics).toContain('cilium_ipam_multipool_used_ips{pool="red",family="ipv4"} 2');
    expect(metrics).toContain('cilium_ipam_multipool_allocated_blocks{pool="default",family="ipv4"} 1');
    expect(metrics).toContain('cilium_ipam_multipool_needed_ips{pool="default",family="ipv4"} 16');
    expect(metrics).toContain('cilium_ipam_multipool_available_ips{pool="default",family="ipv4"} 14');
    expect(metrics).toMatch(/cilium_kubernetes_events_total\{scope="Pod",action="create",.*\} 3/);
    const ip = textAt(rest.body, 'address', 'ipv4') ?? '';
    await agent.ask('DELETE', `/v1/ipam/${ip}?pool=red`);
    await agent.ask('POST', '/v1/cni', ofPod('DEL', 'picky'));

    expect(await shows('allocated', (list) => list.length === 1)).toEqual([
      { pool: 'default', cidrs: ['10.0.0.0/28'] },
    ]);
    expect(await shows('requested', (list) => list.length === 1)).toEqual([
      { pool: 'default', needed: { 'ipv4-addrs': 16 } },
    ]);
  });
});

describe('agent --ipam=eni --cilium-node-protocol=pools', () => {
  test('asks for a count, lists what it holds, and stops listing what it needs no longer', async () => {
    const eni = (addresses: readonly string[]): JsonObject => ({
      id: 'eni-1',
      mac: 'm1',
      subnet: { id: 's', cidr: '10.0.1.0/24' },
      vpc: { id: 'v', 'primary-cidr': '10.0.0.0/16' },
      addresses,
    });
    await api.create('one', { 'instance-id': 'i-1', ipam: { 'pre-allocate': 1 } });
    await api.patch(
      'one',
      {
        status: {
          ipam: { used: { '10.0.1.9': {} } },
          eni: { enis: { 'eni-1': eni(['10.0.1.7', '10.0.1.8', '10.0.1.9']) } },
        },
      },
      '/status',
    );
    const agent = agentOf('--ipam=eni', '--cilium-node-protocol=pools');
    await agent.start();
    await isHealthy(agent);

    const added = await agent.ask('POST', '/v1/cni', cniCall('ADD', 'c1', { wait: '60s' }));
    expect(added.body).toMatchObject({ ips: [{ address: '10.0.1.7/24' }] });
    await shows('requested', (list) => valueAt(list[0], 'needed', 'ipv4-addrs') === 2);
    expect(await shows('allocated', (list) => valueAt(list[0], 'cidrs') !== undefined)).toEqual([
      { pool: 'default', cidrs: ['10.0.1.7/32', '10.0.1.8/32'] },
    ]);
    expect(valueAt(await ciliumNode(), 'status', 'ipam', 'used')).toBeUndefined();

    await agent.ask('POST', '/v1/cni', cniCall('DEL'));
    expect(
      await shows('allocated', (list) => JSON.stringify(valueAt(list[0], 'cidrs')) === '["10.0.1.7/32"]'),
    ).toHaveLength(1);
  });
});

describe('agent --ipam=delegated-plugin', () => {
  test('answers requests for addresses with 501', async () => {
    const agent = agentOf('--ipam=delegated-plugin');
    await agent.start();

    expect((await agent.ask('POST', '/v1/ipam')).status).toBe(501);
    expect((await agent.ask('DELETE', '/v1/ipam/10.0.0.1')).status).toBe(501);
    expect((await agent.ask('POST', '/v1/cni', cniCall('ADD'))).status).toBe(501);
    expect((await agent.ask('GET', '/v1/healthz')).status).toBe(200);
  });
});
