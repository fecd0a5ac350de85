// headwater agent with the blocks that Kubernetes shows, over HTTP.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/runtime/json.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { startKubernetesServer } from '../../../src/simulator/kubernetes/kubernetes-server.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { AgentProcess, cniCall } from './agent-process.ts';
import { Child } from './child.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('agent-blocks');
let api: EmbeddedApi;
let url: string;
let stopApi: () => Promise<void>;

beforeEach(async () => {
  api = new EmbeddedApi(systemClock);
  const server = await startKubernetesServer({ model: api.model, clock: systemClock, port: 0 });
  url = server.url;
  let isOpen = true;
  stopApi = async () => {
    if (isOpen) await server.close();
    isOpen = false;
  };
  directory.closeLater(() => stopApi());
});

function agentOf(name: string, ...flags: readonly string[]): AgentProcess {
  const place = mkdtempSync(join(directory.path, `${name}-`));
  return new AgentProcess(place, [`--node-name=${name}`, `--k8s-api-server=${url}`, ...flags]);
}

function createNode(name: string, podCIDRs: readonly string[] = []): Promise<JsonObject> {
  const spec = podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0] ?? '', podCIDRs };
  return api.kubectl('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
}

const giveBlocks = (name: string, podCIDRs: readonly string[]): Promise<JsonObject> =>
  api.kubectl('PATCH', `/api/v1/nodes/${name}`, { spec: { podCIDR: podCIDRs[0] ?? '', podCIDRs } });

/** Asks until the answer has the status. */
async function health(agent: AgentProcess, status: number): Promise<unknown> {
  for (;;) {
    const answered = await agent.ask('GET', '/v1/healthz');
    if (answered.status === status) return answered.body;
    await sleep(systemClock, 50, new AbortController().signal);
  }
}

describe('agent --ipam=kubernetes', () => {
  test('says for what it waits, and serves an ADD that waited once the Node has its blocks', async () => {
    await createNode('one');
    const agent = agentOf('one', '--ipam=kubernetes');
    await agent.start();

    expect(await agent.ask('GET', '/v1/healthz')).toMatchObject({
      status: 503,
      body: { waitingFor: expect.stringContaining('spec.podCIDRs of the Node one') },
    });
    const status = await agent.ask('POST', '/v1/cni', cniCall('STATUS'));
    expect(status.body).toMatchObject({
      code: 50,
      msg: expect.stringContaining('spec.podCIDRs of the Node one'),
    });
    const added = agent.ask('POST', '/v1/cni', cniCall('ADD', 'c1', { wait: '60s' }));
    await giveBlocks('one', ['10.4.0.0/24', 'fd04::/64']);

    expect((await added).body).toMatchObject({
      ips: [
        { address: expect.stringMatching(/^10\.4\.0\.\d+\/24$/), gateway: '10.4.0.1' },
        { address: expect.stringMatching(/^fd04::.*\/64$/), gateway: 'fd04::1' },
      ],
    });
    expect(await health(agent, 200)).not.toHaveProperty('waitingFor');
  });

  test('serves after a restart without an API server, from its record', async () => {
    await createNode('one', ['10.4.0.0/24']);
    const agent = agentOf('one', '--ipam=kubernetes');
    await agent.start();
    await health(agent, 200);
    const before = (await agent.ask('POST', '/v1/cni', cniCall('ADD'))).body;
    await agent.child.stop('SIGKILL');
    await stopApi();

    await agent.start();

    expect((await agent.ask('POST', '/v1/cni', cniCall('ADD'))).body).toEqual(before);
    expect((await agent.ask('POST', '/v1/cni', cniCall('ADD', 'c2'))).headers['x-cni-exit']).toBe('0');
    expect((await agent.ask('POST', '/v1/cni', cniCall('DEL'))).headers['x-cni-exit']).toBe('0');
    expect(await agent.child.stop()).toMatchObject({ code: 0 });
  });

  test('waits for a family that is asked for, and takes no block that is the whole network', async () => {
    await createNode('one', ['0.0.0.0/0']);
    const agent = agentOf('one', '--ipam=kubernetes');
    await agent.start();
    await agent.child.said(/0\.0\.0\.0\/0 is no block of a node/);
    expect((await agent.ask('GET', '/v1/healthz')).status).toBe(503);

    await createNode('two', ['10.4.0.0/24']);
    const other = agentOf('two', '--ipam=kubernetes', '--enable-ipv6=true');
    await other.start();
    await other.child.said(/"block":"10\.4\.0\.0\/24"/);
    const added = await other.ask('POST', '/v1/cni', cniCall('ADD', 'c1', { wait: '0s' }));

    expect(added.body).toMatchObject({
      code: 11,
      msg: expect.stringContaining('required IPv6 PodCIDR not available'),
    });
    expect((await other.ask('GET', '/v1/ipam')).body).toMatchObject({ addresses: {} });
  });
});

describe('agent --ipam=cluster-pool', () => {
  test('creates its CiliumNode, and gives out the block that the controller gives it', async () => {
    await createNode('one');
    await createNode('two');
    const agents = [agentOf('one', '--ipam=cluster-pool'), agentOf('two', '--ipam=cluster-pool')];
    for (const agent of agents) await agent.start();
    const controller = new Child([
      'run',
      '--ipam=cluster-pool',
      '--cluster-pool-ipv4-cidr=10.0.0.0/16',
      '--serve-addr=127.0.0.1:0',
      `--k8s-api-server=${url}`,
    ]);
    await controller.said(/serving health/);

    const blocks = [];
    for (const agent of agents) {
      await health(agent, 200);
      const { body } = await agent.ask('GET', '/v1/ipam');
      blocks.push(...(body as { pools: { cidrs: string[] }[] }).pools.flatMap(({ cidrs }) => cidrs));
    }

    expect(blocks.toSorted()).toEqual(['10.0.0.0/24', '10.0.1.0/24']);
    const created = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
    expect(created['metadata']).toMatchObject({ ownerReferences: [{ kind: 'Node', name: 'one' }] });
  });

  test('leaves a CiliumNode that is there, and keeps what pods hold when its block changes', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.4.0.0/24'] } });
    const agent = agentOf('one', '--ipam=cluster-pool');
    await agent.start();
    await health(agent, 200);
    const first = await agent.ask('POST', '/v1/cni', cniCall('ADD'));

    await api.patch('one', { spec: { ipam: { podCIDRs: ['10.5.0.0/24'] } } });
    await agent.child.said(/nothing new comes from the earlier one/);
    const second = await agent.ask('POST', '/v1/cni', cniCall('ADD', 'c2'));
    await api.delete('one');

    expect(first.body).toMatchObject({ ips: [{ address: expect.stringMatching(/^10\.4\.0\./) }] });
    expect(second.body).toMatchObject({ ips: [{ address: expect.stringMatching(/^10\.5\.0\.\d+\/24$/) }] });
    const { body } = await agent.ask('GET', '/v1/ipam');
    expect(Object.keys((body as { addresses: object }).addresses)).toHaveLength(2);
    expect((await agent.ask('POST', '/v1/cni', cniCall('DEL'))).headers['x-cni-exit']).toBe('0');
  });

  test('gives out the range that is set in place of the block that is shown', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.4.0.0/24'] } });
    const agent = agentOf('one', '--ipam=cluster-pool', '--ipv4-range=10.9.0.0/24');
    await agent.start();

    expect((await agent.ask('POST', '/v1/cni', cniCall('ADD'))).body).toMatchObject({
      ips: [{ address: expect.stringMatching(/^10\.9\.0\./) }],
    });
  });
});
