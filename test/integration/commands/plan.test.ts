// The command plan, against a controller on the models of EC2 and Kubernetes, and against processes that answer otherwise.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { endAll, headwater, linesOf } from './child.ts';
import { supplied } from './simulated.ts';

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

describe('headwater plan', () => {
  test('plans further nodes like those of the leader, and names the subnet that runs out', async () => {
    const { port } = await supplied(join(directory, 'live'));
    const plan = (...args: string[]): ReturnType<typeof headwater> =>
      headwater(['plan', `--address=127.0.0.1:${port}`, ...args]);

    const fits = await plan('--add=3', '--pods=20', '--zone=a', '--type=m5.large');
    const runsOut = await plan('--add=30', '--pods=20', '--output=json');
    const elsewhere = await plan('--add=1', '--zone=us-east-1b');

    expect(fits).toMatchObject({ code: 0, err: '' });
    expect(linesOf(fits.out)).toEqual(
      expect.arrayContaining([
        '3 nodes of m5.large: all fit',
        'like        all in us-east-1a like one, in subnet-0000000000000000a',
        'each        20 pods; gets 3 interfaces, 24 pod addresses',
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
    expect(elsewhere).toMatchObject({
      code: 2,
      out: '',
      err: 'headwater plan: no node has the zone "us-east-1b"; did you mean us-east-1a?\n',
    });
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
