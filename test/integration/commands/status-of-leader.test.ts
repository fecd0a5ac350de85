// The command status through an API server: a real controller behind a stand-in that forwards ports, and everything that can
// be in the way.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ForwardingFront, forwardingFront } from '../../support/forwarding-front.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { announce, simulate, supplyKeys } from './simulated.ts';

let directory = '';
const ended: (() => Promise<void>)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-leader-'));
});

afterEach(async () => {
  await endAll();
  for (const end of ended.splice(0)) await end();
});
afterAll(() => rm(directory, { recursive: true }));

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/headwater';
const podsPath = '/api/v1/namespaces/kube-system/pods';
const forwardPath = `${podsPath}/headwater-1/portforward`;

/** Answers by method and path, without the query; a path without one is not found. */
type Answers = Readonly<Record<string, readonly [status: number, body: unknown]>>;

async function apiServer(
  answers: Answers,
  podsFor?: (query: URLSearchParams) => readonly object[],
): Promise<ForwardingFront> {
  const front = await forwardingFront(
    ({ method = '', url = '' }, response) => {
      const [path = '', query = ''] = url.split('?', 2);
      if (path === podsPath && podsFor !== undefined)
        return json(response, 200, { items: podsFor(new URLSearchParams(query)) });
      const [status, body] = answers[`${method} ${path}`] ??
        answers[path] ?? [404, refusal(404, 'not found')];
      json(response, status, body);
    },
    ({ url }) => !(`GET ${url?.split('?', 1)[0]}` in answers),
  );
  ended.push(front.close);
  return front;
}

function refusal(code: number, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code };
}

function leaseOf(holderIdentity: string, renewTime = '2999-01-01T00:00:00.000000Z'): object {
  return { metadata: { name: 'headwater' }, spec: { holderIdentity, leaseDurationSeconds: 15, renewTime } };
}

/** A pod in the network of its host, as the chart makes it. */
function podOf(name: string, nodeName: string, port: number | string): object {
  const containers = [{ name: 'headwater', args: ['run', `--serve-addr=127.0.0.1:${port}`] }];
  return {
    metadata: { name },
    spec: { hostNetwork: true, nodeName, containers },
    status: { phase: 'Running' },
  };
}

/** A process that serves this report. */
async function processThatReports(report: object): Promise<number> {
  const server = await loopbackServer(({ url }, response) =>
    json(response, 200, url === '/status' ? report : 'ok'),
  );
  ended.push(server.close);
  return Number(new URL(server.url).port);
}

const holder = 'host-a-0123456789';
const well = { state: 'leading', identity: holder, paused: [] };

function pods(...items: readonly object[]): readonly [number, unknown] {
  return [200, { items }];
}

