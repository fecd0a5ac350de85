import { expect, test } from '@jest/globals';
import { pruneObject } from '../../../../../src/simulator/kubernetes/schema/prune.ts';
import type { StructuralSchema } from '../../../../../src/simulator/kubernetes/schema/structural-schema.ts';

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    known: { type: 'string' },
    nullable: { type: 'string', nullable: true },
    defaulted: { type: 'string', default: 'x' },
    inner: { type: 'object', properties: { a: { type: 'integer' } } },
    list: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'integer' } } } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    free: { type: 'object', additionalProperties: true },
  },
};

test('pruning removes what the schema does not know, at every depth', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { anything: 1 },
    known: 'x',
    z: 1,
    inner: { a: 1, b: 2 },
    list: [{ a: 1 }, { b: 2 }, 'scalar'],
    map: { k: { a: 1, b: 2 } },
  };

  const pruned = pruneObject(object, schema);

  expect(pruned.unknownFields).toEqual(['inner.b', 'list[1].b', 'map.k.b', 'z']);
  expect(pruned.object).toEqual({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { anything: 1 },
    known: 'x',
    inner: { a: 1 },
    list: [{ a: 1 }, {}, 'scalar'],
    map: { k: { a: 1 } },
  });
  expect(object.inner).toEqual({ a: 1, b: 2 });
});

test('pruning leaves open parts as they are', () => {
  const object = { open: { x: { y: null } }, free: { x: 1 } };

  expect(pruneObject(object, schema)).toEqual({ object, unknownFields: [] });
});

test('pruning treats nulls as absent fields, unless they are allowed or have a default', () => {
  const object = {
    known: null,
    nullable: null,
    defaulted: null,
    map: { gone: null, kept: {} },
    list: [null],
  };

  expect(pruneObject(object, schema).object).toEqual({
    nullable: null,
    defaulted: null,
    map: { kept: {} },
    list: [null],
  });
});
