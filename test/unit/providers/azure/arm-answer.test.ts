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
const update = {
  ...get,
  operation: 'VirtualMachineScaleSetVMs.Update',
  method: 'PUT',
  provider: 'compute',
  resource: 'vm',
} as const satisfies ArmRequest;

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
    expect(remainingCalls(get, answer.remaining)).toEqual([
      { limit: { name: 'arm-reads', resource: 's' }, count: 41 },
      { limit: { name: 'network-reads', resource: 's' }, count: 3 },
    ]);
  });

  test.each<[string, string, readonly object[]]>([
    [
      'the subscription and of the VM',
      'Microsoft.Compute/UpdateVMScaleSetVMSubscription;1499,Microsoft.Compute/UpdateVMScaleSetVMResource;11',
      [
        { limit: { name: 'VirtualMachineScaleSetVMs.Update', resource: 's' }, count: 1499 },
        { limit: { name: 'VirtualMachineScaleSetVMs.Update-per-VM', resource: 'vm' }, count: 11 },
      ],
    ],
    [
      'groups of operations by time',
      'Microsoft.Compute/UpdateVMScaleSet3Min;7, Microsoft.Compute/UpdateVMScaleSet30Min;300',
      [
        { limit: { name: 'VirtualMachineScaleSetVMs.Update', resource: 's' }, count: 7 },
        { limit: { name: 'VirtualMachineScaleSetVMs.Update', resource: 's' }, count: 300 },
      ],
    ],
    ['nothing that is understood', 'many;left,Microsoft.Compute/X,Microsoft.Compute/Y;-1', []],
  ])('says of a change what the limits have left of %s', (_, header, expected) => {
    const { remaining } = read(200, { 'x-ms-ratelimit-remaining-resource': header }, '{}', update);

    expect(remainingCalls(update, remaining)).toEqual(expected);
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
    [
      {
        error: {
          code: 'RetryableError',
          message: 'b',
          details: [{ code: 'ReferencedResourceNotProvisioned', message: 'c' }],
        },
      },
      'ReferencedResourceNotProvisioned',
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

  test.each([
    ['ScaleSetVmUpdateResource', 'VirtualMachineScaleSetVMs.Update-per-VM', 'vm'],
    ['ScaleSetVmUpdateSubscription', 'VirtualMachineScaleSetVMs.Update', 's'],
    ['HighCostPut3Min', 'VirtualMachineScaleSetVMs.Update', 's'],
  ])('that names %s blames %s', (target, name, resource) => {
    const details = [{ code: 'TooManyRequests', target, message: '' }];
    const body = JSON.stringify({ error: { code: 'OperationNotAllowed', message: '', details } });

    expect(() => read(429, {}, body, update)).toThrow(expect.objectContaining({ limit: { name, resource } }));
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
