import { describe, expect, test } from '@jest/globals';
import { bookmark, event, isWatch, listOf, query, rig, serve, thing } from '../reflector-rig.ts';
import { LineFeed, type Said, type Script, type Server, status, unreachable } from '../scripted-transport.ts';

describe('a reflector whose list is empty', () => {
  const full = listOf(10, thing('a', 4, 'red'), thing('b', 9, 'blue'));
  const nothing = listOf(40);
  const expired = status(410, 'too old resource version');
  const verifying = { verifyEmptyLists: true };

  test.each<[string, object, readonly string[]]>([
    [
      'keeps what it knows until one shows more, of what a cluster always has',
      verifying,
      ['deleted b blue>blue'],
    ],
    [
      'believes it, of what may well be none',
      {},
      ['deleted a red>red', 'deleted b blue>blue', 'added a ->red'],
    ],
  ])('%s', async (_, options, expected) => {
    const lists = [full, nothing, nothing, listOf(50, thing('a', 4, 'red'))];
    // All watches after an accepted list break off, except the one after the last.
    const server: Server = (request) => {
      const isLast = query(request, 'resourceVersion') === '50';
      if (isWatch(request)) return isLast ? new LineFeed() : expired;
      return lists.shift() ?? full;
    };
    const { clock, changes } = rig(server, undefined, options);

    await clock.advance(60_000);

    expect(changes.slice(2)).toEqual(expected);
  });

  test('reports that, lists again, and accepts it after ten minutes', async () => {
    const stage = rig(serve([full, nothing], [expired, new LineFeed()]), undefined, verifying);

    await stage.clock.advance(590_000);
    const [early, state] = [[...stage.changes], stage.states.at(-1)];
    await stage.clock.advance(30_000);

    expect(early).toHaveLength(2);
    expect(state).toMatchObject({
      kind: 'backing-off',
      problem: 'the list of /things is empty, and 2 objects were there before',
    });
    expect(stage.changes.slice(2)).toEqual(['deleted a red>red', 'deleted b blue>blue']);
    expect(stage.transport.requests.length).toBeLessThan(200);
  });

  test('lets no caller catch up with it', async () => {
    const stage = rig(serve([full, nothing, full], [new LineFeed()]), undefined, verifying);
    await stage.clock.advance(100);
    let isCaughtUp = false;

    void stage.reflector.refresh().then(() => (isCaughtUp = true));
    await stage.clock.advance(0);
    const early = isCaughtUp;
    await stage.clock.advance(10_000);

    expect([early, isCaughtUp]).toEqual([false, true]);
    expect(stage.changes).toHaveLength(2);
  });

  test('lists again at the end of a watch what that does not name, if it knew nothing before', async () => {
    const all = listOf(50, thing('a', 4, 'red'), thing('b', 9, 'blue'));
    const stage = rig(serve([nothing, all], [new LineFeed()]), undefined, verifying);

    await stage.clock.advance(60_000);

    expect(stage.changes).toEqual(['added a ->red', 'added b ->blue']);
    expect(stage.reflector.figures()).toMatchObject({ relists: 0 });
  });

  test('delays the first object of a watch until a list shows it with all others, if it knew nothing before', async () => {
    const first = new LineFeed().push(event('ADDED', thing('c', 41, 'green')));
    const all = listOf(50, thing('a', 4, 'red'), thing('b', 9, 'blue'), thing('c', 41, 'green'));
    const stage = rig(serve([nothing, all], [first, new LineFeed()]), undefined, verifying);

    await stage.clock.advance(100);

    expect(stage.changes).toEqual(['added a ->red', 'added b ->blue', 'added c ->green']);
    expect(stage.reflector.figures()).toMatchObject({ relists: 0 });
  });

  test('lists again at once when a watch names an object, whatever follows in the same chunk', async () => {
    const first = new LineFeed().push(event('ADDED', thing('a', 41, 'red')), bookmark(42));
    const stage = rig(
      serve([nothing, listOf(50, thing('a', 41, 'red'))], [first, new LineFeed()]),
      undefined,
      verifying,
    );

    await stage.clock.advance(5000);

    const versions = stage.transport.requests.map((request) => query(request, 'resourceVersion'));
    expect(versions).toEqual([null, '40', null, '50']);
    expect(stage.changes).toEqual(['added a ->red']);
  });
});

