import { describe, expect, test } from '@jest/globals';
import { VersionedApi, versionInstead } from '../../../../src/providers/azure/api-versions.ts';
import type { ArmRequest } from '../../../../src/providers/azure/arm-api.ts';
import { publicIpPrefixes } from '../../../../src/providers/azure/requests.ts';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';

function refusal(code: string, message: string, result: 'refused' | 'noAnswer' = 'refused'): CallError {
  return new CallError({ result, code, message, status: 400 });
}

describe('the version after a refusal', () => {
  test.each([
    [
      'is the newest listed',
      "The supported api-versions are '2024-07-01,2025-01-01, 2024-11-01'.",
      '2025-01-01',
    ],
    ['is no preview', "The supported versions are '2024-07-01,2025-01-01-preview'.", '2024-07-01'],
    ['is none that is too old', "The supported api-versions are '2023-09-01,2024-03-01'.", undefined],
    ['is none without a list', "The api-version '2026-04-01' is invalid.", undefined],
    ['is none of a list that is no list', "The supported api-versions are 'all, none'.", undefined],
  ])('%s', (_, message, expected) => {
    expect(versionInstead(refusal('NoRegisteredProviderFound', message))).toBe(expected);
    expect(versionInstead(refusal('InvalidApiVersionParameter', message))).toBe(expected);
  });

  test.each([
    ['another refusal', refusal('Conflict', "The supported api-versions are '2025-01-01'.")],
    [
      'an answer that did not come',
      refusal('NoRegisteredProviderFound', "The supported api-versions are '2025-01-01'.", 'noAnswer'),
    ],
  ])('is none after %s', (_, error) => {
    expect(versionInstead(error)).toBeUndefined();
  });
});

test('a version that was refused is not tried again, and a refused one instead of it ends the request', async () => {
  const urls: string[] = [];
  let sent = 0;
  const api = new VersionedApi({
    send: ({ url }: ArmRequest, { onSend }) => {
      onSend();
      urls.push(url.replace(/.*=/, ''));
      return Promise.reject(
        refusal('NoRegisteredProviderFound', "The supported api-versions are '2025-01-01'."),
      );
    },
  });
  const request = publicIpPrefixes({ subscriptionId: 's', resourceGroup: 'g' });
  const sending = { signal: new AbortController().signal, onSend: () => void sent++ };

  const send = () => api.send(request, sending).catch((error: unknown) => (error as CallError).code);

  expect([await send(), await send()]).toEqual(['NoRegisteredProviderFound', 'NoRegisteredProviderFound']);
  expect(urls).toEqual(['2026-01-01', '2025-01-01', '2025-01-01']);
  // As the gate sees them.
  expect(sent).toBe(2);
});
