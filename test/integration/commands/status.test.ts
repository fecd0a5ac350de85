// The command status against controllers that run as processes of their own.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { announce, type Simulated, simulate, supplyKeys } from './simulated.ts';

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

interface Running extends Simulated {
  readonly controller: Child;
  /** Where it serves its status. */
  readonly port: string;
}

/** A controller that has supplied one node. */
async function supplied(name: string): Promise<Running> {
  const simulated = await simulate(join(directory, name));
  await announce(simulated.api, 'one', 'i-00000000000000001');
  const controller = new Child(
    [
      'run',
      `--k8s-kubeconfig-path=${simulated.kubeconfig}`,
      `--ec2-api-endpoint=${simulated.ec2}`,
      '--aws-region=us-east-1',
      '--serve-addr=127.0.0.1:0',
    ],
    { environment: supplyKeys },
  );
  const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
  await controller.said(/"node":"one".*"msg":"(?:assigned|attached) /);
  return { ...simulated, controller, port };
}

async function serverThatSays(status: number, body: unknown): Promise<LoopbackServer> {
  const server = await loopbackServer((_, response) => json(response, status, body));
  ended.push(server.close);
  return server;
}

describe('headwater status --address', () => {
  test('shows a controller that is well, as lines and as it answers', async () => {
    const { port } = await supplied('well');

    const shown = await headwater(['status', `--address=http://127.0.0.1:${port}`]);
    const asJson = await headwater(['status', `--address=127.0.0.1:${port}`, '--output=json']);

    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(linesOf(shown.out)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\S+-[\da-f]{10}: leading, version /),
        'ready       yes',
        'problems    none',
        expect.stringMatching(/^nodes +1 total, 1 /),
        expect.stringMatching(/^subnet-0000000000000000a +us-east-1a +10\.0\.0\.0\/24 +256 /),
      ]),
    );
    expect(asJson).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(asJson.out)).toMatchObject({ state: 'leading', nodes: { total: 1 } });
  });

  test('ends with exit code 1 if something is wrong', async () => {
    const report = { state: 'leading', identity: 'a', paused: [], reasons: { SubnetExhausted: 2 } };
    const { url } = await serverThatSays(200, report);

    const shown = await headwater(['status', `--address=${url}`]);

    expect(shown).toMatchObject({ code: 1, err: '' });
    expect(linesOf(shown.out)).toContain('problems    2 nodes with a reason');
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
