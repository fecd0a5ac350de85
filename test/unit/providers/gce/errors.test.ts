import { expect, test } from '@jest/globals';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import { failureOf } from '../../../../src/providers/gce/errors.ts';

test.each([
  [
    'invalid_grant: Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.',
    'clock',
  ],
  ['invalid_grant: Invalid grant: account not found', 'invalid'],
])(
  'what the token service says of an assertion names the clock or the credentials: %s',
  (message, credentials) => {
    const error = new CallError({ result: 'refused', code: 'CredentialsError', message });

    expect(failureOf('instances.get', error)).toMatchObject({
      kind: 'notAuthorized',
      credentials,
      about: 'action',
    });
  },
);

test.each([
  ['backendError', 503, true],
  ['HTTP500', 500, true],
  ['HTTP503', 503, false],
  ['ECONNRESET', undefined, false],
])('%s with status %s is told as trouble inside the cloud where it is that', (code, status, isInside) => {
  const error = new CallError({ result: 'noAnswer', code, message: 'text', status });

  const { kind, remedy } = failureOf('instances.get', error);

  expect(kind).toBe('unreachable');
  expect(remedy?.startsWith('the cloud failed inside') ?? false).toBe(isInside);
});
