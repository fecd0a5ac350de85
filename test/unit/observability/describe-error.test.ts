import { describe, expect, test } from '@jest/globals';
import { describeError } from '../../../src/observability/describe-error.ts';

describe('describeError', () => {
  test.each<[string, unknown, unknown]>([
    ['a value that is no error', 'text', { type: 'string', message: 'text' }],
    ['nothing', undefined, { type: 'undefined', message: 'undefined' }],
    [
      'a foreseen error: no stack, but its codes',
      Object.assign(new Error('cannot attach'), {
        code: 'ATTACH',
        kind: 'limitReached',
        details: { index: 3 },
      }),
      {
        type: 'Error',
        message: 'cannot attach',
        code: 'ATTACH',
        kind: 'limitReached',
        details: { index: 3 },
      },
    ],
    [
      'causes that are no errors',
      Object.assign(new Error('outer', { cause: 42 }), { kind: 'unknown' }),
      { type: 'Error', message: 'outer', kind: 'unknown', cause: { type: 'number', message: '42' } },
    ],
    [
      'several errors at once',
      Object.assign(new AggregateError([new Error('a'), new Error('b')], 'both'), { kind: 'unknown' }),
      {
        type: 'AggregateError',
        message: 'both',
        kind: 'unknown',
        errors: [
          { type: 'Error', message: 'a' },
          { type: 'Error', message: 'b' },
        ],
      },
    ],
  ])('describes %s', (_, error, expected) => {
    expect(describeError(error)).toEqual(expected);
  });

  test('shows where a bug happened, and does not repeat it in its causes', () => {
    const description = describeError(new TypeError('outer', { cause: new Error('inner') }));

    expect(description.stack).toContain('describe-error.test.ts');
    expect(description.cause).toEqual({ type: 'Error', message: 'inner' });
  });

  test('ends at a ring of causes', () => {
    const error = new Error('ring');
    error.cause = error;

    expect(JSON.stringify(describeError(error)).match(/"message":"ring"/g)).toHaveLength(9);
  });
});
