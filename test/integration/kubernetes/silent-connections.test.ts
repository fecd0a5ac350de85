// Requests over connections that a relay has silenced: it acknowledges everything and passes nothing on.
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { type Listing, listAll } from '../../../src/kubernetes/watch/listing.ts';
import { watchOnce } from '../../../src/kubernetes/watch/watch-stream.ts';
import type { TransportAnswer, TransportRequest } from '../../../src/kubernetes/transport/transport.ts';
import { UndiciTransport } from '../../../src/kubernetes/transport/undici-transport.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { accessTo } from '../../support/cluster-access.ts';
import { type Answer, json, loopbackServer } from '../../support/loopback-server.ts';
import { type SilentRelay, startSilentRelay } from '../../support/silent-relay.ts';

const never = new AbortController().signal;
const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Stage {
  readonly clock: VirtualClock;
  readonly relay: SilentRelay;
  readonly transport: UndiciTransport;
  /** Requests that arrived at the server. */
  readonly arrived: string[];
  readonly send: (method: TransportRequest['method'], path: string) => Promise<TransportAnswer>;
}

async function stageWith(answer: Answer): Promise<Stage> {
  const arrived: string[] = [];
  const server = await loopbackServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  const relay = await startSilentRelay(server.url);
  const clock = new VirtualClock();
  const transport = new UndiciTransport({ access: accessTo(relay.url), clock });
  ended.push(server.close, relay.close, () => transport.close());
  const send: Stage['send'] = async (method, path) => {
    const answer = await transport.send({ method, path }, never);
    // A connection is used again from the next turn on.
    await turn();
    return answer;
  };
  return { clock, relay, transport, arrived, send };
}

const fine: Answer = (_request, response) => json(response, 200, {});

