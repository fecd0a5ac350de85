import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ConnectionDropped } from '../../../../src/simulator/kubernetes/faults/faults.ts';
import type { KubernetesHandler } from '../../../../src/simulator/kubernetes/exchange.ts';
import type { JsonObject } from '../../../../src/simulator/workload/json.ts';
import { textAt } from '../../../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../../../src/simulator/workload/kubernetes-client.ts';
import { watchObjects } from '../../../../src/simulator/workload/object-watch.ts';

/** An answer to one request: pieces make a watch that stays open unless `ends`. */
type Scripted =
  | { readonly status: number; readonly body: unknown }
  | { readonly pieces: readonly unknown[]; readonly ends?: boolean }
  | { readonly text: readonly string[]; readonly breaks: Error }
  | { readonly fails: Error };

interface Rig {
  readonly clock: VirtualClock;
  readonly requests: readonly string[];
  readonly seen: readonly string[];
  readonly stop: () => void;
}

function named(name: string, version: string): JsonObject {
  return { metadata: { name, resourceVersion: version } };
}

function listOf(version: string, ...items: readonly JsonObject[]): Scripted {
  return { status: 200, body: { metadata: { resourceVersion: version }, items } };
}

function event(type: string, object: unknown): unknown {
  return { type, object };
}

function rig(script: readonly Scripted[], lag = 0): Rig {
  const clock = new VirtualClock();
  const requests: string[] = [];
  const seen: string[] = [];
  const stopping = new AbortController();
  const left = [...script];

  const handler: KubernetesHandler = (request, signal) => {
    const query = new URL(request.url, 'http://api').searchParams;
    const what = query.has('watch') ? `watch ${query.get('resourceVersion')}` : 'list';
    requests.push(`${clock.monotonic()} ${what}`);
    return answerWith(left.shift() ?? { pieces: [] }, signal);
  };

  const names = (object: JsonObject): string =>
    `${textAt(object, 'metadata', 'name')}:${textAt(object, 'metadata', 'resourceVersion')}`;
  watchObjects(
    {
      client: new KubernetesClient(handler, 'test'),
      path: '/things',
      fieldSelector: 'metadata.name=a',
      clock,
      random: new Random('watch'),
      lag,
    },
    {
      onList: (objects) => seen.push(`${clock.monotonic()} list ${objects.map(names).join(' ')}`),
      onChange: (object) => seen.push(`${clock.monotonic()} change ${names(object)}`),
      onDelete: (object) => seen.push(`${clock.monotonic()} delete ${names(object)}`),
      onTrouble: (reason) => seen.push(`${clock.monotonic()} trouble ${reason}`),
    },
    stopping.signal,
  ).catch((error: unknown) => seen.push(String(error)));
  return { clock, requests, seen, stop: () => stopping.abort(new Error('enough')) };
}

function answerWith(answer: Scripted, signal: AbortSignal): ReturnType<KubernetesHandler> {
  if ('fails' in answer) return Promise.reject(answer.fails);
  if ('status' in answer) {
    return Promise.resolve({ status: answer.status, headers: {}, body: JSON.stringify(answer.body) });
  }
  if ('text' in answer) {
    return Promise.resolve({ status: 200, headers: {}, body: brokenBody(answer.text, answer.breaks) });
  }
  const body = watchBody(answer.pieces, answer.ends ?? false, signal);
  return Promise.resolve({ status: 200, headers: {}, body });
}

async function* brokenBody(pieces: readonly string[], error: Error): AsyncGenerator<string> {
  for (const piece of pieces) yield await Promise.resolve(piece);
  throw error;
}

