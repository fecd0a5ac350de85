import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { json, type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';

const count = Number(process.env['OVERSIZED_NODES'] ?? 200);

let server: LoopbackServer | undefined;

afterEach(async () => {
  await server?.close();
});

/** The flags of Node.js that bin/headwater sets for the controller. */
const launcher = readFileSync(new URL('../../../bin/headwater', import.meta.url), 'utf8');
const heapFlags = (/^heap='(.*)'$/m.exec(launcher)?.[1] ?? '').split(' ');

/** The text of one object without its name. */
type Body = (name: string) => string;

const entriesOf = (many: number): Record<string, object> =>
  Object.fromEntries(
    Array.from({ length: many }, (_, index) => [
      `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      { resource: 'eni-0123456789abcdef0' },
    ]),
  );

function bodyOf(spec: object, status: object = {}): Body {
  const eni = { 'vpc-id': 'vpc-1', 'instance-type': 'm5.large', 'availability-zone': 'a' };
  const rest = JSON.stringify({ spec: { 'instance-id': 'i-1', eni, ...spec }, status }).slice(1);
  return (name) => `{"metadata":{"name":"${name}","uid":"uid-${name}","resourceVersion":"1"},${rest}`;
}

/** An API server with this many CiliumNodes, each created on request. */
function serve(body: Body) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://localhost');
    if (url.searchParams.has('watch')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      return;
    }
    if (!url.pathname.endsWith('/ciliumnodes')) {
      json(response, 200, { metadata: { resourceVersion: '1' }, items: [] });
      return;
    }
    const from = Number(url.searchParams.get('continue') ?? 0);
    const to = Math.min(count, from + Number(url.searchParams.get('limit') ?? count));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"metadata":{"resourceVersion":"1","continue":"${to < count ? to : ''}"},"items":[`);
    for (let index = from; index < to; index++)
      response.write(`${index > from ? ',' : ''}${body(`node-${index}`)}`);
    response.end(']}');
  };
}

async function read(body: Body): Promise<{ node?: number; unreadable?: number; peak: number }> {
  server = await loopbackServer(serve(body));
  const program = fileURLToPath(new URL('../../support/cache-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', ...heapFlags, program, server.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  await server.close();
  return JSON.parse(text) as { peak: number };
}

const long = 'x'.repeat(1_000_000);

describe('CiliumNodes of a megabyte each', () => {
  test('take less than twice the memory of ordinary ones, and are not read', async () => {
    const plain = await read(bodyOf({ ipam: { pool: entriesOf(30) } }));
    const pools = await read(bodyOf({ ipam: { pool: entriesOf(20_000) } }));
    const texts = await read(bodyOf({ ipam: { 'static-ip-tags': { long } } }));
    const mixed = await read(bodyOf({}, { eni: { enis: { 'eni-1': { description: long } } } }));

    // To see the figures of another count.
    if (process.env['OVERSIZED_NODES'] !== undefined)
      process.stdout.write(`${JSON.stringify({ plain, pools, texts, mixed })}\n`);
    expect(plain).toMatchObject({ node: count });
    for (const { peak, unreadable } of [pools, texts, mixed]) {
      expect(unreadable).toBe(count);
      expect(peak).toBeLessThan(2 * plain.peak);
    }
  }, 120_000);
});
