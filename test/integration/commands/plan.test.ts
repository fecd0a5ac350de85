// The command plan, against a controller on the models of EC2 and Kubernetes, and against processes that answer otherwise.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { announce, simulate, supplied, supplyKeys } from './simulated.ts';

let directory = '';
const ended: (() => Promise<void>)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-plan-'));
});
afterEach(async () => {
  await endAll();
  for (const end of ended.splice(0)) await end();
});
afterAll(() => rm(directory, { recursive: true }));

/** Resolves once the status names it. */
async function mentioning(address: string, text: string): Promise<void> {
  for (;;) {
    const { out } = await headwater(['status', address]);
    if (out.includes(text)) return;
  }
}

describe('headwater plan', () => {
  test('plans further nodes like those of the leader, and names the subnet that runs out', async () => {
    const live = await supplied(join(directory, 'live'));
    const { port } = live;
    const plan = (...args: string[]): ReturnType<typeof headwater> =>
      headwater(['plan', `--address=127.0.0.1:${port}`, ...args]);

    const fits = await plan('--add=3', '--pods=18', '--zone=a', '--type=m5.large');
    const runsOut = await plan('--add=30', '--pods=18', '--output=json');
    const elsewhere = await plan('--add=1', '--zone=us-east-1b');

    expect(fits).toMatchObject({ code: 0, err: '' });
    expect(linesOf(fits.out)).toEqual(
      expect.arrayContaining([
        '3 nodes of m5.large: all fit',
        'like        all in us-east-1a like one, in subnet-0000000000000000a',
        'each        18 pods; gets 3 interfaces, 24 pod addresses',
        'total       6 new interfaces, 72 pod addresses',
      ]),
    );
    expect(runsOut).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(runsOut.out)).toMatchObject({
      nodes: 30,
      subnets: [
        { id: 'subnet-0000000000000000a', zone: 'us-east-1a', left: 0, runsOutAfter: expect.any(Number) },
      ],
      problems: [
        expect.objectContaining({ reason: 'SubnetsExhausted', firstNode: 10, nodes: 1 }),
        expect.objectContaining({ reason: 'SubnetsExhausted', firstNode: 11, nodes: 20 }),
      ],
    });
    const { ec2 } = live;
    const bigger = await headwater(
      [
        'plan',
        `--address=127.0.0.1:${port}`,
        '--add=2',
        '--pods=50',
        '--type=m5.xlarge',
        `--ec2-api-endpoint=${ec2}`,
        '--aws-region=us-east-1',
      ],
      { environment: supplyKeys },
    );
    const huge = await headwater(
      [
        'plan',
        `--address=127.0.0.1:${port}`,
        '--add=2',
        '--type=m5.huge',
        `--ec2-api-endpoint=${ec2}`,
        '--aws-region=us-east-1',
      ],
      { environment: supplyKeys },
    );
    expect(bigger).toMatchObject({ code: 0, err: '' });
    expect(linesOf(bigger.out)[0]).toBe('2 nodes of m5.xlarge: all fit');
    expect(huge).toMatchObject({
      code: 2,
      out: '',
      err: 'headwater plan: no node has the type "m5.huge"; did you mean m5.large?; what it can hold is not known: the cloud knows no such type\n',
    });
    expect(elsewhere).toMatchObject({
      code: 2,
      out: '',
      err: 'headwater plan: no node has the zone "us-east-1b"; did you mean us-east-1a?\n',
    });
  });

  test.each<[string, string[], string[], object]>([
    [
      'cluster-pool',
      [
        'run',
        '--ipam=cluster-pool',
        '--cluster-pool-ipv4-cidr=10.0.0.0/24',
        '--cluster-pool-ipv4-mask-size=26',
      ],
      [],
      {
        fit: 4,
        blocks: 4,
        problems: [expect.objectContaining({ reason: 'PodCIDRsExhausted', firstNode: 5 })],
      },
    ],
    [
      'multi-pool',
      [
        'run',
        '--ipam=multi-pool',
        '--auto-create-cilium-pod-ip-pools=mine=ipv4-cidrs:10.0.0.0/24;ipv4-mask-size:28',
      ],
      ['--pods=40'],
      { fit: 5, blocks: 16, problems: [expect.objectContaining({ reason: 'PoolExhausted', firstNode: 6 })] },
    ],
    [
      'nodeipam',
      ['nodeipam', '--cluster-cidr=10.0.0.0/24', '--node-cidr-mask-size=26'],
      [],
      { fit: 4, blocks: 4, problems: [expect.objectContaining({ reason: 'PodCIDRsExhausted', nodes: 2 })] },
    ],
  ])('plans blocks: %s', async (mode, args, asked, plan) => {
    const { kubeconfig } = await simulate(join(directory, mode));
    const controller = new Child([
      ...args,
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--serve-addr=127.0.0.1:0',
    ]);
    const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
    await controller.said(/"msg":"leading"/);
    const address = `--address=127.0.0.1:${port}`;
    await mentioning(address, '10.0.0.0/24');

    const fits = await headwater(['plan', address, '--add=2', ...asked]);
    const runsOut = await headwater(['plan', address, '--add=6', '--output=json', ...asked]);

    expect(fits).toMatchObject({ code: 0, err: '' });
    expect(linesOf(fits.out)[0]).toBe('2 nodes: all fit');
    expect(runsOut).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(runsOut.out)).toMatchObject(plan);
  });

  test('plans as many blocks as nodes then get', async () => {
    const { kubeconfig, api } = await simulate(join(directory, 'blocks'));
    const controller = new Child([
      'run',
      '--ipam=cluster-pool',
      '--cluster-pool-ipv4-cidr=10.0.0.0/25',
      '--cluster-pool-ipv4-mask-size=26',
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--serve-addr=127.0.0.1:0',
    ]);
    const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
    await controller.said(/"msg":"leading"/);
    const planned = await headwater(['plan', `--address=127.0.0.1:${port}`, '--add=3']);

    for (const name of ['a', 'b', 'c']) await announce(api, name, `i-0000000000000000${name}`);
    await controller.said(/"node":"c","reason":"PodCIDRsExhausted"/);
    const then = await headwater(['plan', `--address=127.0.0.1:${port}`, '--add=1']);

    expect(linesOf(planned.out)[0]).toBe('3 nodes: 2 fit');
    expect(then.code).toBe(1);
    expect(linesOf(then.out)).toContain(
      'note        nodes that wait for blocks come first, and are not counted: 1',
    );
  });

  test('plans the same with a snapshot, which replaces its file as a whole', async () => {
    const { port } = await supplied(join(directory, 'saved'));
    const address = `--address=127.0.0.1:${port}`;
    const file = join(directory, 'saved.json');
    await writeFile(file, 'old');

    const printed = await headwater(['snapshot', address]);
    const saved = await headwater(['snapshot', address, `--file=${file}`]);
    const live = await headwater(['plan', address, '--add=30', '--pods=9', '--output=json']);
    const later = await headwater(['plan', '--snapshot', file, '--add=30', '--pods=9', '--output=json']);

    expect(printed).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(printed.out)).toMatchObject({ kind: 'headwater-snapshot', format: 1 });
    expect(saved).toEqual({ code: 0, signal: undefined, out: '', err: '' });
    const { notes, ...planned } = JSON.parse(later.out) as { readonly notes: readonly string[] };
    expect(notes).toEqual([expect.stringMatching(/^by a snapshot of \d{4}-\d\d-\d\dT/)]);
    expect({ notes: [], ...planned }).toEqual(JSON.parse(live.out));
    expect(await readdir(directory)).not.toContainEqual(expect.stringMatching(/tmp$/));

    const { status, ...head } = JSON.parse(printed.out) as { readonly status: object };
    const denied = [{ permission: 'ec2:CreateNetworkInterface', remedy: 'allow it' }];
    const hindered = { ...status, paused: [{ reason: 'dryRun', activities: ['allocate'] }], denied };
    await writeFile(file, JSON.stringify({ ...head, status: hindered }));
    const { out } = await headwater(['plan', '--snapshot', file, '--add=1', '--pods=9']);
    expect(linesOf(out)).toEqual(
      expect.arrayContaining([
        'note        planned as if nothing were paused, and paused now: dryRun',
        'note        planned as if all were permitted, and denied now: ec2:CreateNetworkInterface',
      ]),
    );
  });

  test.each<[string[], RegExp]>([
    [['plan'], /^say by --add how many nodes to plan, such as --add=300$/],
    [['plan', '--add=0'], /^--add is "0"; accepted: a whole number from 1 to 10000$/],
    [['plan', '--add=1', '--zone=;'], /^--zone is ";"; accepted: names of zones/],
    [['plan', '--add=1', '--pods=-1'], /^--pods is "-1"; accepted: /],
    [['plan', '--add=1', '--output=yaml'], /^--output is "yaml"; accepted: text, json$/],
    [
      ['plan', '--add=1', '--snapshot=a', '--address=b:1'],
      /^--snapshot and --address name two sources: give one$/,
    ],
    [['plan', '--add=1', '--snapshot=/nowhere'], /^cannot read \/nowhere: it does not exist$/],
    [['plan', '--add=1', '--snapshot=/'], /^cannot read \/: it is a directory$/],
    [
      ['plan', '--add=1', '--snapshot=package.json'],
      /^package\.json is no snapshot: take one by headwater snapshot$/,
    ],
    [['plan', '--add=1', '--address=127.0.0.1:1'], /^cannot read 127\.0\.0\.1:1: connect ECONNREFUSED/],
    [
      ['snapshot', '--address=127.0.0.1:1', '--file=/nowhere'],
      /^cannot read 127\.0\.0\.1:1: connect ECONNREFUSED/,
    ],
  ])('ends with exit code 2 and one line: %j', async (args, line) => {
    const { code, out, err } = await headwater(args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    const [problem = '', ...more] = linesOf(err);
    expect(problem.replace(/^headwater \w+: /, '')).toMatch(line);
    expect(more).toEqual([]);
  });

  test('says that a leader of a version without these facts is to be updated', async () => {
    const { url, close } = await loopbackServer((_, response) =>
      json(response, 200, { state: 'leading', identity: 'a-0123456789', version: '1.2.3', paused: [] }),
    );
    ended.push(close);

    const { code, out, err } = await headwater(['plan', '--add=1', `--address=${url}`]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(
      'headwater plan: a-0123456789, of version 1.2.3, says nothing to plan with: update it\n',
    );
  });
});
