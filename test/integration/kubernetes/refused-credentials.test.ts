// Tokens that the server refuses before their time: a credential program runs again.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadClusterAccess } from '../../../src/kubernetes/auth/load-cluster-access.ts';
import { UndiciTransport } from '../../../src/kubernetes/transport/undici-transport.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';

const never = new AbortController().signal;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** A kubeconfig whose credential program numbers its tokens: run-1, run-2, and so on. It writes a line for each run. */
async function kubeconfigWithProgram(server: string): Promise<string> {
  const runs = join(directory, 'runs');
  const program = join(directory, 'program');
  await writeFile(
    program,
    [
      `#!${process.execPath}`,
      `const { appendFileSync, readFileSync } = require('node:fs');`,
      `appendFileSync(${JSON.stringify(runs)}, 'x');`,
      `const token = 'run-' + readFileSync(${JSON.stringify(runs)}, 'utf8').length;`,
      `console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }));`,
    ].join('\n'),
  );
  await chmod(program, 0o755);
  const path = join(directory, 'config');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: program };
  await writeFile(
    path,
    JSON.stringify({
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'it', user: 'me' } }],
      clusters: [{ name: 'it', cluster: { server } }],
      users: [{ name: 'me', user: { exec } }],
    }),
  );
  return path;
}

/** A server that accepts only these tokens, and a transport that gets its tokens from the program. */
async function refusing(accepted: Set<string>): Promise<{
  readonly clock: VirtualClock;
  readonly transport: UndiciTransport;
  readonly get: () => Promise<number>;
  readonly runs: () => Promise<number>;
  readonly end: () => Promise<void>;
}> {
  const clock = new VirtualClock();
  const server = await loopbackServer((request, response) => {
    const isAccepted = accepted.has(request.headers.authorization ?? '');
    if (isAccepted && request.url === '/watch') response.writeHead(200).write('{}\n');
    else json(response, isAccepted ? 200 : 401, {});
  });
  const kubeconfig = await kubeconfigWithProgram(server.url);
  const access = await loadClusterAccess({ kubeconfig, clock, environment: process.env });
  const transport = new UndiciTransport({ access, clock });
  return {
    clock,
    transport,
    get: async () => (await transport.send({ method: 'GET', path: '/' }, never)).status,
    runs: async () => (await readFile(join(directory, 'runs'), 'utf8')).length,
    end: async () => {
      await transport.close();
      await server.close();
    },
  };
}

describe('a credential program', () => {
  test('runs again at once when the server refuses its token, for a request and for a watch, however young it is', async () => {
    const accepted = new Set(['Bearer run-1']);
    const { transport, get, runs, end } = await refusing(accepted);

    const first = await get();
    accepted.clear();
    accepted.add('Bearer run-2');
    const [second, third] = await Promise.all([get(), get()]);
    accepted.clear();
    accepted.add('Bearer run-3');
    const watch = await transport.stream({ method: 'GET', path: '/watch' }, never);
    await end();

    expect([first, second, third, watch.kind]).toEqual([200, 200, 200, 'open']);
    expect(await runs()).toBe(3);
  });

  test('runs more and more rarely while the server refuses each of its tokens', async () => {
    const accepted = new Set<string>();
    const { clock, get, runs, end } = await refusing(accepted);

    const atOnce = [await get(), await get(), await get(), await runs()];
    await clock.advance(10_000);
    const later = [await get(), await get(), await runs()];
    await clock.advance(10_000);
    const tooEarly = [await get(), await runs()];
    await clock.advance(10_000);
    accepted.add('Bearer run-4');
    const recovered = [await get(), await get(), await runs()];
    await end();

    expect(atOnce).toEqual([401, 401, 401, 2]);
    expect(later).toEqual([401, 401, 3]);
    expect(tooEarly).toEqual([401, 3]);
    expect(recovered).toEqual([200, 200, 4]);
  });
});
