// The command status against controllers that run as processes of their own.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { Child, endAll, headwater, linesOf, program } from './child.ts';
import { simulate, supplied } from './simulated.ts';

let directory = '';
const ended: (() => Promise<void>)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-status-'));
});

afterEach(async () => {
  await endAll();
  for (const end of ended.splice(0)) await end();
});
afterAll(() => rm(directory, { recursive: true }));

async function serverThatSays(status: number, body: unknown): Promise<LoopbackServer> {
  const server = await loopbackServer((_, response) => json(response, status, body));
  ended.push(server.close);
  return server;
}

describe('headwater status --address', () => {
  test('shows a controller that is well, as lines and as it answers', async () => {
    const { port } = await supplied(join(directory, 'well'));

    const shown = await headwater(['status', `--address=http://127.0.0.1:${port}`]);
    const asJson = await headwater(['status', `--address=127.0.0.1:${port}`, '--output=json']);

    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(linesOf(shown.out)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\S+-[\da-f]{10}: leading, version /),
        'ready       yes',
        expect.stringMatching(/^cloud {7}read \d+ s ago$/),
        'problems    none',
        expect.stringMatching(/^nodes +1 total, 1 /),
        expect.stringMatching(/^subnet-0000000000000000a +a +us-east-1a +10\.0\.0\.0\/24 +256 /),
      ]),
    );
    expect(asJson).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(asJson.out)).toMatchObject({ state: 'leading', nodes: { total: 1 } });
  });

  test.each<[string, string[], RegExp]>([
    [
      'cluster-pool',
      [
        'run',
        '--ipam=cluster-pool',
        '--cluster-pool-ipv4-cidr=10.0.0.0/24',
        '--cluster-pool-ipv4-mask-size=26',
      ],
      /^\S+ +10\.0\.0\.0\/24 +\/26 +4 +0 +4 +0$/,
    ],
    [
      'multi-pool',
      [
        'run',
        '--ipam=multi-pool',
        '--auto-create-cilium-pod-ip-pools=mine=ipv4-cidrs:10.0.0.0/24;ipv4-mask-size:26',
      ],
      /^mine +10\.0\.0\.0\/24 +\/26 +4 +0 +4 +0$/,
    ],
    [
      'nodeipam',
      ['nodeipam', '--cluster-cidr=10.0.0.0/24', '--node-cidr-mask-size=26'],
      /^\S+ +10\.0\.0\.0\/24 +\/26 +4 +0 +4 +0$/,
    ],
  ])('shows the pools of blocks: %s', async (mode, args, row) => {
    const { kubeconfig } = await simulate(join(directory, mode));
    const controller = new Child([
      ...args,
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--serve-addr=127.0.0.1:0',
    ]);
    const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
    await controller.said(/"msg":"leading"/);

    const { out, err } = await headwater(['status', `--address=127.0.0.1:${port}`]);

    expect(err).toBe('');
    expect(linesOf(out)).toEqual(expect.arrayContaining(['nodes       0 total', expect.stringMatching(row)]));
  });

  test('is the same where the program is a plugin of kubectl', async () => {
    const plugin = join(directory, 'kubectl-headwater');
    await symlink(program, plugin);
    const { url } = await serverThatSays(200, { state: 'leading', identity: 'a', paused: [] });

    const shown = await headwater(['status', `--address=${url}`], { program: plugin });

    expect(shown).toMatchObject({ code: 0, err: '' });
  });

  test('ends with exit code 1 if something is wrong', async () => {
    const report = { state: 'leading', identity: 'a', paused: [], reasons: { SubnetExhausted: 2 } };
    const { url } = await serverThatSays(200, report);

    const shown = await headwater(['status', `--address=${url}`]);

    expect(shown).toMatchObject({ code: 1, err: '' });
    expect(linesOf(shown.out)).toContain('problems    2 nodes with a reason');
  });

  test('ends with exit code 2 on a standby, which knows no nodes, and names its leader', async () => {
    const report = { state: 'standby', identity: 'a', leader: 'b-0123456789', paused: [] };
    const { url } = await serverThatSays(200, report);

    const shown = await headwater(['status', `--address=${url}`]);

    expect(shown).toMatchObject({
      code: 2,
      err: 'headwater status: only the leader knows the nodes: ask b-0123456789\n',
    });
    expect(linesOf(shown.out)).toContain('leader      b-0123456789');
  });

  test.each<[string, number, unknown]>([
    ['another service', 404, 'not found'],
    ['a report of nothing that we know', 200, { status: 'ok' }],
  ])('ends with exit code 2 if it finds %s', async (_, status, body) => {
    const { url } = await serverThatSays(status, body);

    const { code, out, err } = await headwater(['status', `--address=${url}`]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([
      `headwater status: cannot read ${url.slice('http://'.length)}: /status is answered with ${status} and no report of a controller: give the address of --serve-addr`,
    ]);
  });

  test.each<[string[], RegExp]>([
    [['--address=127.0.0.1:1'], /^headwater status: cannot read 127\.0\.0\.1:1: connect ECONNREFUSED/],
    [['--address=nowhere'], /^headwater status: --address is no host:port/],
    [['--address=127.0.0.1:1', '--output=yaml'], /--output is "yaml"; accepted: text, json$/],
  ])('ends with exit code 2 and one line: %j', async (args, line) => {
    const { code, out, err } = await headwater(['status', ...args]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(line)]);
  });
});
