// Readers of the agent's socket, on a real one.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../../../src/agent/rest/api.ts';
import { ApiServer } from '../../../src/agent/rest/api-server.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { AgentRig } from '../../unit/agent/agent-rig.ts';

let directory: string;
let server: ApiServer | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headwater-socket-'));
});

afterEach(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

const socketPath = (): string => join(directory, 'agent.sock');

async function serve(scrape: () => Promise<string>): Promise<void> {
  const { ipam, answerer, clock } = new AgentRig();
  const api = new Api({
    isDelegated: false,
    isSuspected: () => false,
    clock,
    ipam,
    answerer,
    waitingFor: () => undefined,
    metrics: { contentType: 'text/plain', scrape },
    expiration: 600_000,
  });
  server = new ApiServer({ api, path: socketPath(), clock, log: recordingLogger() });
  expect(await server.listen()).toBeUndefined();
}

async function ask(path: string): Promise<string> {
  const sent = request({ socketPath: socketPath(), path, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return (await response.setEncoding('utf8').toArray()).join('');
}

test('those of /metrics at one time share one rendering, and hold back nobody else', async () => {
  const rendering: ((text: string) => void)[] = [];
  await serve(() => new Promise((resolve) => rendering.push(resolve)));

  const readers = Array.from({ length: 100 }, () => ask('/metrics'));
  while (rendering.length === 0) await ask('/v1/healthz');
  await Promise.all(Array.from({ length: 10 }, () => ask('/v1/healthz')));
  const atOnce = rendering.length;
  rendering[0]?.('the first');
  const first = await Promise.race(readers);
  const over = new AbortController();
  void Promise.all(readers).finally(() => over.abort());
  while (!over.signal.aborted) {
    await ask('/v1/healthz');
    for (const render of rendering.slice(1)) render('later');
  }

  expect([atOnce, first]).toEqual([1, 'the first']);
  expect(rendering.length).toBeLessThan(10);
});

test('one that sends too far ahead of the answers loses its connection', async () => {
  await serve(() => new Promise(() => {}));

  const socket = connect(socketPath());
  socket.on('error', () => undefined);
  socket.resume().write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000));
  await once(socket, 'close');

  expect(socket.destroyed).toBe(true);
});
