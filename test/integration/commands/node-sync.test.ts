// The whole way of nodeipam with IPAMFromCluster and IPAMFromCloud: command line, REST over HTTP to a model of Compute Engine, Nodes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { GceModel } from '../../../src/simulator/gce/gce-model.ts';
import { startGceServer } from '../../../src/simulator/gce/gce-server.ts';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { simulate } from './simulated.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-node-sync-'));
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

async function register(api: string, name: string): Promise<void> {
  const spec = { providerID: `gce://my-project/us-central1-a/${name}` };
  const answer = await fetch(`${api}/api/v1/nodes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec }),
  });
  expect(answer.status).toBe(201);
}

describe('nodeipam', () => {
  test.each([
    ['IPAMFromCluster', [], '10.4.0.0/24'],
    ['IPAMFromCloud', [{ ipCidrRange: '10.4.7.0/24', subnetworkRangeName: 'pods' }], '10.4.7.0/24'],
  ])('with %s and the ranges %j gives a Node and its instance %s', async (type, ranges, block) => {
    const place = { project: 'my-project', zone: 'us-central1-a' };
    const random = new Random('gce');
    const model = new GceModel({ clock: systemClock, random, ...place, operationTime: 10 });
    model.add('one', ranges, 'fd20:1:2:3::');
    const server = await startGceServer(model);
    const { api, kubeconfig } = await simulate(join(directory, type));
    await register(api, 'one');
    const child = new Child([
      'nodeipam',
      `--cidr-allocator-type=${type}`,
      '--cloud-provider=gce',
      '--cluster-cidr=10.4.0.0/16',
      `--gce-api-endpoint=${server.endpoint}`,
      `--gce-metadata-endpoint=${server.metadataEndpoint}`,
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--serve-addr=127.0.0.1:0',
      '--log-level=debug',
    ]);
    // The pod CIDR, then the condition.
    const line = '"node":"one".*"msg":"gave blocks"';
    await child.said(new RegExp(`${line}(?:.|\\n)*${line}`));

    const node = (await (await fetch(`${api}/api/v1/nodes/one`)).json()) as {
      spec: object;
      status: object;
    };
    const ended = await child.stop();
    await server.close();

    expect(node.spec).toMatchObject({ podCIDR: block, podCIDRs: [block] });
    expect(node.status).toMatchObject({
      conditions: [{ type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' }],
    });
    expect(model.calls.some((call) => /updateNetworkInterface/.test(call))).toBe(type === 'IPAMFromCluster');
    expect(ended).toMatchObject({ code: 0, err: '' });
  });

  test.each([
    [['IPAMFromCluster', 'gce'], /cluster-cidr: .* blocks come from nowhere/],
    [['IPAMFromCloud', 'alibabacloud', '--cluster-cidr=10.0.0.0/8'], /Alibaba Cloud routes no blocks/],
  ])('ends with exit code 2 for %j', async ([type, provider, ...more], problem) => {
    const flags = [`--cidr-allocator-type=${type}`, `--cloud-provider=${provider}`, ...more];
    const { code, out, err } = await headwater(['nodeipam', ...flags]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(problem)]);
  });
});
