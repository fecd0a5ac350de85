import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isList, isObject, type Json, type JsonObject } from '../../../../src/runtime/json.ts';
import { isEqual } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { sameOnTheWire } from '../../../../src/kubernetes/cilium-node/omitempty.ts';

describe('sameOnTheWire', () => {
  test.each<[string, Json | undefined, Json | undefined, boolean]>([
    ['zero and absent', { number: 0, id: 'eni-1' }, { id: 'eni-1' }, true],
    ['the empty text and absent', { description: '' }, {}, true],
    [
      'the empty list, the empty map and null',
      { addresses: [], tags: {} },
      { addresses: null, tags: null },
      true,
    ],
    ['nothing and an object of nothing', undefined, { subnet: { id: '', cidr: '' } }, true],
    ['another number', { number: 1 }, { number: 2 }, false],
    ['a tag with the empty value and no tag', { tags: { a: '' } }, {}, false],
    ['an empty tag beside another', { tags: { a: 'b', c: '' } }, { tags: { a: 'b' } }, false],
    ['a tag that is null beside another', { tags: { a: 'b', c: null } }, { tags: { a: 'b' } }, true],
    ['a field beside another', { id: 'eni-1', mac: '02:00' }, { id: 'eni-1' }, false],
    ['a pool entry of nothing and no entry', { pool: { '10.0.0.1': {} } }, { pool: {} }, false],
    [
      'a pool entry with empty fields and one without',
      { pool: { '10.0.0.1': { owner: '' } } },
      { pool: { '10.0.0.1': {} } },
      true,
    ],
    ['lists in another order', { addresses: ['1', '2'] }, { addresses: ['2', '1'] }, false],
    ['lists of objects with empty fields', { cidrs: [{ a: 0 }] }, { cidrs: [{}] }, true],
    ['lists of another length', { cidrs: [{}] }, { cidrs: [{}, {}] }, false],
    ['a field of a name that maps have', { pool: 'default' }, { pool: 'other' }, false],
  ])('compares %s', (_what, a, b, same) => {
    expect(sameOnTheWire(a, b)).toBe(same);
    expect(sameOnTheWire(b, a)).toBe(same);
  });
});

/** An equivalent form of a value on the wire. */
function formOf(value: Json | undefined): Json | undefined {
  if (isList(value)) return value.length === 0 ? undefined : value.map(formOfEntry);
  if (!isObject(value)) return value === null || !value ? undefined : value;
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const form = (name === 'tags' || name === 'pool') && isObject(inner) ? formOfMap(inner) : formOf(inner);
    return form === undefined ? [] : [[name, form] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function formOfMap(map: JsonObject): Json | undefined {
  const entries = Object.entries(map).filter(([, value]) => value !== null);
  return entries.length === 0
    ? undefined
    : Object.fromEntries(entries.map(([key, value]) => [key, formOfEntry(value)] as const));
}

function formOfEntry(entry: Json): Json {
  return isObject(entry) ? (formOf(entry) ?? {}) : entry;
}

describe('sameOnTheWire for any input', () => {
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, false, true, 0, 1, '', 'a'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('tags', 'pool', 'id', 'ip', '__proto__'), tie('value'), { maxKeys: 3 }),
    ),
  }));

  test('is true if both are equal without empty values', () => {
    const pairs = fc.oneof(
      fc.tuple(value, value),
      value.map((each) => [each, formOf(each) ?? null] as const),
    );
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(sameOnTheWire(a, b)).toBe(isEqual(formOf(a), formOf(b)));
      }),
      { numRuns: 2000 },
    );
  });
});