async function* watchBody(
  pieces: readonly unknown[],
  ends: boolean,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const piece of pieces) {
    const lines = Array.isArray(piece) ? piece : [piece];
    yield await Promise.resolve(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
  if (!ends) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

describe('watchObjects', () => {
  test('lists, then watches from the version of the list', async () => {
    const { clock, requests, seen, stop } = rig([
      listOf('5', named('a', '4')),
      {
        pieces: [
          event('MODIFIED', named('a', '6')),
          [event('DELETED', named('a', '7')), event('ADDED', named('a', '8'))],
        ],
      },
    ]);

    await clock.advance(10);
    stop();
    await clock.advance(10);

    expect(requests).toEqual(['0 list', '0 watch 5']);
    expect(seen).toEqual(['0 list a:4', '0 change a:6', '0 delete a:7', '0 change a:8', 'Error: enough']);
  });

  test.each<[string, Scripted, readonly string[]]>([
    ['a watch that ends', { pieces: [event('MODIFIED', named('a', '6'))], ends: true }, ['0 change a:6']],
    ['a bookmark', { pieces: [event('BOOKMARK', named('', '6'))], ends: true }, []],
  ])('continues after %s from the last version, with a delay', async (_, watch, events) => {
    const { clock, requests, seen } = rig([listOf('5'), watch]);

    await clock.advance(5_000);

    expect(requests).toEqual(['0 list', '0 watch 5', '1000 watch 6']);
    expect(seen).toEqual(['0 list ', ...events]);
  });

  test.each<[string, Scripted, string]>([
    ['refused', { status: 410, body: { reason: 'Expired', message: 'gone' } }, '410 Expired: gone'],
    [
      'ended by an event',
      { pieces: [event('ERROR', { code: 410, reason: 'Expired', message: 'gone' })] },
      '410 Expired: gone',
    ],
  ])('lists again when the version has expired: %s', async (_, watch, trouble) => {
    const { clock, requests, seen } = rig([listOf('5', named('a', '4')), watch, listOf('9')]);

    await clock.advance(5_000);

    expect(requests).toEqual(['0 list', '0 watch 5', '1000 list', '1000 watch 9']);
    expect(seen).toEqual(['0 list a:4', `0 trouble ${trouble}`, '1000 list ']);
  });

  test.each<[string, Scripted, string]>([
    [
      'a server error',
      { status: 500, body: { reason: 'InternalError', message: 'oh' } },
      '500 InternalError: oh',
    ],
    [
      'no answer',
      { fails: new ConnectionDropped() },
      '0 Unreachable: ConnectionDropped: the connection was dropped',
    ],
  ])('retries list and watch alike after %s', async (_, failure, trouble) => {
    const { clock, requests, seen } = rig([failure, listOf('5'), failure]);

    await clock.advance(5_000);

    expect(requests).toEqual(['0 list', '1000 list', '1000 watch 5', '2000 watch 5']);
    expect(seen).toEqual([`0 trouble ${trouble}`, '1000 list ', `1000 trouble ${trouble}`]);
  });

  test.each<[string, Scripted]>([
    ['before it answers', { fails: new TypeError('no function') }],
    ['in the middle of a stream', { text: [], breaks: new TypeError('no function') }],
  ])('does not treat a bug of the API as a broken connection: %s', async (_, answer) => {
    const { clock, seen } = rig([listOf('5'), answer]);

    await clock.advance(5_000);

    expect(seen).toEqual(['0 list ', 'TypeError: no function']);
  });

  test('loses nothing when a stream breaks in the middle of a line', async () => {
    const whole = `${JSON.stringify(event('MODIFIED', named('a', '6')))}\n`;
    const { clock, requests, seen } = rig([
      listOf('5'),
      { text: [whole.slice(0, 9), whole.slice(9), whole.slice(0, 20)], breaks: new ConnectionDropped() },
    ]);

    await clock.advance(5_000);

    expect(requests).toEqual(['0 list', '0 watch 5', '1000 watch 6']);
    expect(seen).toEqual([
      '0 list ',
      '0 change a:6',
      '0 trouble ConnectionDropped: the connection was dropped',
    ]);
  });

  test('delivers everything late but in order when there is a lag, and nothing after the end', async () => {
    const events = Array.from({ length: 20 }, (_, index) => event('MODIFIED', named('a', String(6 + index))));
    const { clock, seen, stop } = rig([listOf('5'), { pieces: events }], 100);

    await clock.advance(20);
    const early = seen.length;
    await clock.advance(100);
    stop();

    const versions = seen.filter((line) => line.includes('change')).map((line) => Number(line.split(':')[1]));
    expect(early).toBeLessThan(21);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => 6 + index));
  });
});
