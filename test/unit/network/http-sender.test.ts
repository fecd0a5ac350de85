import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { HttpSender } from '../../../src/network/http-sender.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { loopbackServer } from '../../support/loopback-server.ts';

const ended: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

function sender(connections = 2, connectionTimeout = 5000): HttpSender {
  const made = new HttpSender({
    connections,
    connectionTimeout,
    clock: systemClock,
    proxyFor: () => undefined,
    onRoute: () => undefined,
  });
  ended.push(() => made.close());
  return made;
}

function request(url: string, change: { readonly signal?: AbortSignal } = {}) {
  return {
    url: new URL(url),
    method: 'PUT',
    headers: { 'x-a': 'b' },
    body: 'höher',
    signal: undefined,
    ...change,
  };
}

describe('an HTTP request of a cloud', () => {
  test('arrives with its headers and its body, whose length is in bytes', async () => {
    const server = await loopbackServer((message, response) => {
      void text(message).then((body) =>
        response.end(`${String(message.headers['x-a'])} ${message.headers['content-length'] ?? ''} ${body}`),
      );
    });
    ended.push(server.close);

    const { statusCode, body } = await sender().send(request(server.url));

    expect([statusCode, await text(body)]).toEqual([200, 'b 6 höher']);
  });

  test('uses a connection again', async () => {
    const server = await loopbackServer((_, response) => response.end('ok'));
    ended.push(server.close);
    const client = sender();

    for (let sent = 0; sent < 3; sent++) await text((await client.send(request(server.url))).body);

    expect(server.connections()).toBe(1);
  });

  test('ends with its signal', async () => {
    const server = await loopbackServer(() => undefined);
    ended.push(server.close);
    const stop = new AbortController();

    const answer = sender()
      .send(request(server.url, { signal: stop.signal }))
      .catch((error: unknown) => error);
    stop.abort();

    expect(await answer).toMatchObject({ name: 'AbortError' });
  });

  test.each<[string, string]>([
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['ends before its head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['is empty', ''],
  ])('fails if its answer %s', async (_, answer) => {
    const server: Server = createServer((socket) => {
      socket.once('data', () => socket.end(answer)).on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ended.push(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    const failure = await sender()
      .send(request(url))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringMatching(/./) });
  });

  test('fails if no connection is established in time', async () => {
    const accepted: Socket[] = [];
    const silent: Server = createServer((socket) => accepted.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    ended.push(() => {
      silent.close();
      for (const socket of accepted) socket.destroy();
    });
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;

    await expect(sender(1, 50).send(request(url))).rejects.toMatchObject({ code: 'NotConnected' });
  });
});
