import { describe, expect, test } from '@jest/globals';
import { BodyReader, errorIn, isSameService } from '../../../../src/providers/azure/arm-answer.ts';
import type { ArmRequest } from '../../../../src/providers/azure/arm-api.ts';
import { remainingCalls, throttledLimit } from '../../../../src/providers/azure/limit-headers.ts';

const get: ArmRequest = {
  operation: 'Subnets.Get',
  method: 'GET',
  url: '/x',
  provider: 'network',
  subscriptionId: 's',
};
const put = { ...get, method: 'PUT' } as const;

function read(status: number, headers: Readonly<Record<string, string>>, body: string, request = get) {
  const reader = new BodyReader(request, { status, headers });
  reader.take(Buffer.from(body));
  return reader.end();
}

describe('an answer of ARM', () => {
  test('says where progress is shown, when to ask, and what the limits have left', () => {
    const answer = read(
      202,
      {
        'azure-asyncoperation': 'https://management.azure.com/operations/1',
        location: 'https://management.azure.com/results/1',
        'retry-after': '7',
        etag: '"header"',
        'x-ms-ratelimit-remaining-subscription-reads': '41',
        'x-ms-ratelimit-remaining-resource': 'Microsoft.Compute/X;3',
      },
      '',
    );

    expect(answer).toMatchObject({
      body: null,
      progressUrl: 'https://management.azure.com/operations/1',
      retryAfter: 7000,
      etag: '"header"',
    });
    expect(remainingCalls(get, answer.remaining)).toEqual({
      limit: { name: 'arm-reads', resource: 's' },
      count: 41,
    });
    expect(remainingCalls(put, answer.remaining)).toBeUndefined();
  });

  test('that is no JSON is unreadable', () => {
    expect(() => read(200, {}, '<html>')).toThrow('the answer is no JSON');
  });

  test.each([
    ['of a model names its own state first', '{"etag":"\\"body\\""}', '"body"'],
    ['without a state in it has that of its header', '{}', '"header"'],
  ])('%s', (_, body, etag) => {
    expect(read(200, { etag: '"header"' }, body).etag).toBe(etag);
  });

  test.each([
    [{ error: { code: 'A', message: 'b' } }, 'A', 'b'],
    [{ code: 'A', message: 'b' }, 'A', 'b'],
    [
      { error: { code: 'Conflict', message: 'b', details: [{ code: 'SubnetIsFull', message: 'c' }] } },
      'SubnetIsFull',
      'b c',
    ],
    [{ error: { code: 'A', message: 'b', details: [{ code: 'C' }] } }, 'A', 'b'],
    [{ status: 'Failed', error: { code: 'A', message: 'b' } }, 'A', 'b'],
    ['<html>', 'HTTP502', 'the answer has status 502'],
    [null, 'HTTP502', 'the answer has status 502'],
  ])('with the error %j has code %s', (body, code, message) => {
    const content = typeof body === 'string' ? body : JSON.stringify(body);

    expect(errorIn(content, 502)).toEqual({ code, message });
  });

  test.each([
    [429, 'refused'],
    [409, 'refused'],
    [500, 'noAnswer'],
    [503, 'noAnswer'],
  ])('with status %d is %s', (status, result) => {
    expect(() => read(status, {}, '{}')).toThrow(expect.objectContaining({ result, status }));
  });
});

describe('a throttled answer', () => {
  test.each([
    ['SubscriptionRequestsThrottled', new Map(), { name: 'arm-reads', resource: 's' }],
    ['TooManyRequests', new Map([['subscription-reads', 0]]), { name: 'arm-reads', resource: 's' }],
    ['TooManyRequests', new Map([['subscription-reads', 12]]), undefined],
    ['TooManyRequests', new Map(), undefined],
  ])('with %s and %j left blames %j', (code, remaining, limit) => {
    expect(throttledLimit(get, { code, remaining })).toEqual(limit);
  });
});

describe('a URL in an answer', () => {
  test.each([
    ['https://management.azure.com/next', true],
    ['https://westeurope.management.azure.com/next', true],
    ['https://management.azure.com.example/next', false],
    ['https://evilmanagement.azure.com/next', false],
    ['http://management.azure.com/next', false],
    ['https://management.azure.com:444/next', false],
    ['next', false],
  ])('%s leads to the same service: %s', (url, isSame) => {
    expect(isSameService(url, 'https://management.azure.com')).toBe(isSame);
  });
});
