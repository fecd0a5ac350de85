import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Json } from '../../../../src/runtime/json.ts';
import { mergePatchExamples } from '../../../support/merge-patch-examples.ts';
import { applyMergePatch, isEqual, mergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';

/** JSON without null members, which a merge patch can express. It has few names, so that they often coincide. */
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>('', 'x', 'y', 0, 1, true, false),
    fc.array(fc.oneof(tie('value'), fc.constant(null)), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', ''),
      tie('value'),
    ) as fc.Arbitrary<Json>,
  ),
})).value;

describe('mergePatch', () => {
  test.each<[string, Json | undefined, Json, Json | undefined]>([
    ['equal', { a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, undefined],
    ['one member changed', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
    ['one member removed', { a: 1, b: 2 }, { a: 1 }, { b: null }],
    ['one member added', { a: 1 }, { a: 1, b: {} }, { b: {} }],
    [
      'deep inside',
      { pool: { x: { r: '1' }, y: { r: '1' } } },
      { pool: { x: { r: '1' }, y: { r: '2' } } },
      { pool: { y: { r: '2' } } },
    ],
    ['a list is replaced', { a: [1, 2] }, { a: [2, 1] }, { a: [2, 1] }],
    ['an object becomes empty', { a: { b: 1 } }, { a: {} }, { a: { b: null } }],
    ['an object becomes a list', { a: { b: 1 } }, { a: [] }, { a: [] }],
    ['a list becomes an object', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['nothing becomes something', undefined, { a: { b: 1 } }, { a: { b: 1 } }],
    ['null counts as absent', { a: 1 }, { a: null, b: { c: null } }, { a: null, b: {} }],
    ['null that stays null', { a: null }, {}, undefined],
    [
      'zero, empty and absent differ',
      { a: 0, b: '', c: [] },
      { a: '', b: [], c: {} },
      { a: '', b: [], c: {} },
    ],
  ])('computes the patch for: %s', (_what, from, to, patch) => {
    expect(mergePatch(from, to)).toEqual(patch);
  });

  test('turns the first value into the second when it is applied to the first', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = mergePatch(from, to);

        const result = patch === undefined ? from : applyMergePatch(from, patch);

        expect(isEqual(result, to)).toBe(true);
      }),
    );
  });

  test('is empty if and only if both are equal, and names no member that stays', () => {
    fc.assert(
      fc.property(json, json, fc.constantFrom('a', 'b', 'c'), (from, to, member) => {
        expect(mergePatch(from, to) === undefined).toBe(isEqual(from, to));
        expect(mergePatch({ [member]: from, other: 1 }, { [member]: from, other: 2 })).toEqual({ other: 2 });
      }),
    );
  });
});

describe('applyMergePatch', () => {
  test.each(mergePatchExamples)('turns %j patched with %j into %j', (target, patch, result) => {
    expect(applyMergePatch(target, patch)).toEqual(result);
  });
});
