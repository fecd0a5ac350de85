import { describe, expect, test } from '@jest/globals';
import type { JsonValue } from '../../../../../src/simulator/kubernetes/json-value.ts';
import type { StructuralSchema } from '../../../../../src/simulator/kubernetes/schema/structural-schema.ts';
import { validateSchema } from '../../../../../src/simulator/kubernetes/schema/validate.ts';

function problems(value: JsonValue, schema: StructuralSchema): readonly string[] {
  const root: StructuralSchema = { type: 'object', properties: { f: schema } };
  return validateSchema({ f: value }, root).map(({ field, message }) => `${field}: ${message}`);
}

describe('validateSchema', () => {
  test.each<[JsonValue, StructuralSchema]>([
    ['x', { type: 'string' }],
    [1, { type: 'integer' }],
    [1, { type: 'number' }],
    [1.5, { type: 'number' }],
    [true, { type: 'boolean' }],
    [null, { type: 'string', nullable: true }],
    [5, { 'x-kubernetes-int-or-string': true }],
    ['50%', { 'x-kubernetes-int-or-string': true }],
    ['anything', {}],
    ['2026-01-01T00:00:00Z', { type: 'string', format: 'date-time' }],
    ['whatever', { type: 'string', format: 'unknown-to-the-server' }],
    [4, { type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 }],
    ['ab', { type: 'string', minLength: 1, maxLength: 2, pattern: '^[a-b]+$' }],
    ['a', { type: 'string', enum: ['a', 'b'] }],
    [[1], { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 1 }],
    [{ a: 1 }, { type: 'object', minProperties: 1, maxProperties: 1 }],
  ])('accepts %j under %j', (value, schema) => {
    expect(problems(value, schema)).toEqual([]);
  });

  test.each<[JsonValue, StructuralSchema, string]>([
    [1, { type: 'string' }, 'f: Invalid value: "integer": f in body must be of type string: "integer"'],
    [1.5, { type: 'integer' }, 'f: Invalid value: "number": f in body must be of type integer: "number"'],
    [null, { type: 'string' }, 'f: Invalid value: "null": f in body must be of type string: "null"'],
    [
      true,
      { 'x-kubernetes-int-or-string': true },
      'f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"',
    ],
    [
      5,
      { type: 'string', format: 'ipv4' },
      'f: Invalid value: "int64": f in body must be of type ipv4: "int64"',
    ],
    ['x', { type: 'string', format: 'ipv4' }, 'f: Invalid value: "x": f in body must be of type ipv4: "x"'],
    [
      0,
      { type: 'integer', minimum: 1 },
      'f: Invalid value: 0: f in body should be greater than or equal to 1',
    ],
    [
      1,
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      'f: Invalid value: 1: f in body should be greater than 1',
    ],
    [3, { type: 'integer', maximum: 2 }, 'f: Invalid value: 3: f in body should be less than or equal to 2'],
    [
      2,
      { type: 'integer', maximum: 2, exclusiveMaximum: true },
      'f: Invalid value: 2: f in body should be less than 2',
    ],
    [3, { type: 'integer', multipleOf: 2 }, 'f: Invalid value: 3: f in body should be a multiple of 2'],
    ['', { type: 'string', minLength: 1 }, 'f: Invalid value: "": f in body should be at least 1 chars long'],
    ['abc', { type: 'string', maxLength: 2 }, 'f: Too long: may not be more than 2 bytes'],
    ['x', { type: 'string', pattern: '^y$' }, `f: Invalid value: "x": f in body should match '^y$'`],
    ['x', { type: 'string', enum: ['a', 'b'] }, 'f: Unsupported value: "x": supported values: "a", "b"'],
    [[], { type: 'array', minItems: 1 }, 'f: Invalid value: 0: f in body should have at least 1 items'],
    [[1, 2], { type: 'array', maxItems: 1 }, 'f: Too many: 2: must have at most 1 items'],
    [
      {},
      { type: 'object', minProperties: 1 },
      'f: Invalid value: 0: f in body should have at least 1 properties',
    ],
    [{ a: 1, b: 2 }, { type: 'object', maxProperties: 1 }, 'f: Too many: 2: must have at most 1 items'],
    [{}, { type: 'object', required: ['a'] }, 'f.a: Required value'],
    [
      { k: 1 },
      { type: 'object', additionalProperties: { type: 'string' } },
      'f.k: Invalid value: "integer": f.k in body must be of type string: "integer"',
    ],
    [
      [{ a: 'x' }],
      { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } },
      'f[0].a: Invalid value: "string": f[0].a in body must be of type integer: "string"',
    ],
  ])('refuses %j under %j', (value, schema, problem) => {
    expect(problems(value, schema)).toEqual([problem]);
  });

  test('names only the root when it checks only a part', () => {
    const [error] = validateSchema(5, { type: 'object' }, 'status');

    expect(error).toMatchObject({
      field: 'status',
      message: 'Invalid value: "integer":  in body must be of type object: "integer"',
    });
  });
});
