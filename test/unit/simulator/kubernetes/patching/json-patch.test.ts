import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../../src/simulator/kubernetes/json-value.ts';
import { applyJsonPatch, jsonPatchOf } from '../../../../../src/simulator/kubernetes/patching/json-patch.ts';

const target: JsonObject = { a: { b: 1 }, list: [1, 2, 3], 'x/y~z': 'odd' };

const apply = (operations: JsonValue): JsonObject => applyJsonPatch(target, jsonPatchOf(operations));

describe('a JSON patch', () => {
  test.each<[JsonValue, JsonObject]>([
    [[{ op: 'add', path: '/c', value: 2 }], { ...target, c: 2 }],
    [[{ op: 'add', path: '/list/1', value: 9 }], { ...target, list: [1, 9, 2, 3] }],
    [[{ op: 'add', path: '/list/-', value: 9 }], { ...target, list: [1, 2, 3, 9] }],
    [[{ op: 'remove', path: '/list/0' }], { ...target, list: [2, 3] }],
    [[{ op: 'remove', path: '/a/b' }], { ...target, a: {} }],
    [[{ op: 'replace', path: '/list/2', value: null }], { ...target, list: [1, 2, null] }],
    [[{ op: 'replace', path: '/a/new', value: 1 }], { ...target, a: { b: 1, new: 1 } }],
    [[{ op: 'replace', path: '/x~1y~0z', value: 'even' }], { ...target, 'x/y~z': 'even' }],
    [[{ op: 'copy', from: '/a', path: '/c' }], { ...target, c: { b: 1 } }],
    [[{ op: 'move', from: '/a/b', path: '/c' }], { ...target, a: {}, c: 1 }],
    [[{ op: 'test', path: '/a', value: { b: 1 } }], target],
    [[{ op: 'test', path: '/none', value: null }], target],
    [[], target],
  ])('applies %j and results in %j', (operations, expected) => {
    expect(apply(operations)).toEqual(expected);
  });

  test.each<[JsonValue]>([
    [[{ op: 'remove', path: '/none' }]],
    [[{ op: 'add', path: '/none/deeper', value: 1 }]],
    [[{ op: 'add', path: '/list/9', value: 1 }]],
    [[{ op: 'replace', path: '/list/x', value: 1 }]],
    [[{ op: 'test', path: '/a/b', value: 2 }]],
    [[{ op: 'move', from: '/none', path: '/c' }]],
    [[{ op: 'unheard-of', path: '/a' }]],
    [[{ op: 'add', path: 'a', value: 1 }]],
  ])('cannot be applied: %j', (operations) => {
    expect(() => apply(operations)).toThrow('the server rejected our request due to an error in our request');
  });

  test('must be a list of operations', () => {
    expect(() => jsonPatchOf({})).toThrow(
      'cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  });
});
