import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { bookmark, event, listOf, query, rig, serve, thing } from '../reflector-rig.ts';
import { LineFeed, type Script, type Server, status } from '../scripted-transport.ts';

describe('a reflector', () => {
  test('lists, then watches from there, and keeps what the transform leaves', async () => {
    const feed = new LineFeed();
    const { clock, transport, reflector, changes } = rig(
      serve([listOf(10, thing('a', 4, 'red'), thing('b', 9, 'blue'))], [feed]),
    );

    feed.push(
      event('MODIFIED', thing('a', 11, 'pink')),
      event('ADDED', thing('c', 12, 'green')),
      event('DELETED', thing('b', 13, 'blue')),
      bookmark(20),
    );
    await clock.advance(100);

    expect(changes).toEqual([
      'added a ->red',
      'added b ->blue',
      'modified a red>pink',
      'added c ->green',
      'deleted b blue>blue',
    ]);
    expect([...reflector.objects]).toEqual([
      ['a', 'pink'],
      ['c', 'green'],
    ]);
    expect(query(transport.requests[1], 'resourceVersion')).toBe('10');
    expect(query(transport.requests[1], 'allowWatchBookmarks')).toBe('true');
    expect(Number(query(transport.requests[1], 'timeoutSeconds'))).toBeGreaterThanOrEqual(25);
    expect(Number(query(transport.requests[1], 'timeoutSeconds'))).toBeLessThanOrEqual(35);
    expect(reflector.figures()).toMatchObject({ objects: 2, relists: 0, watchRestarts: 0, events: 3 });
  });

  test('is synced once the whole first list was delivered', async () => {
    const many = Array.from({ length: 120 }, (_, index) => thing(`t${index}`, index + 1, 'red'));
    const { clock, reflector, changes } = rig(serve([listOf(200, ...many)], [new LineFeed()]));
    const changesWhenSynced = reflector.synced.then(() => changes.length);

    expect(reflector.resourceVersion).toBeUndefined();
    await clock.advance(100);

    expect(await changesWhenSynced).toBe(120);
    expect(reflector.resourceVersion).toBe('200');
  });

  test('reads a small page first, then full pages, and the version of the first page counts', async () => {
    const page = (version: number, next: string, ...items: readonly JsonObject[]): Script => ({
      status: 200,
      body: { metadata: { resourceVersion: String(version), continue: next }, items },
    });
    const { clock, transport, reflector } = rig(
      serve(
        [
          page(50, 'x/2', thing('a', 1, 'red')),
          page(51, 'x/3', thing('b', 2, 'red')),
          page(51, '', thing('c', 3, 'red')),
        ],
        [new LineFeed()],
      ),
    );

    await clock.advance(100);

    expect(transport.requests.slice(0, 3).map((request) => query(request, 'limit'))).toEqual([
      '50',
      '500',
      '500',
    ]);
    expect(transport.requests.slice(0, 3).map((request) => query(request, 'continue'))).toEqual([
      null,
      'x/2',
      'x/3',
    ]);
    expect(query(transport.requests[3], 'resourceVersion')).toBe('50');
    expect([...reflector.objects.keys()]).toEqual(['a', 'b', 'c']);
  });

  test('lists again when a continue token expires, in one piece in the end', async () => {
    const first: Script = {
      status: 200,
      body: { metadata: { resourceVersion: '5', continue: 'x' }, items: [thing('old', 1, 'red')] },
    };
    const { clock, transport, reflector, changes } = rig(
      serve(
        [first, status(410, 'expired'), first, status(410, 'expired'), listOf(9, thing('new', 8, 'red'))],
        [new LineFeed()],
      ),
    );

    await clock.advance(100);

    expect(transport.requests.slice(0, 5).map((request) => query(request, 'limit'))).toEqual([
      '50',
      '500',
      '50',
      '500',
      null,
    ]);
    expect(changes).toEqual(['added new ->red']);
    expect(reflector.figures().relists).toBe(0);
  });

  test('restarts at once a watch that the server ended, from the last version, bookmarks included', async () => {
    const first = new LineFeed().push(event('ADDED', thing('a', 11, 'red')), bookmark(30));
    const second = new LineFeed();
    const { clock, transport, changes, reflector } = rig(serve([listOf(10)], [first, second]));
    await clock.advance(20_000);

    first.end();
    await clock.advance(0);
    second.push(event('MODIFIED', thing('a', 31, 'blue')));
    await clock.advance(0);
    const early = reflector.figures().watchRestarts;
    await clock.advance(60_000);

    expect(query(transport.requests[2], 'resourceVersion')).toBe('30');
    expect(changes).toEqual(['added a ->red', 'modified a red>blue']);
    // The end of a watch at its time-out is no restart.
    expect([early, reflector.figures().watchRestarts]).toEqual([1, 1]);
  });

  test('compares versions that are no numbers for equality only', async () => {
    const feed = new LineFeed().push(
      event('MODIFIED', thing('a', 'v1', 'same')),
      event('MODIFIED', thing('a', 'v0', 'other')),
    );
    const { clock, changes } = rig(serve([listOf(10, thing('a', 'v1', 'red'))], [feed]));

    await clock.advance(10);

    expect(changes).toEqual(['added a ->red', 'modified a red>other']);
  });

  test.each<[string, Server]>([
    ['listing', () => 'silence'],
    ['watching', serve([listOf(10)], [new LineFeed()])],
    ['backing off', () => status(500, 'oops')],
    ['denied', () => status(403, 'no')],
  ])('stops at once while %s, and sends nothing more', async (_when, server) => {
    const { clock, transport, stop, reflector } = rig(server);
    await clock.advance(100);
    const before = transport.requests.length;

    await stop();
    await clock.advance(600_000);

    expect(reflector.figures().state).toEqual({ kind: 'stopped' });
    expect(transport.requests).toHaveLength(before);
  });

  test('keeps namespaced objects by namespace and name', async () => {
    const pod = { metadata: { namespace: 'n', name: 'p', resourceVersion: '1' }, spec: { color: 'red' } };
    const { clock, reflector } = rig(serve([listOf(10, pod)], [new LineFeed()]));

    await clock.advance(10);

    expect([...reflector.objects.keys()]).toEqual(['n/p']);
  });
});
