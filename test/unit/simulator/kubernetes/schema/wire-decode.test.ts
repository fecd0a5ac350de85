import { describe, expect, test } from '@jest/globals';
import {
  flag,
  int32,
  intOrString,
  open,
  quantities,
  text,
  textMap,
  texts,
  time,
} from '../../../../../src/simulator/kubernetes/schema/scalars.ts';
import { decodeWire } from '../../../../../src/simulator/kubernetes/schema/wire-decode.ts';
import { always, given, list, struct } from '../../../../../src/simulator/kubernetes/schema/wire-shape.ts';

const item = struct('Item', { name: always(text), size: int32, at: always(time) });
const shape = struct('Thing', {
  name: text,
  done: flag,
  maybe: given(flag),
  words: texts,
  labels: textMap,
  items: list(item),
  part: always(item),
  amounts: quantities,
  port: intOrString,
  any: open,
});

describe('decodeWire', () => {
  test('writes the fields of the type in its order, without empty ones', () => {
    const source = {
      labels: {},
      done: false,
      words: [],
      any: { x: null },
      name: 'n',
      maybe: false,
      amounts: { cpu: 1 },
    };

    const { value } = decodeWire(source, shape);

    expect(JSON.stringify(value)).toBe(
      '{"name":"n","maybe":false,"part":{"name":"","at":null},"amounts":{"cpu":"1"},"any":{"x":null}}',
    );
  });

  test('reports unknown fields in the order of the request', () => {
    const source = { z: 1, items: [{ a: 1 }, { name: 'x', b: 2 }], part: { c: 3 }, labels: { free: 'yes' } };

    expect(decodeWire(source, shape, 'metadata').unknownFields).toEqual([
      'metadata.z',
      'metadata.items[0].a',
      'metadata.items[1].b',
      'metadata.part.c',
    ]);
  });

  test('treats null as absent', () => {
    const source = { name: null, labels: { a: null }, items: [null], words: [null] };

    expect(decodeWire(source, shape).value).toMatchObject({
      labels: { a: '' },
      items: [{ name: '', at: null }],
      words: [''],
    });
  });

  test.each([
    [{ name: 1 }, 'cannot unmarshal number into Go struct field Thing.name of type string'],
    [{ done: 'x' }, 'cannot unmarshal string into Go struct field Thing.done of type bool'],
    [{ words: 'x' }, 'cannot unmarshal string into Go struct field Thing.words of type []string'],
    [{ words: [1] }, 'cannot unmarshal number into Go struct field Thing.words of type string'],
    [{ labels: { a: true } }, 'cannot unmarshal bool into Go struct field Thing.labels of type string'],
    [
      { items: [{ size: 'x' }] },
      'cannot unmarshal string into Go struct field Item.items.size of type int32',
    ],
    [{ part: [] }, 'cannot unmarshal array into Go struct field Thing.part of type v1.Item'],
    [{ items: {} }, 'cannot unmarshal object into Go struct field Thing.items of type []v1.Item'],
    [{ port: true }, 'cannot unmarshal bool into Go struct field Thing.port of type intstr.IntOrString'],
  ])('refuses %j', (source, problem) => {
    expect(() => decodeWire(source, shape)).toThrow(`json: ${problem}`);
  });

  test.each([
    [{ items: [{ size: 2 ** 31 }] }, 'cannot unmarshal number 2147483648 into Go value of type int32'],
    [{ items: [{ at: 'x' }] }, 'parsing time "x"'],
    [{ amounts: { cpu: 'x' } }, 'quantities must match the regular expression'],
  ])('refuses the value of %j', (source, problem) => {
    expect(() => decodeWire(source, shape)).toThrow(problem);
  });

  test('refuses a value that is no object', () => {
    expect(() => decodeWire('x', shape)).toThrow(
      'json: cannot unmarshal string into Go value of type v1.Thing',
    );
  });
});
