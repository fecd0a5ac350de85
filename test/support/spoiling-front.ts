// A server in front of an EC2 that forwards every request and returns the valid answer or a spoiled one.
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { sleep } from '../../src/runtime/clock.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { loopbackServer } from './loopback-server.ts';
import type { Delivery } from './spoiled-answers.ts';

const forEver = new AbortController().signal;

/** Undefined for the valid answer. */
export type Spoiling = (action: string, answer: string) => Delivery | undefined;

export interface SpoilingFront {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** `onDrip`: called with each piece of a drip. */
export async function startSpoilingFront(
  target: string,
  spoiling: Spoiling,
  onDrip: () => void = () => undefined,
): Promise<SpoilingFront> {
  const { url, close } = await loopbackServer((asked, response) => {
    void handOn(target, asked)
      .then(({ action, status, answer }) => {
        const delivery = status === 200 ? spoiling(action, answer) : undefined;
        return deliver(response, status, { delivery: delivery ?? { body: Buffer.from(answer) }, onDrip });
      })
      .catch(() => response.destroy());
  });
  return { url, close };
}

async function handOn(
  target: string,
  asked: IncomingMessage,
): Promise<{ readonly action: string; readonly status: number; readonly answer: string }> {
  const body = (await piecesOf(asked)).toString();
  const { method, headers, url: path = '/' } = asked;
  const onwards = request(new URL(path, target), { method, headers });
  onwards.end(body);
  const [answer] = (await once(onwards, 'response')) as [IncomingMessage];
  const action = new URLSearchParams(body).get('Action') ?? '';
  return { action, status: answer.statusCode ?? 500, answer: (await piecesOf(answer)).toString() };
}

async function piecesOf(message: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function deliver(
  response: ServerResponse,
  status: number,
  { delivery, onDrip }: { readonly delivery: Delivery; readonly onDrip: () => void },
): Promise<void> {
  const { body, headers = {}, how } = delivery;
  response.on('error', () => undefined);
  response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8', ...headers });
  if (how === undefined) response.end(body);
  else if (how === 'cut') response.write(body, () => response.destroy());
  else if (how === 'endless') await repeat(response, body);
  else await drip(response, body, onDrip);
}

async function repeat(response: ServerResponse, body: Buffer): Promise<void> {
  const closed = once(response, 'close');
  while (!response.destroyed) {
    if (!response.write(body)) await Promise.race([once(response, 'drain'), closed]);
  }
}

async function drip(response: ServerResponse, body: Buffer, onDrip: () => void): Promise<void> {
  for (let at = 0; !response.destroyed; at++) {
    response.write(body.subarray(at % body.length, (at % body.length) + 1));
    onDrip();
    await sleep(systemClock, 10, forEver);
  }
}
