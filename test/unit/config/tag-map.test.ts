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
    ['team=net role=pods', { team: 'net', role: 'pods' }],
    ['  team=net   role=pods\nzones=x,y ', { team: 'net', role: 'pods', zones: 'x,y' }],
    ['a=1, b=2 c=3', { a: '1', b: '2', c: '3' }],
    ['Name=My Cluster', { Name: 'My Cluster' }],
    ['cost centre=42', { 'cost centre': '42' }],
    ['Name=My Cluster,team=net', { Name: 'My Cluster', team: 'net' }],
    ['kubernetes.io/cluster/prod=owned', { 'kubernetes.io/cluster/prod': 'owned' }],
    ['{}', {}],
    ['{"a": "1", "b": ""}', { a: '1', b: '' }],
    ['{"a,b": "c=d"}', { 'a,b': 'c=d' }],
  ])('reads %s', (text, expected) => {
    expect(parseTags(text)).toEqual(expected);
  });

  test.each([
    'a',
    'a,b=1',
    '=1',
    ',=1',
    'a=1,=2',
    // Ambiguous: either the value of Name contains a pair, or the list has a word that is no pair.
    'Name=My Cluster team=net',
    'team=net cost centre=42',
    'team=net =2',
    'a = 1 b = 2',
    '{"a": 1}',
    '{"a": null}',
    '{"": "x"}',
    '{"a"',
    '["a=b"]',
    '[]',
  ])('refuses %j', (text) => {
    expect(parseTags(text)).toBeUndefined();
  });

  test('accepts a key that is also a property of every object', () => {
    expect(Object.entries(parseTags('__proto__=x,constructor=y') ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});
