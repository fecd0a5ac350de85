import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { Child, endAll, headwater, problemsOf } from './child.ts';

let directory = '';
let taken: Server;
let port = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-start-'));
  taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, '127.0.0.1', resolve);
  });
  ({ port } = taken.address() as AddressInfo);
});

afterEach(endAll);

afterAll(async () => {
  taken.close();
  await rm(directory, { recursive: true });
});

const smallCloud = `
vpcs: [{ name: main, blocks: [10.0.0.0/16] }]
subnets: [{ name: a, zone: us-east-1a, block: 10.0.0.0/24 }]
instances: []
`;

const region = '--aws-region=eu-central-1';

describe('a start that fails', () => {
  test('exits with code 1 and one line, without a stack, when it finds no way to a cluster', async () => {
    const { code, out, err } = await headwater(['run', region], { environment: { HOME: directory } });

    expect(code).toBe(1);
    expect(problemsOf({ err })).toEqual([
      expect.stringMatching(
        /^found no cluster: .*\.kube\/config\. .*--k8s-kubeconfig-path, KUBECONFIG or --k8s-api-server$/,
      ),
    ]);
    expect(out).not.toContain('stack');
  });

  test.each([
    [
      'it does not exist at the path',
      'nowhere',
      /there is no kubeconfig at .*nowhere; correct --k8s-kubeconfig-path$/,
    ],
    ['it is not a kubeconfig', 'text', /text is no kubeconfig$/],
  ])(
    'exits with code 1 and one line, without a stack, because of its kubeconfig: %s',
    async (_, name, line) => {
      await writeFile(join(directory, 'text'), 'just text\n');

      const { code, out, err } = await headwater([
        'run',
        region,
        '--k8s-kubeconfig-path',
        join(directory, name),
      ]);

      expect(code).toBe(1);
      expect(problemsOf({ err })).toEqual([expect.stringMatching(line)]);
      expect(out).not.toContain('stack');
    },
  );

  test('exits with code 1 and one line, without a stack, when its port is taken', async () => {
    const ran = await headwater([
      'run',
      region,
      '--k8s-api-server=http://127.0.0.1:1',
      `--serve-addr=127.0.0.1:${port}`,
    ]);

    expect(ran.code).toBe(1);
    expect(problemsOf(ran)).toEqual([
      `cannot listen on 127.0.0.1:${port}: the port is taken; set --serve-addr`,
    ]);
  });

  test.each([
    ['FIPS', { AWS_USE_FIPS_ENDPOINT: 'true' }, ['--ec2-api-endpoint=https://ec2.example']],
    ['dual stack', { AWS_USE_DUALSTACK_ENDPOINT: 'true' }, ['--ec2-api-endpoint=https://ec2.example']],
    ['FIPS', { AWS_USE_FIPS_ENDPOINT: 'true', AWS_ENDPOINT_URL_EC2: 'https://ec2.example' }, []],
  ])(
    'exits with code 2 and one line, without a stack, because %s is set next to an endpoint of its own: %j',
    async (_, environment, flags) => {
      const ran = await headwater(['run', region, '--k8s-api-server=http://127.0.0.1:1', ...flags], {
        environment,
      });

      expect(ran.code).toBe(2);
      expect(problemsOf(ran)).toEqual([
        expect.stringMatching(/^name the FIPS or dual-stack endpoint itself by --ec2-api-endpoint and unset/),
      ]);
    },
  );

  test('exits with code 1 and one line, without a stack, when the ports of simulate are taken', async () => {
    const topology = join(directory, 'small.yaml');
    await writeFile(topology, smallCloud);

    const [ec2, kubernetes] = await Promise.all([
      headwater(['simulate', '--topology', topology, `--ec2-port=${port}`]),
      headwater([
        'simulate',
        '--topology',
        topology,
        '--ec2-port=0',
        '--kubernetes',
        `--kubernetes-port=${port}`,
      ]),
    ]);

    expect(ec2).toMatchObject({
      code: 1,
      out: '',
      err: `headwater simulate: port ${port} of 127.0.0.1 is taken; set --ec2-port\n`,
    });
    expect(kubernetes).toMatchObject({
      code: 1,
      out: '',
      err: `headwater simulate: cannot serve the Kubernetes API on 127.0.0.1 port ${port}: the port is taken; set --kubernetes-port\n`,
    });
  });
});

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  ['AWS_DEFAULT_REGION only', { AWS_DEFAULT_REGION: 'eu-west-3' }, /"region":"eu-west-3","msg":"using EC2/],
  [
    'AWS_REGION before it',
    { AWS_DEFAULT_REGION: 'eu-west-3', AWS_REGION: 'eu-west-1' },
    /"region":"eu-west-1","msg":"using EC2/,
  ],
])('the region comes from %s', async (_, environment, line) => {
  const child = new Child(['run', '--k8s-api-server=http://127.0.0.1:1', '--serve-addr=127.0.0.1:0'], {
    environment,
  });

  await child.said(line);
  expect(await child.stop()).toMatchObject({ code: 0, err: '' });
});

test('the first log line names the version, as /status and the metrics do', async () => {
  const { version } = JSON.parse(
    await readFile(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'),
  ) as { version: string };
  const child = new Child(['run', region, '--k8s-api-server=http://127.0.0.1:1', '--serve-addr=127.0.0.1:0']);
  const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;

  const [status, metrics] = await Promise.all(
    ['status', 'metrics'].map(async (path) => (await fetch(`${address}/${path}`)).text()),
  );
  const { out } = await child.stop();

  expect(JSON.parse(out.split('\n', 1)[0] ?? '')).toMatchObject({ version });
  expect(JSON.parse(status ?? '')).toMatchObject({ version, state: 'starting' });
  expect(metrics).toContain(`headwater_build_info{version="${version}",node_version="`);
});

test('an unreachable API server is waited for, causes no restart, and does not delay a shutdown', async () => {
  const child = new Child([
    'run',
    region,
    '--k8s-api-server=http://127.0.0.1:1',
    '--serve-addr=127.0.0.1:0',
    '--limit-ipam-api-qps=4',
  ]);
  const address = `http://127.0.0.1:${await child.word(/"port":(\d+).*"msg":"serving health/)}`;
  await child.said(/"level":"warn".*127\.0\.0\.1:1\b.*"msg":"cannot read from Kubernetes for now"/);

  const [health, readiness] = await Promise.all([fetch(`${address}/healthz`), fetch(`${address}/readyz`)]);

  expect([health.status, readiness.status]).toEqual([200, 500]);
  expect(await readiness.text()).toMatch(/127\.0\.0\.1:1\b/);
  const { code, err, out } = await child.stop();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(
    /"level":"warn".*"option":"limit-ipam-api-qps","from":"the flag --limit-ipam-api-qps".*at least \d+ s instead of \d+ s.*"msg":"all cloud calls together are capped"/,
  );
  expect(out).not.toContain('stack');
});