describe('headwater status', () => {
  test('reads a real controller that its Lease names, at its loopback address', async () => {
    const { api, ec2, kubeconfig } = await simulate(join(directory, 'real'));
    await announce(api, 'one', 'i-00000000000000001');
    const controller = new Child(
      [
        'run',
        `--k8s-kubeconfig-path=${kubeconfig}`,
        `--ec2-api-endpoint=${ec2}`,
        '--aws-region=us-east-1',
        '--serve-addr=127.0.0.1:0',
      ],
      { environment: supplyKeys },
    );
    const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
    await controller.said(/"node":"one".*"msg":"(?:assigned|attached) /);
    const lease: unknown = await (await fetch(`${api}${leasePath}`)).json();
    const { url, forwarded } = await apiServer({
      [leasePath]: [200, lease],
      [podsPath]: pods(podOf('headwater-1', hostname(), port)),
    });

    const { code, out, err } = await headwater(['status', `--k8s-api-server=${url}`]);

    expect({ code, problems: linesOf(err) }).toEqual({
      code: 0,
      problems: ['headwater status: the certificate of the API server is not verified'],
    });
    expect(linesOf(out)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(new RegExp(`^${hostname()}-[\\da-f]{10}: leading`)),
        'problems    none',
        expect.stringMatching(/^nodes +1 total, /),
      ]),
    );
    expect(forwarded).toEqual([`${forwardPath}?ports=${port}`, `${forwardPath}?ports=${port}`]);
  });

  test('reads an answer of many frames, and of the nodeipam command where run has no Lease', async () => {
    const warnings = Array.from({ length: 1000 }, (_, index) => ({
      name: `node-${index}`,
      podCIDRs: [],
      reason: 'PoolExhausted',
      why: 'x'.repeat(200),
    }));
    const port = await processThatReports({ ...well, warnings });
    const { url } = await apiServer({
      [`${leasePath}-nodeipam`]: [200, leaseOf(holder)],
      [podsPath]: pods(podOf('headwater-1', 'host-a', port)),
    });

    const { code, out } = await headwater(['status', `--k8s-api-server=${url}`, '--output=json']);

    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({ ...well, warnings });
  });

  test.each([
    ['ended', leaseOf('host-b-0123456789', '2001-01-01T00:00:00.000000Z')],
    ['has no holder', leaseOf('')],
  ])('finds the leader of the nodeipam command where the Lease of run %s', async (_, old) => {
    const { url } = await apiServer({
      [leasePath]: [200, old],
      [`${leasePath}-nodeipam`]: [200, leaseOf(holder)],
      [podsPath]: pods(podOf('headwater-1', 'host-a', await processThatReports(well))),
    });

    expect(await headwater(['status', `--k8s-api-server=${url}`])).toMatchObject({ code: 0 });
  });

  test('finds the leader among pods whose hosts have other names, by what they answer', async () => {
    const [standby, leader] = [
      await processThatReports({ ...well, state: 'standby', identity: 'host-b-0123456789', leader: holder }),
      await processThatReports(well),
    ];
    const { url } = await apiServer({
      [leasePath]: [200, leaseOf(holder)],
      [podsPath]: pods(
        podOf('headwater-1', 'cn-hangzhou.10.0.0.1', standby),
        podOf('headwater-2', 'cn-hangzhou.10.0.0.2', leader),
      ),
    });

    const { code, out } = await headwater(['status', `--k8s-api-server=${url}`]);

    expect(code).toBe(0);
    expect(linesOf(out)[0]).toBe(`${holder}: leading`);
  });

  test.each([
    ['spec.nodeName=host-a', podOf('custom-1', 'host-a', 0)],
    ['metadata.name=host-a', { ...podOf('host-a', 'node-1', 0), metadata: { name: 'host-a' } }],
  ])('finds a leader whose pod has other labels than those of the chart: %s', async (selected, pod) => {
    const port = await processThatReports(well);
    const items = [
      JSON.parse(JSON.stringify(pod).replace(':0"', `:${port}"`)) as object,
      podOf('silent', 'host-a', 'x'),
    ];
    const { url } = await apiServer({ [leasePath]: [200, leaseOf(holder)] }, (query) =>
      query.get('fieldSelector') === selected ? items : [],
    );

    expect(await headwater(['status', `--k8s-api-server=${url}`])).toMatchObject({ code: 0 });
  });

  test('shows a leader that answers although its Lease seems to have ended: our clock may be wrong', async () => {
    const { url } = await apiServer({
      [leasePath]: [200, leaseOf(holder, '2001-01-01T00:00:00.000000Z')],
      [podsPath]: pods(podOf('headwater-1', 'host-a', await processThatReports(well))),
    });

    expect(await headwater(['status', `--k8s-api-server=${url}`])).toMatchObject({ code: 0 });
  });
});

const led: Answers = {
  [leasePath]: [200, leaseOf(holder)],
  [podsPath]: pods(podOf('headwater-1', 'host-a', 1)),
};
const gone =
  'the pod of the leader host-a-0123456789 is gone, or not in kube-system; if it runs elsewhere, forward its port and give --address';