/** Waits for requests to arrive; each turn lets sockets work. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 1_000_000) throw new Error('it did not happen');
    await turn();
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('a request over a silent connection', () => {
  test.each<[TransportRequest['method']]>([['GET'], ['PUT']])(
    'is sent again over a new one after five seconds, where that is safe: %s',
    async (method) => {
      const { clock, relay, arrived, send } = await stageWith(fine);
      await send('GET', '/first');
      relay.silence('fromServer');

      const sent = send(method, '/second');
      await until(() => arrived.length === 2);
      await clock.advance(5000);

      expect((await sent).status).toBe(200);
      expect(arrived).toEqual(['GET /first', `${method} /second`, `${method} /second`]);
      expect(relay.connections()).toBeGreaterThan(1);
    },
  );

  test.each<[TransportRequest['method']]>([['PATCH'], ['POST']])(
    'is not sent again where that could do harm, and the next one uses a new connection: %s',
    async (method) => {
      const { clock, relay, arrived, send } = await stageWith(fine);
      await send('GET', '/first');
      await send('GET', '/second');
      relay.silence('fromServer');

      const sent = send(method, '/third').then(
        () => 'answered',
        (error: unknown) => error,
      );
      await until(() => arrived.length === 3);
      await clock.advance(30_000);

      expect(await sent).toMatchObject({ code: 'KUBERNETES_TIMEOUT' });
      expect((await send(method, '/fourth')).status).toBe(200);
      expect(arrived.slice(2)).toEqual([`${method} /third`, `${method} /fourth`]);
    },
  );

  test('is answered by the first one if that was only slow: a write that was carried out all along', async () => {
    const waiting: ServerResponse[] = [];
    const { clock, arrived, transport } = await stageWith((_request, response) => waiting.push(response));

    const sent = transport.send({ method: 'PUT', path: '/lease', timeoutMs: 10_000 }, never);
    await until(() => arrived.length === 1);
    await clock.advance(2500);
    await until(() => arrived.length === 2);
    json(waiting[0] as ServerResponse, 200, { first: true });

    expect(JSON.parse((await sent).body)).toEqual({ first: true });
  });

  test.each<[number]>([[35_000], [59_000]])(
    'may take as long as a list whose answer begins after %i ms, which is asked for once',
    async (wait) => {
      const waiting: ServerResponse[] = [];
      const { clock, arrived, transport } = await stageWith((_request, response) => waiting.push(response));
      let listed: Listing<unknown> | undefined;
      const read = (): undefined => undefined;

      void listAll({ transport, clock, path: '/apis/cilium.io/v2/ciliumnodes', read }, never).then(
        (listing) => {
          listed = listing;
        },
      );
      await until(() => waiting.length === 1);
      await clock.advance(wait);
      await turn();
      for (const response of waiting) json(response, 200, { metadata: { resourceVersion: '7' }, items: [] });
      await until(() => listed !== undefined);

      expect(listed).toMatchObject({ kind: 'listed', resourceVersion: '7' });
      expect(arrived).toHaveLength(1);
    },
  );

  test('is none of a list after a pause: that goes over a new one, with all its pages', async () => {
    const items = Array.from({ length: 3 }, (_, index) => ({ metadata: { name: `${index}` } }));
    const { clock, relay, arrived, transport, send } = await stageWith((request, response) => {
      const page = Number(new URL(request.url ?? '', 'http://any').searchParams.get('continue') ?? 0);
      const more = page < 2 ? { continue: String(page + 1) } : {};
      json(response, 200, { metadata: { resourceVersion: '7', ...more }, items: [items[page]] });
    });
    await send('GET', '/first');
    relay.silence('fromServer');
    await clock.advance(2000);
    const before = relay.connections();

    const read = (raw: object): undefined => void raw;
    const listed = listAll({ transport, clock, path: '/apis/cilium.io/v2/ciliumnodes', read }, never);
    let isListed = false;
    void listed.then(() => {
      isListed = true;
    });
    await until(() => arrived.length >= 4);
    await until(() => isListed);

    expect((await listed).kind).toBe('listed');
    expect(arrived).toHaveLength(4);
    expect(relay.connections()).toBeGreaterThan(before);
  });

  test('that begins a watch may take as long as the server waits for itself', async () => {
    const waiting: ServerResponse[] = [];
    const { clock, transport } = await stageWith((_request, response) => waiting.push(response));
    let isOpen = false;
    const options = {
      resourceVersion: '7',
      timeoutSeconds: 25,
      onOpen: () => {
        isOpen = true;
      },
      onEvent: () => undefined,
    };

    const end = watchOnce({ transport, clock, path: '/apis/cilium.io/v2/ciliumnodes' }, options, never);
    await until(() => waiting.length === 1);
    await clock.advance(45_000);
    await until(() => waiting.length === 2);
    for (const response of waiting) response.writeHead(200).flushHeaders();
    await until(() => isOpen);
    for (const response of waiting) response.end();

    expect((await end).kind).toBe('ended');
  });

  test('is repeated early enough when its own time-out is short, as for a Lease', async () => {
    const { clock, relay, arrived, transport, send } = await stageWith(fine);
    await send('GET', '/first');
    relay.silence('fromServer');

    const sent = transport.send({ method: 'PUT', path: '/lease', timeoutMs: 3000 }, never);
    await until(() => arrived.length === 2);
    await clock.advance(1500);

    expect((await sent).status).toBe(200);
  });

  test('that begins a watch is sent again over a new one', async () => {
    const { clock, relay, arrived, transport, send } = await stageWith((request, response) => {
      if (request.url === '/watch') response.writeHead(200).write('{}\n');
      else json(response, 200, {});
    });
    await send('GET', '/first');
    relay.silence('toServer');

    const sent = transport.stream({ method: 'GET', path: '/watch' }, never);
    await clock.advance(5000);

    expect((await sent).kind).toBe('open');
    expect(arrived).toEqual(['GET /first', 'GET /watch']);
  });

  test('is not repeated again and again to a server that is only slow', async () => {
    const waiting: ServerResponse[] = [];
    const { clock, arrived, send } = await stageWith((_request, response) => waiting.push(response));

    const first = send('GET', '/first');
    await until(() => arrived.length === 1);
    await clock.advance(5000);
    await until(() => arrived.length === 2);
    const second = send('GET', '/second');
    await until(() => arrived.length === 3);
    await clock.advance(9000);
    for (const response of waiting) json(response, 200, {});

    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(arrived).toEqual(['GET /first', 'GET /first', 'GET /second']);
  });
});
