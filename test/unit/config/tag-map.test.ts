import { describe, expect, test } from '@jest/globals';
import { parseTags } from '../../../src/config/tag-map.ts';

describe('parseTags', () => {
  test.each([
    ['a=1', { a: '1' }],
    ['a=1,b=2', { a: '1', b: '2' }],
    [' a = 1 , b = 2 ', { a: '1', b: '2' }],
    ['a=1,', { a: '1' }],
    ['a=', { a: '' }],
    ['zones=x,y,team=net', { zones: 'x,y', team: 'net' }],
    ['type=4,15,15', { type: '4,15,15' }],
    ['token=dGVzdA==', { token: 'dGVzdA==' }],
    ['kubernetes.io/cluster/prod=owned', { 'kubernetes.io/cluster/prod': 'owned' }],
    ['{}', {}],
    ['{"a": "1", "b": ""}', { a: '1', b: '' }],
    ['{"a,b": "c=d"}', { 'a,b': 'c=d' }],
  ])('%s', (text, expected) => {
    expect(parseTags(text)).toEqual(expected);
  });

  test.each([
    'a',
    'a,b=1',
    '=1',
    ',=1',
    'a=1,=2',
    '{"a": 1}',
    '{"a": null}',
    '{"": "x"}',
    '{"a"',
    '["a=b"]',
    '[]',
  ])('refuses %j', (text) => {
    expect(parseTags(text)).toBeUndefined();
  });

  test('a key that objects know already is a key as any other', () => {
    expect(Object.entries(parseTags('__proto__=x,constructor=y') ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});
