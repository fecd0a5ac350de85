import { beforeAll, describe, expect, test } from '@jest/globals';
import { AwsApi, callErrorOf } from '../../../../src/providers/aws/aws-api.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';

function refusal(name: string, status: number | undefined, more: object = {}): object {
  const $metadata = { httpStatusCode: status, requestId: 'r-1' };
  return { name, message: `${name} was said`, $fault: 'client', $metadata, ...more };
}

function system(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code} happened`), { code, ...more });
}

describe('a request to AWS', () => {
  const handled: string[] = [];
  const api = new AwsApi({
    region: 'eu-central-1',
    endpoint: 'http://127.0.0.1:1',
    http: {
      connections: 1,
      clock: systemClock,
      connectionTimeout: 1000,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
    handler: {
      handle: ({ headers }: { headers: Record<string, string> }) => {
        handled.push(headers['authorization'] ?? 'unsigned');
        return Promise.reject(system('ECONNRESET'));
      },
    } as never,
  });
  const send = (onSend: () => void): Promise<unknown> =>
    api.send('DescribeSubnets', {}, { signal: new AbortController().signal, onSend });

  beforeAll(() => {
    process.env['AWS_ACCESS_KEY_ID'] = 'AKIAEXAMPLE00000';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
  });

  test('is checked last when it is signed and right before it is sent', async () => {
    const order: string[] = [];
    const sending = send(() => order.push(`look, handed over: ${handled.length}`));
    const atOnce = order.length;

    await expect(sending).rejects.toMatchObject({ code: 'ECONNRESET', result: 'noAnswer' });

    expect(atOnce).toBe(0);
    expect(order).toEqual(['look, handed over: 0']);
    expect(handled).toEqual([expect.stringMatching(/^AWS4-HMAC-SHA256 /)]);
  });

  test('is not sent when the check forbids it, and fails with the reason of the check', async () => {
    handled.length = 0;
    const forbidden = new Error('no longer allowed');

    await expect(
      send(() => {
        throw forbidden;
      }),
    ).rejects.toBe(forbidden);

    expect(handled).toEqual([]);
  });
});

describe('an error of the SDK', () => {
  test.each([
    ['a refusal', refusal('InvalidParameterValue', 400), 'refused', 'InvalidParameterValue'],
    [
      'a throttle, although it is a 503',
      refusal('RequestLimitExceeded', 503),
      'refused',
      'RequestLimitExceeded',
    ],
    ['a refusal of credentials', refusal('AuthFailure', 401), 'refused', 'AuthFailure'],
    ['an internal error', refusal('InternalError', 500), 'noAnswer', 'InternalError'],
    ['another 503', refusal('Unavailable', 503), 'noAnswer', 'Unavailable'],
    ['a throttle by another name behind a 503', refusal('SlowDown', 503), 'noAnswer', 'SlowDown'],
    ['an error without a status', refusal('Strange', undefined), 'noAnswer', 'Strange'],
    ['a page of a proxy', refusal('Unknown', 502, { message: 'UnknownError' }), 'noAnswer', 'Unknown'],
    ['no server listens', system('ECONNREFUSED'), 'notSent', 'ECONNREFUSED'],
    ['no such name', system('ENOTFOUND'), 'notSent', 'ENOTFOUND'],
    ['no such name for now', system('EAI_AGAIN'), 'notSent', 'EAI_AGAIN'],
    [
      'another host than it says',
      system('ERR_TLS_CERT_ALTNAME_INVALID'),
      'notSent',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'a certificate whose authority is nowhere',
      system('UNABLE_TO_GET_ISSUER_CERT'),
      'notSent',
      'UNABLE_TO_GET_ISSUER_CERT',
    ],
    [
      'several addresses at which no server listens',
      Object.assign(new AggregateError([system('ECONNREFUSED')], ''), { code: 'ECONNREFUSED' }),
      'notSent',
      'ECONNREFUSED',
    ],
    ['a connection that breaks', system('ECONNRESET'), 'noAnswer', 'ECONNRESET'],
    ['a pipe that breaks', system('EPIPE'), 'noAnswer', 'EPIPE'],
    ['our own time-out', { name: 'AbortError', message: 'Request aborted' }, 'noAnswer', 'AbortError'],
    [
      'a time-out of an answer',
      { name: 'TimeoutError', message: 'Connection timed out after 5 ms' },
      'noAnswer',
      'TimeoutError',
    ],
    [
      'a time-out of a connection',
      {
        name: 'TimeoutError',
        message:
          'the request socket did not establish a connection with the server within the configured timeout of 5000 ms.',
      },
      'notSent',
      'TimeoutError',
    ],
    [
      'no credentials',
      { name: 'CredentialsProviderError', message: 'Could not load credentials from any providers' },
      'notSent',
      'CredentialsProviderError',
    ],
    ['no region', new Error('Region is missing'), 'notSent', 'Error'],
    ['an answer that is no XML', new SyntaxError('bad'), 'noAnswer', 'SyntaxError'],
    ['a text', 'no', 'noAnswer', 'Error'],
    ['nothing', undefined, 'noAnswer', 'Error'],
  ])('is classified: %s', (_, thrown, result, code) => {
    const error = callErrorOf(thrown);

    expect({ result: error.result, code: error.code }).toEqual({ result, code });
    expect(error.cause).toBe(thrown);
  });

  test('is reported with its message, status and request id', () => {
    const error = callErrorOf(refusal('AuthFailure', 401));

    expect(error).toMatchObject({ message: 'AuthFailure was said', status: 401, requestId: 'r-1' });
  });

  test('is reported as completely as possible when its form is unknown', () => {
    expect([callErrorOf('no').message, callErrorOf(undefined).message]).toEqual(['no', 'undefined']);
  });
});

test('an error of a failing credential_process is reported without its arguments and output', () => {
  const error = Object.assign(new Error('Command failed: get --key planted\nplanted-stderr'), {
    name: 'CredentialsProviderError',
  });

  const known = callErrorOf(error);

  expect(known).toMatchObject({ code: 'CredentialsProviderError', result: 'notSent' });
  expect(JSON.stringify([known.message, known.stack, known.cause])).not.toContain('planted');
});
