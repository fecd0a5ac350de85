import { describe, expect, test } from '@jest/globals';
import { ask } from '../../../../src/kubernetes/transport/api-reply.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, status, unreachable } from '../scripted-transport.ts';

const never = new AbortController().signal;

describe('ask', () => {
  test.each<[string, Script, object]>([
    ['a success', { status: 200, body: { a: 1 } }, { kind: 'ok', object: { a: 1 }, size: 7 }],
    ['created', { status: 201, body: {} }, { kind: 'ok', object: {} }],
    ['401', status(401, 'Unauthorized'), { kind: 'denied', status: 401, message: 'Unauthorized' }],
    ['403', status(403, 'no'), { kind: 'denied', status: 403 }],
    ['404', status(404, 'no such'), { kind: 'gone', message: 'no such' }],
    ['409', status(409, 'changed'), { kind: 'conflict' }],
    ['410', status(410, 'old'), { kind: 'expired' }],
    [
      '422',
      status(422, 'bad', { causes: [{ field: 'spec.a' }, { message: 'no field' }] }),
      { kind: 'invalid', status: 422, fields: ['spec.a'] },
    ],
    [
      '400 without a body',
      { status: 400, body: '' },
      { kind: 'invalid', message: 'answered 400', fields: [] },
    ],
    ['429', { status: 429, retryAfterMs: 5000 }, { kind: 'unavailable', status: 429, retryAfterMs: 5000 }],
    [
      '429 that says it in the body',
      status(429, 'wait', { retryAfterSeconds: 3 }),
      { kind: 'unavailable', retryAfterMs: 3000 },
    ],
    ['500', status(500, 'oops'), { kind: 'unavailable', status: 500, message: 'oops' }],
    [
      '500 of an object that etcd finds too large',
      status(500, 'etcdserver: request is too large'),
      { kind: 'invalid', status: 500 },
    ],
    [
      '500 of an object that is too large to be sent to etcd',
      status(
        500,
        'rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)',
      ),
      { kind: 'invalid', status: 500 },
    ],
    [
      '502 of a proxy',
      { status: 502, body: '<html>Bad Gateway' },
      { kind: 'unavailable', message: '<html>Bad Gateway' },
    ],
    ['a redirect', { status: 302, body: 'elsewhere' }, { kind: 'unavailable', status: 302 }],
    ['a success that is no JSON', { status: 200, body: '<html>' }, { kind: 'unavailable', status: 200 }],
    ['a broken connection', unreachable(), { kind: 'unavailable', message: 'the connection broke' }],
  ])('classifies %s', async (_what, script, expected) => {
    const transport = new ScriptedTransport(new VirtualClock(), () => script);

    const reply = await ask(transport, { method: 'GET', path: '/x' }, never);

    expect(reply).toMatchObject(expected);
  });

  test('reports a missing answer within the time-out', async () => {
    const clock = new VirtualClock();
    const transport = new ScriptedTransport(clock, () => 'silence');

    const reply = ask(transport, { method: 'GET', path: '/x', timeoutMs: 5000 }, never);
    await clock.advance(5000);

    expect(await reply).toEqual({ kind: 'unavailable', message: 'no answer to /x within 5000 ms' });
  });

  test('throws an error that does not come from the transport, because it is a bug', async () => {
    const transport = new ScriptedTransport(new VirtualClock(), () => new TypeError('bug'));

    await expect(ask(transport, { method: 'GET', path: '/x' }, never)).rejects.toThrow('bug');
  });

  test('rejects with the reason of an abort', async () => {
    const controller = new AbortController();
    const transport = new ScriptedTransport(new VirtualClock(), () => 'silence');

    const reply = ask(transport, { method: 'GET', path: '/x' }, controller.signal);
    controller.abort(new Error('stop'));

    await expect(reply).rejects.toThrow('stop');
  });
});
