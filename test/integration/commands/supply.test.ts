import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { EC2Client, DescribeInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { announce, simulate, supplyKeys } from './simulated.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-supply-'));
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

async function objectAt(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}

/** Flags of a controller on a simulation that `simulate` started. */
function flagsFor({ ec2, kubeconfig }: { readonly ec2: string; readonly kubeconfig: string }): string[] {
  return [
    `--k8s-kubeconfig-path=${kubeconfig}`,
    `--ec2-api-endpoint=${ec2}`,
    '--aws-region=us-east-1',
    '--serve-addr=127.0.0.1:0',
  ];
}

function clientOf(endpoint: string): EC2Client {
  const credentials = { accessKeyId: 'AKIASUPPLY0000000001', secretAccessKey: 'supply-secret' };
  return new EC2Client({ endpoint, region: 'us-east-1', credentials });
}

describe('the command simulate', () => {
  test('serves EC2 and the Kubernetes API to any client until it is interrupted', async () => {
    const { child, ec2, api, kubeconfig } = await simulate(join(directory, 'served'));
    const client = clientOf(ec2);

    const { Reservations: found = [] } = await client.send(new DescribeInstancesCommand({}));
    const { kind } = await objectAt(`${api}/apis/cilium.io/v2/ciliumnodes`);

    client.destroy();
    const ids = found.flatMap(({ Instances = [] }) => Instances.map(({ InstanceId }) => InstanceId));
    expect(new Set(ids)).toEqual(new Set(['i-00000000000000001', 'i-00000000000000002']));
    expect(kind).toBe('CiliumNodeList');
    expect(await readFile(kubeconfig, 'utf8')).toContain(`server: ${api}`);
    expect(await child.stop('SIGINT')).toMatchObject({ code: 0, err: '' });
  });

  test('exits on SIGTERM although a terminated instance would stay visible for an hour', async () => {
    const { child, ec2 } = await simulate(join(directory, 'terminated'));
    const client = clientOf(ec2);

    await client.send(new TerminateInstancesCommand({ InstanceIds: ['i-00000000000000001'] }));

    client.destroy();
    expect(await child.stop('SIGTERM')).toMatchObject({ code: 0, err: '' });
  });

  test.each<[string, string, RegExp[]]>([
    [
      'several errors',
      `
region: 7
vpcs: [{ name: main, blocks: [10.0.0.0/33] }]
subnets: [{ name: a, zone: us-east-1a, block: 10.0.0.0/24, colour: red }]
instances: [{ name: one, type: m5.hugest, subnet: a }]`,
      [
        /region: expected a region such as us-east-1, found 7$/,
        /vpcs\[0\]\.blocks\[0\]: expected an IPv4 block .*, found "10\.0\.0\.0\/33"$/,
        /subnets\[0\]: unknown key "colour": accepted are /,
        /instances\[0\]\.type: expected one of the instance types .*, found "m5\.hugest"$/,
      ],
    ],
    ['no YAML', 'vpcs: [\n}\n', [/not readable as YAML or JSON: .*at line 2/]],
    [
      'more than fits',
      `
vpcs: [{ name: main, blocks: [10.0.0.0/16] }]
subnets: [{ name: a, zone: us-east-1a, block: 10.0.0.0/28 }]
securityGroups: [{ name: nodes }]
instances: [{ name: many, type: m5.large, subnet: a, count: 12, securityGroups: [nodes] }]`,
      [/EC2 would refuse to build this: InsufficientFreeAddressesInSubnet: .*enough free addresses/],
    ],
  ])('ends with exit code 2 and a line for each error of a topology with %s', async (name, text, lines) => {
    const topology = join(directory, `${name}.yaml`);
    await writeFile(topology, text);

    const { code, out, err } = await headwater(['simulate', '--topology', topology, '--ec2-port=0']);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual(lines.map((line) => expect.stringMatching(line)));
    for (const line of linesOf(err)) expect(line).toContain(`headwater simulate: ${topology}: `);
  });

  test('serves Azure to who trusts its authority, if the topology names it', async () => {
    const ca = join(directory, 'azure.pem');
    const child = new Child([
      'simulate',
      '--topology=src/simulator/arm/examples/small.yaml',
      '--azure-port=0',
      '--azure-metadata-port=0',
      '--azure-ca-file',
      ca,
    ]);
    const url = await child.word(/^export AZURE_AUTHORITY_HOST=(\S+)$/m);
    const metadata = await child.word(/--azure-metadata-endpoint=(\S+)$/m);
    expect(await child.word(/^export NODE_EXTRA_CA_CERTS=(\S+)$/m)).toBe(ca);
    expect(await readFile(ca, 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/);
    expect(url).toMatch(/^https:/);
    const asked = `${metadata}/metadata/instance/compute/resourceGroupName?api-version=2021-02-01&format=text`;
    const answer = await fetch(asked, { headers: { metadata: 'true' } });
    expect(await answer.text()).toBe('mc_demo');
    expect(await child.stop('SIGTERM')).toMatchObject({ code: 0, err: '' });
  });

  test('serves Alibaba Cloud and its metadata, if the topology names it', async () => {
    const child = new Child([
      'simulate',
      '--topology=src/simulator/alibaba/examples/small.yaml',
      '--alibaba-cloud-port=0',
      '--alibaba-cloud-metadata-port=0',
    ]);
    const url = await child.word(/--alibaba-cloud-endpoint=(\S+) /m);
    const metadata = await child.word(/--alibaba-cloud-metadata-endpoint=(\S+)$/m);
    const answer = await fetch(`${url}/_headwater/state`);
    expect(await answer.json()).toMatchObject({ region: 'cn-hangzhou' });
    const vpc = await fetch(`${metadata}/latest/meta-data/vpc-id`);
    expect(await child.word(/--alibaba-cloud-vpc-id=(\S+)$/m)).toBe(await vpc.text());
    expect(await child.stop('SIGTERM')).toMatchObject({ code: 0, err: '' });
  });

  test('exits when it cannot write the kubeconfig, although it serves already', async () => {
    const path = join(directory, 'nowhere', 'kubeconfig');

    const ran = await headwater(['simulate', '--kubernetes', '--kubernetes-port=0', '--kubeconfig', path]);

    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(linesOf(ran.err)).toEqual([
      expect.stringMatching(/^headwater simulate: --kubeconfig is ".*ENOENT/),
    ]);
  });
});

describe('the command run', () => {
  test('supplies nodes, reports its state over HTTP, and exits on a signal', async () => {
    const simulated = await simulate(join(directory, 'supplied'));
    const { api } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    const folder = await mkdtemp(join(directory, 'config-'));
    await Promise.all([
      writeFile(join(folder, 'k8s-namespace'), 'elsewhere'),
      writeFile(join(folder, 'leader-election-lease-name'), 'other'),
      writeFile(join(folder, 'cluster-name'), 'from-the-directory'),
    ]);

    const child = new Child(['run', ...flagsFor(simulated), '--config-dir', folder], {
      environment: supplyKeys,
    });
    const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
    await Promise.all([
      child.said(/"msg":"read the cloud"/),
      child.said(/"node":"one".*"msg":"(?:assigned|attached) /),
    ]);
    await announce(api, 'two', 'i-00000000000000002');
    await child.said(/"node":"two".*"msg":"(?:assigned|attached) /);

    const answers = await Promise.all(
      ['healthz', 'v1/healthz', 'readyz'].map(async (path) => {
        const answer = await fetch(`${address}/${path}`);
        return [answer.status, await answer.text()];
      }),
    );
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const status = await objectAt(`${address}/status`);
    const lease = await objectAt(
      `${api}/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/headwater`,
    );
    const ended = await child.stop();

    expect(answers).toEqual([
      [200, 'ok'],
      [200, 'ok'],
      [200, 'ok'],
    ]);
    expect(metrics).toMatch(/^headwater_leader 1$/m);
    expect(status).toMatchObject({ state: 'leading' });
    expect(lease['spec']).toMatchObject({ holderIdentity: status['identity'] });
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(linesOf(ended.out).at(-1) ?? '')).toMatchObject({ msg: 'ended', outcome: 'stopped' });
    const leases = await objectAt(`${api}/apis/coordination.k8s.io/v1/leases`);
    expect(leases['items']).toEqual([
      expect.objectContaining({
        spec: expect.not.objectContaining({ holderIdentity: status['identity'] }),
      }),
    ]);
  });

  test('writes a line for each change to a file that is moved away and lost meanwhile, and serves on', async () => {
    const simulated = await simulate(join(directory, 'audited'));
    const { api } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    const folder = await mkdtemp(join(directory, 'audit-'));
    const file = join(folder, 'audit.jsonl');

    const child = new Child(['run', ...flagsFor(simulated), `--audit=${file}`], { environment: supplyKeys });
    const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
    await child.said(/"node":"one".*"msg":"(?:assigned|attached) /);
    await rename(folder, `${folder}-away`);
    await announce(api, 'two', 'i-00000000000000002');
    await child.said(/"msg":"cannot write to the audit/);
    await child.said(/"node":"two".*"msg":"(?:assigned|attached) /);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const ended = await child.stop();

    const lines = linesOf(await readFile(join(`${folder}-away`, 'audit.jsonl'), 'utf8'));
    const ofOne = lines.map((line) => JSON.parse(line) as object);
    expect(ofOne).toEqual(expect.arrayContaining([expect.objectContaining({ node: 'one', result: 'ok' })]));
    expect(ofOne).not.toEqual(expect.arrayContaining([expect.objectContaining({ node: 'two' })]));
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out.match(/cannot write to the audit/g)).toHaveLength(1);
    const count = (pattern: RegExp): number =>
      [...metrics.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
    const changes = /^headwater_cloud_calls_total\{action="(?!Describe)\w+",outcome="ok"\} (\d+)$/gm;
    expect(count(changes)).toBe(count(/^headwater_audit_lines_total\{outcome="\w+"\} (\d+)$/gm));
  });

  test('writes its changes to standard output between the lines of its log', async () => {
    const simulated = await simulate(join(directory, 'audit-shown'));
    await announce(simulated.api, 'one', 'i-00000000000000001');
    const child = new Child(['run', ...flagsFor(simulated), '--audit=-', '--log-level=error'], {
      environment: supplyKeys,
    });

    await child.said(/"audit":"change".*"node":"one".*"result":"ok"/);
    const { code, out } = await child.stop();

    expect(code).toBe(0);
    const lines = linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(new Set(lines.map(({ audit }) => audit))).toEqual(new Set(['change']));
  });

  test('does not start if the file of its audit cannot be opened', async () => {
    const { code, err } = await headwater(['run', '--audit=/proc/no/such/file']);

    expect(code).toBe(2);
    expect(linesOf(err)).toEqual([
      expect.stringContaining(
        '--audit=/proc/no/such/file cannot be written, because its directory does not exist: ',
      ),
    ]);
  });

  test('is not ready, and says over HTTP which option to correct, while every node is outside its VPC', async () => {
    const simulated = await simulate(join(directory, 'outside'));
    await announce(simulated.api, 'one', 'i-00000000000000001');
    const child = new Child(['run', ...flagsFor(simulated), '--vpc-id=vpc-00000000000000009'], {
      environment: supplyKeys,
    });
    const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;

    await child.said(/"reason":"OutsideNetwork"/);
    const readiness = await fetch(`${address}/readyz`);

    expect(readiness.status).toBe(500);
    expect(await readiness.text()).toBe(
      'no node is served: --vpc-id restricts Headwater to vpc-00000000000000009, and all nodes name vpc-00000000000000001',
    );
    expect(await child.stop()).toMatchObject({ code: 0, err: '' });
  });

  test('releases the Lease on SIGHUP as on other signals, also when shell and kernel send one each', async () => {
    const simulated = await simulate(join(directory, 'hung-up'));
    const { api } = simulated;
    const child = new Child(['run', ...flagsFor(simulated)], { environment: supplyKeys });
    await child.said(/"msg":"leading"/);

    child.signal('SIGHUP');
    await child.said(/"signal":"SIGHUP","msg":"shutting down"/);
    const ended = await child.stop('SIGHUP');

    expect(ended).toMatchObject({ code: 0, signal: undefined, err: '' });
    const leases = await objectAt(`${api}/apis/coordination.k8s.io/v1/leases`);
    expect(leases['items']).toEqual([
      expect.objectContaining({
        metadata: expect.objectContaining({
          annotations: expect.objectContaining({
            'headwater/leader-address': expect.stringMatching(/^\S+ 127\.0\.0\.1:\d+ on \S+$/),
          }),
        }),
        spec: expect.objectContaining({ holderIdentity: '' }),
      }),
    ]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'exits on %s as a healthy standby too',
    async (signal) => {
      const simulated = await simulate(join(directory, `standby-${signal}`));
      const { api } = simulated;
      const held = await fetch(`${api}/apis/coordination.k8s.io/v1/namespaces/kube-system/leases`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: {
            name: 'headwater',
            namespace: 'kube-system',
            annotations: { 'headwater/leader-address': 'somebody 10.0.0.5:9966' },
          },
          spec: { holderIdentity: 'somebody', leaseDurationSeconds: 600 },
        }),
      });
      expect(held.status).toBe(201);

      const child = new Child(['run', ...flagsFor(simulated), '--log-level=debug'], {
        environment: supplyKeys,
      });
      const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
      await child.said(/"holder":"somebody".*"msg":"standing by: another process leads"/);
      // A standby makes this one call, which shows that it could take over.
      await child.said(/"action":"DescribeVpcs","outcome":"OK"/);
      const health = await fetch(`${address}/healthz`);
      const readiness = await fetch(`${address}/readyz`);
      const status = await objectAt(`${address}/status`);

      expect([health.status, await readiness.text()]).toEqual([
        200,
        'ok\nstanding by: somebody leads at 10.0.0.5:9966\n',
      ]);
      expect(status).toMatchObject({
        state: 'standby',
        leader: 'somebody',
        leaderAddress: '10.0.0.5:9966',
      });
      expect(status).not.toHaveProperty('nodes');
      const { code, err, out } = await child.stop(signal);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(/"msg":"shutting down"/);
      expect(out).toMatch(/"outcome":"stopped","msg":"ended"/);
    },
  );
});
