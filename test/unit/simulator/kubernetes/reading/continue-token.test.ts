import { describe, expect, test } from '@jest/globals';
import {
  decodeContinue,
  encodeContinue,
} from '../../../../../src/simulator/kubernetes/reading/continue-token.ts';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('continue tokens', () => {
  test('are read as they were written', () => {
    const position = { revision: 42, after: 'default/pod-1' };

    expect(decodeContinue(encodeContinue(position))).toEqual(position);
    expect(encodeContinue(position)).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test.each([
    ['x', 'continue key is not valid: illegal base64 data at input byte 0'],
    ['ab!d', 'continue key is not valid: illegal base64 data at input byte 2'],
    ['abc', "continue key is not valid: invalid character 'i' looking for beginning of value"],
    [
      encoded({ v: 'other' }),
      'continue key is not valid: server does not recognize this encoded version other',
    ],
    [
      encoded({ v: 'meta.k8s.io/v1', start: 'a' }),
      'continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [
      encoded({ v: 'meta.k8s.io/v1', rv: 1 }),
      'continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
    ],
  ])('refuse %s', (token, message) => {
    expect(() => decodeContinue(token)).toThrow(`invalid continue token: ${message}`);
  });
});
