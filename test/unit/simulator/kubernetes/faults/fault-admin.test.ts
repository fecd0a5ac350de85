import { describe, expect, test } from '@jest/globals';
import { ciliumNodes, rig } from '../model-rig.ts';

describe('the admin endpoint /_headwater/', () => {
  test('injects, shows and removes rules', async () => {
    const { send } = rig();
    const rule = { method: 'get', path: 'ciliumnodes', times: 3, effect: { kind: 'refuse', code: 503 } };

    const injected = await send('POST', '/_headwater/faults', rule);
    const struck = await send('GET', ciliumNodes);
    const shown = await send('GET', '/_headwater/faults');
    await send('DELETE', '/_headwater/faults');
    const after = await send('GET', ciliumNodes);

    expect(injected.status).toBe(201);
    expect(struck).toMatchObject({ status: 503, body: { reason: 'ServiceUnavailable' } });
    expect(shown.body).toEqual({
      rules: [
        {
          method: 'GET',
          path: 'ciliumnodes',
          times: 2,
          effect: { kind: 'refuse', status: expect.objectContaining({ code: 503 }) as unknown },
        },
      ],
    });
    expect(after.status).toBe(200);
  });

  test.each([
    [{ kind: 'delay', ms: 5 }],
    [{ kind: 'delayEvents', ms: 5 }],
    [{ kind: 'dropBefore' }],
    [{ kind: 'dropAfter' }],
    [{ kind: 'duplicateEvents' }],
    [{ kind: 'emptyList' }],
  ])('accepts the effect %j', async (effect) => {
    const { model, send } = rig();

    await send('POST', '/_headwater/faults', { effect });

    expect(model.faults.rules()).toEqual([{ times: 1, effect }]);
  });

  test('closes and cuts watches, and expires history', async () => {
    const { model, send, watch } = rig();
    await watch(ciliumNodes);
    await watch('/api/v1/nodes');
    const from = model.revision;
    await send('POST', '/api/v1/nodes', { metadata: { name: 'n' } });

    const closed = await send('POST', '/_headwater/close-watches', { path: 'ciliumnodes' });
    const cut = await send('POST', '/_headwater/cut-watches');
    const forgotten = await send('POST', '/_headwater/expire-history');
    const late = await watch(`${ciliumNodes}?resourceVersion=${from}`);

    expect([closed.body, cut.body, forgotten.status]).toEqual([{ watches: 1 }, { watches: 1 }, 200]);
    expect(await late.ended).toBe('ended');
    expect(late.events).toMatchObject([{ type: 'ERROR' }]);
  });

  test('counts requests by client, method and resource, and resets the counts', async () => {
    const { send } = rig();
    const agent = { 'user-agent': 'agent' };
    await send('POST', '/api/v1/nodes', { metadata: { name: 'n' } }, agent);
    await send('PATCH', '/api/v1/nodes/n/status', {}, agent);
    await send('PATCH', '/api/v1/nodes/n/status', {}, agent);
    await send('PATCH', '/api/v1/nodes/n/status', {}, { 'user-agent': 'controller' });
    await send('GET', '/version');

    const counted = await send('GET', '/_headwater/requests');
    await send('DELETE', '/_headwater/requests');
    const after = await send('GET', '/_headwater/requests');

    expect(counted.body).toEqual({
      requests: [
        { userAgent: '', method: 'GET', resource: '/version', count: 1 },
        { userAgent: 'agent', method: 'PATCH', resource: 'nodes/status', count: 2 },
        { userAgent: 'agent', method: 'POST', resource: 'nodes', count: 1 },
        { userAgent: 'controller', method: 'PATCH', resource: 'nodes/status', count: 1 },
      ],
    });
    expect(after.body).toEqual({ requests: [] });
  });

  test('shows when each version was written', async () => {
    const { send, clock } = rig();
    const before = await send('GET', '/_headwater/versions');
    await clock.advance(1234);
    const written = await send('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
    await clock.advance(1000);

    const after = await send('GET', '/_headwater/versions');

    const { resourceVersion } = (written.body as { metadata: { resourceVersion: string } }).metadata;
    const known = (before.body as { versions: readonly unknown[] }).versions;
    expect(after.body).toEqual({ versions: [...known, { resourceVersion, at: 1234 }] });
  });

  test.each([
    ['POST', 'faults', { effect: { kind: 'bogus' } }, 400],
    ['POST', 'faults', { path: '(', effect: { kind: 'dropBefore' } }, 400],
    ['POST', 'faults', [], 400],
    ['GET', 'bogus', undefined, 404],
  ])('refuses %s %s %j', async (method, command, body, status) => {
    expect((await rig().send(method, `/_headwater/${command}`, body)).status).toBe(status);
  });
});
