import { describe, expect, test } from '@jest/globals';
import {
  type InProcessHandler,
  type InProcessResponse,
  InProcessTransport,
} from '../../../support/in-process-transport.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import type { StreamAnswer, StreamLine } from '../../../../src/kubernetes/transport/transport.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const never = new AbortController().signal;

function answering(response: InProcessResponse): InProcessHandler {
  return () => Promise.resolve(response);
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<string, void> {
  for (const text of texts) yield await Promise.resolve(text);
}

async function* endless(): AsyncGenerator<string, void> {
  yield 'one\n';
  await new Promise<never>(() => undefined);
}

async function linesOf(answer: StreamAnswer): Promise<StreamLine[]> {
  if (answer.kind !== 'open') throw new Error('refused');
  const lines: StreamLine[] = [];
  for await (const line of answer.lines) lines.push(line);
  return lines;
}

describe('the in-process transport', () => {
  test('passes on method, path, body and content type, and returns the answer', async () => {
    const seen: unknown[] = [];
    const transport = new InProcessTransport((request) => {
      seen.push(request);
      return Promise.resolve({ status: 409, headers: { 'retry-after': '2' }, body: '{}' });
    }, new VirtualClock());

    const answer = await transport.send(
      { method: 'PATCH', path: '/a?b=c', contentType: 'application/merge-patch+json', body: '{"x":1}' },
      never,
    );

    expect(answer).toEqual({ status: 409, retryAfterMs: 2000, body: '{}' });
    expect(seen).toEqual([
      {
        method: 'PATCH',
        url: '/a?b=c',
        headers: {
          accept: 'application/json',
          'user-agent': 'headwater',
          'content-type': 'application/merge-patch+json',
        },
        body: '{"x":1}',
      },
    ]);
  });

  test('reads a body in pieces as one text, and as lines for a stream', async () => {
    const transport = new InProcessTransport(
      () => Promise.resolve({ status: 200, headers: {}, body: pieces('{"a":1}\n{"b"', ':2}\n') }),
      new VirtualClock(),
    );

    const whole = await transport.send({ method: 'GET', path: '/' }, never);
    const lines = await linesOf(await transport.stream({ method: 'GET', path: '/' }, never));

    expect(whole.body).toBe('{"a":1}\n{"b":2}\n');
    expect(lines).toEqual(['{"a":1}', '{"b":2}']);
  });

  test('passes the object of a body along, and encodes the body only for a reader of it', async () => {
    const value = Object.freeze({ a: 1 });
    let spelt = 0;
    const response = {
      status: 200,
      headers: { 'retry-after': '1' },
      value,
      get body() {
        spelt++;
        return '{"a":1}\n';
      },
    };
    const transport = new InProcessTransport(() => Promise.resolve(response), new VirtualClock());

    const answer = await transport.send({ method: 'GET', path: '/' }, never);

    expect([answer.status, answer.retryAfterMs, answer.value === value, spelt]).toEqual([200, 1000, true, 0]);
    expect([answer.body, spelt]).toEqual(['{"a":1}\n', 1]);
  });

  test('passes on events instead of the lines that encode them, and ends with their stream', async () => {
    async function* events(): AsyncGenerator<JsonObject, void> {
      for (const type of ['ADDED', 'MODIFIED']) yield await Promise.resolve({ type });
      throw new Error('cut');
    }
    const body = { events, [Symbol.asyncIterator]: () => pieces('not read\n') };
    const transport = new InProcessTransport(
      answering({ status: 200, headers: {}, body }),
      new VirtualClock(),
    );
    const answer = await transport.stream({ method: 'GET', path: '/' }, never);
    const lines: StreamLine[] = [];

    const reading = (async () => {
      if (answer.kind === 'open') for await (const line of answer.lines) lines.push(line);
    })();

    await expect(reading).rejects.toMatchObject({ code: 'KUBERNETES_UNREACHABLE' });
    expect(lines).toEqual([{ type: 'ADDED' }, { type: 'MODIFIED' }]);
  });

  test('returns the answer of a refused stream', async () => {
    const transport = new InProcessTransport(
      answering({ status: 410, headers: {}, body: 'gone' }),
      new VirtualClock(),
    );

    expect(await transport.stream({ method: 'GET', path: '/' }, never)).toEqual({
      kind: 'refused',
      answer: { status: 410, body: 'gone' },
    });
  });

  test('fails without an answer in time, for a stream too, and aborts the handler', async () => {
    const clock = new VirtualClock();
    const reported: boolean[] = [];
    const transport = new InProcessTransport((_request, signal) => {
      signal.addEventListener('abort', () => reported.push(true));
      return new Promise<never>(() => undefined);
    }, clock);
    const request = { method: 'GET', path: '/', timeoutMs: 1000 } as const;

    const outcomes = Promise.allSettled([transport.send(request, never), transport.stream(request, never)]);
    await clock.advance(1000);

    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'KUBERNETES_TIMEOUT' } });
    }
    expect(reported).toEqual([true, true]);
  });

  test('reports a handler that fails as a broken connection', async () => {
    const transport = new InProcessTransport(() => Promise.reject(new Error('crashed')), new VirtualClock());

    await expect(transport.send({ method: 'GET', path: '/' }, never)).rejects.toMatchObject({
      code: 'KUBERNETES_UNREACHABLE',
    });
  });

  test('ends a silent stream on abort, and aborts the handler', async () => {
    const controller = new AbortController();
    let handlerSignal = never;
    const transport = new InProcessTransport((_request, signal) => {
      handlerSignal = signal;
      return Promise.resolve({ status: 200, headers: {}, body: endless() });
    }, new VirtualClock());
    const reading = linesOf(await transport.stream({ method: 'GET', path: '/' }, controller.signal));

    controller.abort(new Error('enough'));

    await expect(reading).rejects.toThrow('enough');
    expect(handlerSignal.aborted).toBe(true);
  });

  test('ends the stream for its handler when the reader stops', async () => {
    let handlerSignal = never;
    const transport = new InProcessTransport((_request, signal) => {
      handlerSignal = signal;
      return Promise.resolve({ status: 200, headers: {}, body: endless() });
    }, new VirtualClock());
    const answer = await transport.stream({ method: 'GET', path: '/' }, never);
    if (answer.kind !== 'open') throw new Error('refused');

    for await (const line of answer.lines) if (line === 'one') break;

    expect(handlerSignal.aborted).toBe(true);
  });
});