describe('a reflector after a failure', () => {
  test('restarts watches that end at once more and more rarely', async () => {
    const { clock, transport, states } = rig(serve([listOf(10)], [new LineFeed().end()]));

    await clock.advance(300_000);

    expect(transport.requests.filter(isWatch).length).toBeLessThan(60);
    expect(states.at(-1)?.kind).toBe('backing-off');
  });

  test.each([
    ['as an answer', status(410, 'too old resource version')],
    [
      'within the watch',
      new LineFeed().push(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' })),
    ],
  ])('lists again after 410 %s, and finds what vanished, appeared and changed', async (_how, expired) => {
    const { clock, transport, changes, reflector } = rig(
      serve(
        [
          listOf(10, thing('kept', 1, 'red'), thing('changed', 2, 'red'), thing('vanished', 3, 'red')),
          listOf(40, thing('kept', 1, 'red'), thing('changed', 35, 'blue'), thing('appeared', 36, 'green')),
        ],
        [expired, new LineFeed()],
      ),
    );

    await clock.advance(5000);

    expect(changes.slice(3)).toEqual([
      'deleted vanished red>red',
      'modified changed red>blue',
      'added appeared ->green',
    ]);
    expect(query(transport.requests.at(-1), 'resourceVersion')).toBe('40');
    expect(reflector.figures().relists).toBe(1);
  });

  test('logs another error within the watch, waits, and continues from the last version', async () => {
    const failing = new LineFeed().push(
      event('ADDED', thing('a', 11, 'red')),
      event('ERROR', { kind: 'Status', code: 500, message: 'etcd is away' }),
      event('ADDED', thing('never', 12, 'red')),
    );
    const { clock, transport, states, changes } = rig(serve([listOf(10)], [failing, new LineFeed()]));

    await clock.advance(2000);

    expect(changes).toEqual(['added a ->red']);
    expect(states.map(({ kind }) => kind)).toEqual(['listing', 'watching', 'backing-off', 'watching']);
    expect(states[2]).toMatchObject({ problem: 'etcd is away' });
    expect(query(transport.requests.at(-1), 'resourceVersion')).toBe('11');
  });

  test.each<[string, Script]>([
    ['a broken connection', unreachable()],
    ['500', status(500, 'oops')],
    ['503', status(503, 'shutting down')],
    ['429', status(429, 'slow down')],
    ['a page that is not JSON', { status: 200, body: '<html>proxy</html>' }],
  ])('retries a list after %s with growing waits, and never gives up', async (_what, failure) => {
    const { clock, transport, states, reflector, bugs } = rig(
      serve(
        [failure, failure, failure, failure, failure, failure, listOf(3, thing('a', 1, 'red'))],
        [new LineFeed()],
      ),
    );

    await clock.advance(5000);
    const early = transport.requests.length;
    await clock.advance(120_000);

    expect(early).toBeLessThan(6);
    expect(states.filter(({ kind }) => kind === 'backing-off')).toHaveLength(6);
    expect([...reflector.objects.keys()]).toEqual(['a']);
    expect(bugs).toEqual([]);
  });

  test('leaves a server alone that asks for it, for lists and watches', async () => {
    const busy: Script = { status: 429, retryAfterMs: 60_000 };
    const { clock, transport } = rig(serve([busy, listOf(3)], [busy, new LineFeed()]));

    await clock.advance(59_999);
    const whileListBusy = transport.requests.length;
    await clock.advance(60_000);
    const whileWatchBusy = transport.requests.length;
    await clock.advance(31_000);

    expect([whileListBusy, whileWatchBusy, transport.requests.length]).toEqual([1, 3, 4]);
  });

  test('returns as soon as a busy server allows, however often it was refused', async () => {
    const busy: Script = { status: 429, retryAfterMs: 1000 };
    const { clock, transport } = rig(
      serve(
        Array.from({ length: 100 }, () => busy),
        [new LineFeed()],
      ),
    );

    await clock.advance(50_000);

    expect(transport.requests.length).toBeGreaterThanOrEqual(40);
    expect(transport.requests.length).toBeLessThanOrEqual(51);
  });

  test.each([
    [403, /^no$/],
    [404, /^the cluster does not serve \/things: install Cilium, which registers it \(no\)$/],
  ])('reports %i as denied and tries again about every 30 s', async (code, problem) => {
    const { clock, transport, states, reflector } = rig(
      serve(
        [status(code, 'no'), status(code, 'no'), status(code, 'no'), listOf(3, thing('a', 1, 'red'))],
        [new LineFeed()],
      ),
    );

    await clock.advance(20_000);

    expect(transport.requests).toHaveLength(1);
    expect(states.at(-1)).toMatchObject({ kind: 'denied', problem: expect.stringMatching(problem) });
    await clock.advance(85_000);
    expect(reflector.resourceVersion).toBe('3');
    expect(states.at(-1)?.kind).toBe('watching');
  });

  test('reports refused credentials as denied too, and tries again with growing waits', async () => {
    const { clock, states, transport, reflector } = rig(
      serve([status(401, 'no'), status(401, 'no'), listOf(3)], [status(401, 'no'), new LineFeed()]),
    );

    await clock.advance(0);
    const first = states.at(-1);
    await clock.advance(6000);

    expect(first).toMatchObject({ kind: 'denied', problem: 'no' });
    expect(transport.requests.map(isWatch)).toEqual([false, false, false, true, true]);
    expect(reflector.figures().state.kind).toBe('watching');
  });

  test('keeps the objects after a denied watch, and continues from the same version', async () => {
    const { clock, transport, reflector } = rig(
      serve([listOf(10, thing('a', 1, 'red'))], [status(403, 'no'), new LineFeed()]),
    );

    await clock.advance(40_000);

    expect([...reflector.objects.keys()]).toEqual(['a']);
    expect(transport.requests.map(isWatch)).toEqual([false, true, true]);
  });

  test('no longer trusts the version after five errors in a row in place of a watch', async () => {
    const refused = status(504, 'too large resource version');
    const { clock, transport } = rig(
      serve([listOf(10), listOf(4)], [refused, refused, refused, refused, refused, new LineFeed()]),
    );

    await clock.advance(30_000);

    expect(transport.requests.map((request) => (isWatch(request) ? 'watch' : 'list')).join(' ')).toBe(
      'list watch watch watch watch watch list watch',
    );
    expect(query(transport.requests.at(-1), 'resourceVersion')).toBe('4');
  });

  test('does not list again for connections that fail, however many', async () => {
    const { clock, transport } = rig(
      serve([listOf(10)], [...Array.from({ length: 12 }, () => unreachable()), new LineFeed()]),
    );

    await clock.advance(320_000);

    expect(transport.requests.filter((request) => !isWatch(request))).toHaveLength(1);
    expect(transport.requests.filter(isWatch).length).toBeGreaterThan(12);
  });

  test('ends a connection on which nothing arrives, not even its end', async () => {
    const dead = new LineFeed().endless().push(bookmark(15));
    const { clock, transport, states, reflector } = rig(serve([listOf(10)], [dead, new LineFeed()]));

    await clock.advance(10);
    const seconds = Number(query(transport.requests[1], 'timeoutSeconds'));
    await clock.advance(seconds * 1000 + 4000);
    const before = transport.requests.length;
    await clock.advance(2000);

    expect(before).toBe(2);
    expect(query(transport.requests[2], 'resourceVersion')).toBe('15');
    expect(states.find(({ kind }) => kind === 'backing-off')).toMatchObject({
      problem: expect.stringContaining('the watch sent nothing'),
    });
    expect(reflector.figures().watchRestarts).toBe(1);
  });

  test('says that it hears nothing as soon as the end of its watch is overdue, until another one is open', async () => {
    const dead = new LineFeed().endless();
    const { clock, transport, reflector } = rig(serve([listOf(10)], [new LineFeed(), dead, new LineFeed()]));

    await clock.advance(10);
    const first = Number(query(transport.requests[1], 'timeoutSeconds')) * 1000;
    await clock.advance(first);
    const second = Number(query(transport.requests[2], 'timeoutSeconds')) * 1000;
    await clock.advance(second);
    const inTime = reflector.silence();
    await clock.advance(2000);
    const overdue = reflector.silence();
    await clock.advance(5000);

    expect(inTime).toBeUndefined();
    expect(overdue).toBeGreaterThan(second);
    expect(transport.requests).toHaveLength(4);
    expect(reflector.silence()).toBeUndefined();
  });

  test('says that it hears nothing while no watch can be opened, except for a lack of access', async () => {
    const { clock, reflector } = rig(serve([listOf(10)], [unreachable()]));
    const { clock: other, reflector: denied } = rig(serve([listOf(10)], [status(403, 'no')]));

    await clock.advance(60_000);
    await other.advance(60_000);

    expect(reflector.silence()).toBeGreaterThan(55_000);
    expect(denied.silence()).toBeUndefined();
  });

  test('keeps a quiet watch alive by its bookmarks', async () => {
    const feed = new LineFeed().endless();
    const { clock, transport } = rig(serve([listOf(10)], [feed, new LineFeed()]));

    for (let count = 0; count < 90; count++) {
      feed.push(bookmark(11 + count));
      await clock.advance(20_000);
    }

    expect(transport.requests).toHaveLength(2);
  });

  test('ends the watch at a line that is no JSON or no event, and continues before it', async () => {
    const { clock, transport, states } = rig(
      serve(
        [listOf(10)],
        [
          new LineFeed().push(bookmark(12), '{"type":"ADDED","obj'),
          new LineFeed().push({ type: 'HELLO' }),
          new LineFeed(),
        ],
      ),
    );

    await clock.advance(10_000);

    expect(transport.requests.slice(2).map((request) => query(request, 'resourceVersion'))).toEqual([
      '12',
      '12',
    ]);
    expect(states.filter(({ kind }) => kind === 'backing-off')).toHaveLength(2);
  });

  test('reports what a handler throws, and handles the next change', async () => {
    const feed = new LineFeed().push(event('ADDED', thing('b', 12, 'red')));
    const { clock, changes, bugs } = rig(serve([listOf(10, thing('a', 9, 'red'))], [feed]), () => {
      throw new Error('handler');
    });

    await clock.advance(10);

    expect(changes).toEqual(['added a ->red', 'added b ->red']);
    expect(bugs).toHaveLength(2);
  });

  test('reports what a transform throws and leaves the object as it was, in a list too', async () => {
    const { clock, reflector, bugs, changes } = rig(
      serve(
        [listOf(10, thing('a', 9, 'red')), listOf(20, thing('a', 15))],
        [
          new LineFeed().push(event('MODIFIED', thing('a', 11))).push(event('ERROR', { code: 410 })),
          new LineFeed(),
        ],
      ),
    );

    await clock.advance(5000);

    expect(changes).toEqual(['added a ->red']);
    expect([...reflector.objects]).toEqual([['a', 'red']]);
    expect(bugs).toHaveLength(2);
  });
});

describe('a reflector that lists again, and is answered with what is no page of a list', () => {
  const metadata = { resourceVersion: '40' };
  const first: Said = {
    status: 200,
    body: { metadata: { ...metadata, continue: 'x' }, items: [thing('a', 4, 'red')] },
  };

  test.each<[string, readonly unknown[]]>([
    ['a first page without items', [{ metadata }]],
    ['a first page with an item that is no object', [{ metadata, items: [thing('a', 4, 'red'), null] }]],
    ['a second page that is empty JSON', [first.body, {}]],
    ['a second page that is a Status', [first.body, { kind: 'Status', status: 'Success' }]],
  ])('keeps what it knows after %s', async (_, bodies) => {
    const spoiled = bodies.map((body): Script => ({ status: 200, body }));
    const full = listOf(10, thing('a', 4, 'red'), thing('b', 9, 'blue'));
    const expired = status(410, 'too old resource version');
    const stage = rig(serve([full, ...spoiled, unreachable()], [expired, new LineFeed()]));

    await stage.clock.advance(60_000);

    expect(stage.changes.slice(2)).toEqual([]);
    expect(stage.states.at(-1)).toMatchObject({ kind: 'backing-off' });
  });
});
