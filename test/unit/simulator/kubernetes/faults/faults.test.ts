import { describe, expect, test } from '@jest/globals';
import { ConnectionDropped } from '../../../../../src/simulator/kubernetes/faults/faults.ts';
import { refusalWith } from '../../../../../src/simulator/kubernetes/faults/refusals.ts';
import { ciliumNode, ciliumNodes, inShort, rig } from '../model-rig.ts';

describe('faults of the API server', () => {
  test('refuse the next requests that match', async () => {
    const { model, send } = rig();
    model.faults.inject({
      method: 'POST',
      path: /ciliumnodes$/,
      times: 2,
      effect: { kind: 'refuse', failure: refusalWith(429, { retryAfterSeconds: 7 }) },
    });

    const list = await send('GET', ciliumNodes);
    const first = await send('POST', ciliumNodes, ciliumNode('a'));
    const second = await send('POST', ciliumNodes, ciliumNode('a'));
    const third = await send('POST', ciliumNodes, ciliumNode('a'));

    expect([list.status, first.status, second.status, third.status]).toEqual([200, 429, 429, 201]);
    expect(first.headers['retry-after']).toBe('7');
    expect(first.body).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 7 },
    });
    expect(model.faults.rules()).toEqual([]);
  });

  test.each([
    ['dropBefore', undefined],
    ['dropAfter', 'a'],
  ] as const)('lose the answer with %s', async (kind, name) => {
    const { model, send } = rig();
    model.faults.inject({ method: 'POST', effect: { kind } });

    await expect(send('POST', ciliumNodes, ciliumNode('a'))).rejects.toThrow(ConnectionDropped);

    expect(model.get('ciliumnodes.cilium.io', 'a')?.metadata.name).toBe(name);
  });

  test('delay a request, and end it when its client goes', async () => {
    const { clock, model, send } = rig();
    model.faults.inject({ times: 2, effect: { kind: 'delay', ms: 500 } });
    let answered = false;
    const waiting = send('GET', ciliumNodes).then(() => {
      answered = true;
    });

    await clock.advance(499);
    const early = answered;
    await clock.advance(1);
    await waiting;
    const gone = new AbortController();
    const given = model.handle({ method: 'GET', url: ciliumNodes, headers: {} }, gone.signal);
    gone.abort();

    expect(early).toBe(false);
    await expect(given).rejects.toThrow(ConnectionDropped);
  });

  test('strike in the order of their injection until they are removed', async () => {
    const { model, send } = rig();
    const takeBack = model.faults.inject({
      times: Infinity,
      effect: { kind: 'refuse', failure: refusalWith(503) },
    });
    model.faults.inject({ effect: { kind: 'refuse', failure: refusalWith(500) } });

    const struck = await send('GET', ciliumNodes);
    takeBack();
    const next = await send('GET', ciliumNodes);
    model.faults.clear();
    const last = await send('GET', ciliumNodes);

    expect([struck.status, next.status, last.status]).toEqual([503, 500, 200]);
  });

  test('delay and double what a watch shows, in order', async () => {
    const { clock, model, send, watch } = rig();
    const seen = await watch(ciliumNodes);
    model.faults.inject({ path: /watch=1/, times: 2, effect: { kind: 'delayEvents', ms: 1000 } });
    model.faults.inject({ path: /watch=1/, effect: { kind: 'duplicateEvents' } });

    await send('POST', ciliumNodes, ciliumNode('a'));
    await send('POST', ciliumNodes, ciliumNode('b'));
    await send('POST', ciliumNodes, ciliumNode('c'));
    await clock.advance(999);
    const early = [...seen.events];
    await clock.advance(1);

    expect(early).toEqual([]);
    expect(inShort(seen.events)).toEqual(['ADDED a', 'ADDED a', 'ADDED b', 'ADDED c']);
  });

  test('empty the answer of a list, and leave watches as they are', async () => {
    const { clock, model, send, watch } = rig();
    await send('POST', ciliumNodes, ciliumNode('a'));
    model.faults.inject({ effect: { kind: 'emptyList' } });
    const seen = await watch(ciliumNodes);
    await send('POST', ciliumNodes, ciliumNode('b'));

    const empty = await send('GET', ciliumNodes);
    const full = await send('GET', ciliumNodes);
    await clock.advance(0);

    expect(empty).toMatchObject({ status: 200, body: { ...full.body, items: [] } });
    expect(full.body.items).toHaveLength(2);
    expect(inShort(seen.events)).toContain('ADDED b');
  });

  test('cut a watch in the middle of a line', async () => {
    const { clock, model, send, watch } = rig();
    const cut = await watch(ciliumNodes);
    const other = await watch('/api/v1/nodes');
    await send('POST', ciliumNodes, ciliumNode('a'));

    const struck = model.faults.cutWatches(/ciliumnodes/);
    await clock.advance(0);

    expect(struck).toBe(1);
    expect(await cut.ended).toBeInstanceOf(ConnectionDropped);
    expect(cut.text()).toMatch(/^\{"type":"ADDED".*\n\{"type":"MODIFIED","object":\{"apiVer$/s);
    expect(model.openWatches).toBe(1);
    other.stop();
  });

  test('close watches that match', async () => {
    const { model, watch } = rig();
    const closed = await watch(ciliumNodes);
    await watch('/api/v1/nodes');

    expect(model.faults.closeWatches(/ciliumnodes/)).toBe(1);
    expect(await closed.ended).toBe('ended');
    expect(model.faults.closeWatches()).toBe(1);
  });
});
