// The whole way of nodeipam with CloudAllocator: command line, the SDK of AWS, the model of EC2 over HTTP, Nodes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { GceModel } from '../../../src/simulator/gce/gce-model.ts';
import { startGceServer } from '../../../src/simulator/gce/gce-server.ts';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { simulate, type Simulated, supplyKeys } from './simulated.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-cloud-allocator-'));
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

/** One instance for each way in which a Node may be served. */
const cloud = `
region: us-east-1
credentials: [{ accessKeyId: AKIASUPPLY0000000001, secretAccessKey: supply-secret, user: tester }]
vpcs: [{ name: main, blocks: [10.0.0.0/16], ipv6Block: 'fd00:ec2::/56' }]
subnets: [{ name: a, zone: us-east-1a, block: 10.0.0.0/24, ipv6Block: 'fd00:ec2::/64' }]
securityGroups: [{ name: nodes }]
instances:
  - { name: both, id: i-00000000000000001, type: m5.large, subnet: a, prefixes: 1, ipv6Prefixes: 1, securityGroups: [nodes] }
  - { name: six, id: i-00000000000000002, type: m5.large, subnet: a, ipv6Prefixes: 1, securityGroups: [nodes] }
  - { name: bare, id: i-00000000000000003, type: m5.large, subnet: a, securityGroups: [nodes] }
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 0 }
`;

const options = ['--cidr-allocator-type=CloudAllocator', '--cloud-provider=aws'];

function start({ ec2, kubeconfig }: Simulated, ...more: readonly string[]): Child {
  const flags = [
    ...options,
    `--k8s-kubeconfig-path=${kubeconfig}`,
    `--ec2-api-endpoint=${ec2}`,
    '--aws-region=us-east-1',
    '--serve-addr=127.0.0.1:0',
    '--log-level=debug',
    ...more,
  ];
  return new Child(['nodeipam', ...flags], { environment: supplyKeys });
}

async function register(api: string, name: string, providerID: string): Promise<void> {
  const answer = await fetch(`${api}/api/v1/nodes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { providerID } }),
  });
  expect(answer.status).toBe(201);
}

async function answerAt(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}

describe('nodeipam with CloudAllocator', () => {
  test('gives Nodes the prefixes of their primary interfaces, and says that their network is available', async () => {
    const simulated = await simulate(join(directory, 'served'), cloud);
    const { api } = simulated;
    await register(api, 'both', 'aws:///us-east-1a/i-00000000000000001');
    await register(api, 'six', 'aws:///us-east-1a/i-00000000000000002');
    await register(api, 'bare', 'aws:///us-east-1a/i-00000000000000003');
    await register(api, 'gone', 'aws:///us-east-1a/i-00000000000000009');
    await register(api, 'fargate', 'aws:///us-east-1a/fargate-ip-10-0-0-1');
    const child = start(simulated);
    const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
    await Promise.all([
      ...['both', 'six'].map((name) => child.said(gaveTwice(name))),
      ...['bare', 'gone', 'fargate'].map((name) => child.said(new RegExp(`"node":"${name}","reason"`))),
    ]);

    const nodes = await nodesAt(api);
    const status = await answerAt(`${address}/status`);
    const readiness = await fetch(`${address}/readyz`);
    const ended = await child.stop();

    expect(nodes).toEqual({
      both: [
        [expect.stringMatching(/^10\.0\.0\.\d+\/28$/), expect.stringMatching(/^fd00:.*\/80$/)],
        available,
      ],
      six: [[expect.stringMatching(/^fd00:.*\/80$/)], available],
      bare: [[], undefined],
      gone: [[], undefined],
      fargate: [[], undefined],
    });
    expect(status).toMatchObject({
      nodes: { total: 5, served: 2, waiting: 3 },
      waiting: [
        { name: 'bare', reason: 'AliasMissing', why: expect.stringMatching(/no prefix: have the launch/) },
        {
          name: 'fargate',
          reason: 'ProviderIDUnreadable',
          why: expect.stringMatching(/fargate-ip.*aws:\/\//),
        },
        { name: 'gone', reason: 'InstanceNotFound', why: expect.stringMatching(/i-0+9 in us-east-1: check/) },
      ],
    });
    expect(readiness.status).toBe(200);
    expect(ended).toMatchObject({ code: 0, err: '' });
  });

  test('does so on Google Cloud, with a token of the metadata service', async () => {
    const random = new Random('gce');
    const place = { project: 'my-project', zone: 'us-central1-a' };
    const model = new GceModel({ clock: systemClock, random, ...place, operationTime: 10 });
    model.add('one', [{ ipCidrRange: '10.4.1.0/24', subnetworkRangeName: 'pods' }], 'fd20:1:2:3::');
    const server = await startGceServer(model);
    const { api, kubeconfig } = await simulate(join(directory, 'gce'));
    await register(api, 'one', 'gce://my-project/us-central1-a/one');
    const flags = [
      '--cidr-allocator-type=CloudAllocator',
      '--cloud-provider=gce',
      `--gce-api-endpoint=${server.endpoint}`,
      `--gce-metadata-endpoint=${server.metadataEndpoint}`,
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--serve-addr=127.0.0.1:0',
    ];
    const child = new Child(['nodeipam', ...flags, '--log-level=debug']);
    const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
    await child.said(gaveTwice('one'));

    const nodes = await nodesAt(api);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const ended = await child.stop();
    await server.close();

    expect(nodes).toEqual({ one: [['10.4.1.0/24', 'fd20:1:2:3::/112'], available] });
    expect(model.calls).toEqual(['GET instances/one 200']);
    expect(metrics).toMatch(/^headwater_cloud_calls_total\{action="instances.get",outcome="ok"\} 1$/m);
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out).not.toMatch(/ya29/);
  });

  test('ends with exit code 2 if a cloud is to be followed that routes no blocks to instances', async () => {
    const flags = ['--cidr-allocator-type=CloudAllocator', '--cloud-provider=azure'];
    const { code, out, err } = await headwater(['nodeipam', ...flags]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(/Azure routes no blocks to an instance/)]);
  });
});

/** Pod CIDRs, then the condition. */
function gaveTwice(node: string): RegExp {
  const line = `"node":"${node}".*"msg":"gave blocks"`;
  return new RegExp(`${line}(?:.|\\n)*${line}`);
}

const available = {
  type: 'NetworkUnavailable',
  status: 'False',
  reason: 'RouteCreated',
  message: expect.any(String),
  lastHeartbeatTime: expect.any(String),
  lastTransitionTime: expect.any(String),
};

async function nodesAt(api: string): Promise<Record<string, unknown>> {
  const { items } = (await answerAt(`${api}/api/v1/nodes`)) as { items: NodeShown[] };
  return Object.fromEntries(
    items.map(({ metadata, spec, status }) => [
      metadata.name,
      [spec.podCIDRs ?? [], status.conditions?.find(({ type }) => type === 'NetworkUnavailable')],
    ]),
  );
}

interface NodeShown {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly podCIDRs?: readonly string[] };
  readonly status: { readonly conditions?: readonly { readonly type: string }[] };
}