describe('what keeps headwater status from the leader', () => {
  test.each<[string, Answers, string | RegExp]>([
    [
      'no Lease',
      {},
      'there is no Lease headwater or headwater-nodeipam in kube-system: name that of the controller with --k8s-namespace and --leader-election-lease-name, or give --address',
    ],
    [
      'a Lease without a holder',
      { [leasePath]: [200, leaseOf('')] },
      'no process leads: the Lease kube-system/headwater has no holder; read the logs of the pods of Headwater in kube-system',
    ],
    [
      'a Lease that ended',
      { [leasePath]: [200, leaseOf(holder, '2001-01-01T00:00:00.000000Z')], [podsPath]: pods() },
      new RegExp(
        String.raw`^no process leads: host-a-0123456789 has not renewed the Lease kube-system/headwater for \d+ s; the pod of the leader `,
      ),
    ],
    [
      'no right to read the Lease',
      { [leasePath]: [403, refusal(403, 'User "ann" cannot get resource "leases"')] },
      'not allowed to read the Lease kube-system/headwater, which needs get on leases of coordination.k8s.io: User "ann" cannot get resource "leases"',
    ],
    [
      'credentials that expired',
      { [leasePath]: [401, refusal(401, 'Unauthorized')] },
      'cannot read the Lease kube-system/headwater: the API server does not accept the credentials, which may have expired: log in again, or renew those of the kubeconfig: Unauthorized',
    ],
    [
      'credentials that expire meanwhile',
      { ...led, [`GET ${forwardPath}`]: [401, refusal(401, 'Unauthorized')] },
      /^cannot forward a port of pod kube-system\/headwater-1: the API server does not accept the credentials, .*: Unauthorized$/,
    ],
    [
      'no right to list pods',
      { ...led, [podsPath]: [403, refusal(403, 'User "ann" cannot list resource "pods"')] },
      'not allowed to list the pods of kube-system, which needs list on pods: User "ann" cannot list resource "pods"',
    ],
    [
      'no right to get pods/portforward',
      { ...led, [`GET ${forwardPath}`]: [403, refusal(403, 'no')] },
      'not allowed to forward a port of pod kube-system/headwater-1, which needs get on pods/portforward in kube-system: no',
    ],
    [
      'no right to create pods/portforward',
      {
        ...led,
        [`GET ${forwardPath}`]: [400, refusal(400, 'Upgrade request required')],
        [`POST ${forwardPath}`]: [403, refusal(403, 'no')],
      },
      'not allowed to forward a port of pod kube-system/headwater-1, which needs create on pods/portforward in kube-system: no',
    ],
    [
      'a proxy that upgrades nothing',
      {
        ...led,
        [forwardPath]: [400, refusal(400, 'Upgrade request required')],
        [`GET ${forwardPath}`]: [400, refusal(400, 'no')],
      },
      /^cannot forward a port of pod kube-system\/headwater-1: cannot reach http:\/\/127\.0\.0\.1:\d+: bad upgrade$/,
    ],
    [
      'a pod that ended meanwhile',
      { ...led, [`GET ${forwardPath}`]: [404, refusal(404, 'pods "headwater-1" not found')] },
      'pod kube-system/headwater-1 is gone',
    ],
    [
      'a port that nothing listens on',
      led,
      'pod kube-system/headwater-1 refuses port 1 of its loopback address: let --serve-addr (of the chart: serve.bind) include that address, or give --address',
    ],
    ['no pod of the leader', { ...led, [podsPath]: pods() }, gone],
  ])('is one line with the remedy, and exit code 2: %s', async (_, answers, line) => {
    const { url } = await apiServer(answers);

    const { code, out, err } = await headwater(['status', `--k8s-api-server=${url}`]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    const [, ...lines] = linesOf(err);
    expect(lines.map((each) => each.replace('headwater status: ', ''))).toEqual([
      typeof line === 'string' ? line : expect.stringMatching(line),
    ]);
  });

  test('is another process at the address of the leader', async () => {
    const port = await processThatReports({ ...well, identity: 'host-a-9999999999' });
    const { url } = await apiServer({ ...led, [podsPath]: pods(podOf('headwater-1', 'host-a', port)) });

    const { code, err } = await headwater(['status', `--k8s-api-server=${url}`]);

    expect(code).toBe(2);
    expect(linesOf(err).at(-1)).toBe(`headwater status: ${gone}`);
  });

  test.each<[string[], RegExp]>([
    [
      ['--k8s-api-server=http://127.0.0.1:1'],
      /^headwater status: cannot read the Lease .*cannot reach http:\/\/127\.0\.0\.1:1: /,
    ],
    [['--k8s-kubeconfig-path=/nowhere'], /^headwater status: .*\/nowhere/],
    [
      ['--k8s-namespace=No Such'],
      /^headwater status: k8s-namespace: .* is refused; accepted: the name of a namespace/,
    ],
    [[], /^headwater status: found no cluster: .*--k8s-kubeconfig-path/],
  ])('is the way to the API server: %j', async (args, line) => {
    const { code, out, err } = await headwater(['status', ...args]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err).at(-1)).toMatch(line);
  });
});
