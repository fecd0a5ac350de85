import { expect, test } from '@jest/globals';
import { hasDefaults, withDefaults } from '../../../../../src/simulator/kubernetes/schema/default-values.ts';
import type { StructuralSchema } from '../../../../../src/simulator/kubernetes/schema/structural-schema.ts';

const item: StructuralSchema = { type: 'object', properties: { size: { type: 'integer', default: 1 } } };
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'none' },
    nullable: { type: 'string', nullable: true, default: 'x' },
    part: { ...item, default: {} },
    list: { type: 'array', items: item },
    map: { type: 'object', additionalProperties: item },
  },
};

test.each([
  [{}, { name: 'none', nullable: 'x', part: { size: 1 } }],
  [
    { name: null, nullable: null },
    { name: 'none', nullable: null, part: { size: 1 } },
  ],
  [
    { name: 'given', part: { size: 2 } },
    { name: 'given', nullable: 'x', part: { size: 2 } },
  ],
  [
    { list: [{}, { size: 3 }], map: { a: {} } },
    {
      name: 'none',
      nullable: 'x',
      part: { size: 1 },
      list: [{ size: 1 }, { size: 3 }],
      map: { a: { size: 1 } },
    },
  ],
])('defaults turn %j into %j', (object, expected) => {
  expect(withDefaults(object, schema)).toEqual(expected);
});

test('a schema without defaults has nothing to fill in', () => {
  expect(hasDefaults(schema)).toBe(true);
  expect(hasDefaults({ type: 'array', items: item })).toBe(true);
  expect(hasDefaults({ type: 'object', additionalProperties: item })).toBe(true);
  expect(
    hasDefaults({ type: 'object', additionalProperties: true, properties: { a: { type: 'string' } } }),
  ).toBe(false);
});
