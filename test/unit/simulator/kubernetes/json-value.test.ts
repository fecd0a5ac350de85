import { describe, expect, test } from '@jest/globals';
import {
  deepFreeze,
  definedFields,
  type JsonValue,
  sameJson,
  textAt,
  valueAt,
  withoutFields,
} from '../../../../src/simulator/kubernetes/json-value.ts';

describe('sameJson', () => {
  test.each<[JsonValue, JsonValue, boolean]>([
    [1, 1, true],
    [1, '1', false],
    [null, null, true],
    [null, {}, false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, c: 2 }, { a: 1, b: 2 }, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [[], {}, false],
    [{ a: [{ b: null }] }, { a: [{ b: null }] }, true],
  ])('compares %j with %j: %s', (left, right, same) => {
    expect(sameJson(left, right)).toBe(same);
    expect(sameJson(right, left)).toBe(same);
  });
});

test('deepFreeze freezes every part of a value', () => {
  const value = { list: [{ deep: true }], text: 'x' };

  deepFreeze(value);

  expect(Object.isFrozen(value)).toBe(true);
  expect(Object.isFrozen(value.list)).toBe(true);
  expect(Object.isFrozen(value.list[0])).toBe(true);
});

test('a path is read without an error when a part of it is missing', () => {
  const value = { a: { b: 'text', list: [1] } };

  expect(valueAt(value, 'a', 'b')).toBe('text');
  expect(valueAt(value, 'a', 'b', 'c')).toBeUndefined();
  expect(valueAt(value, 'a', 'list', 'length')).toBeUndefined();
  expect(valueAt(value, 'toString')).toBeUndefined();
  expect(textAt(value, 'a', 'list')).toBe('');
});

test('a copy leaves the original as it is', () => {
  const value = { a: 1, b: 2 };

  expect(withoutFields(value, 'a')).toEqual({ b: 2 });
  expect(definedFields({ a: 1, b: undefined })).toEqual({ a: 1 });
  expect(value).toEqual({ a: 1, b: 2 });
});

test('a copy without some fields keeps a field that has the name of a prototype property', () => {
  const value = JSON.parse('{"__proto__": {"inherited": 1}, "a": 1}') as Record<string, JsonValue>;

  expect(JSON.stringify(withoutFields(value, 'a'))).toBe('{"__proto__":{"inherited":1}}');
});
