import { describe, expect, test } from '@jest/globals';
import {
  boolean,
  duration,
  endpoint,
  httpUrl,
  integer,
  list,
  oneOf,
  onlyTrue,
  pageSize,
  positiveNumber,
  tagFilter,
  tagsToSet,
  type ValueKind,
} from '../../../src/config/value-kinds.ts';

type Row = readonly [kind: string, text: string, expected: unknown];

const kinds: Readonly<Record<string, ValueKind<unknown>>> = {
  boolean,
  onlyTrue: onlyTrue('because'),
  oneOf: oneOf(['eni', 'azure']),
  integer: integer({ min: 1, max: 1000 }),
  positiveNumber,
  pageSize,
  duration: duration({ min: 1000, max: 60_000 }),
  seconds: duration({ min: 1000, max: 600_000, plainSeconds: true }),
  list: list('item', /^[a-z]+$/, 'words'),
  tagFilter,
  tagsToSet,
  endpoint,
  httpUrl,
};

describe('a value that is accepted', () => {
  test.each<Row>([
    ...['true', 'TRUE', 'True', 't', '1', 'yes'].map((text): Row => ['boolean', text, true]),
    ...['false', 'False', 'F', '0', 'no'].map((text): Row => ['boolean', text, false]),
    ['onlyTrue', '1', true],
    ['oneOf', 'azure', 'azure'],
    ['integer', '1', 1],
    ['integer', '1000', 1000],
    ['positiveNumber', '4', 4],
    ['positiveNumber', '4.0', 4],
    ['positiveNumber', '0.05', 0.05],
    ['pageSize', '0', 1000],
    ['pageSize', '5', 5],
    ['pageSize', '1000', 1000],
    ['duration', '1s', 1000],
    ['duration', '1m', 60_000],
    ['seconds', '180', 180_000],
    ['seconds', '3m', 180_000],
    ['list', 'a,b', ['a', 'b']],
    ['list', 'a b\nc', ['a', 'b', 'c']],
    ['list', 'a, b,, a', ['a', 'b']],
    ['tagFilter', 'aws:autoscaling:groupName=x', { 'aws:autoscaling:groupName': 'x' }],
    ['tagsToSet', '{"team":"net"}', { team: 'net' }],
    ['endpoint', 'ec2.eu-central-1.amazonaws.com', 'https://ec2.eu-central-1.amazonaws.com'],
    ['endpoint', 'vpce-1.ec2.vpce.amazonaws.com:8443', 'https://vpce-1.ec2.vpce.amazonaws.com:8443'],
    ['endpoint', 'http://localhost:4566/', 'http://localhost:4566'],
    ['endpoint', 'https://[::1]:4566/aws', 'https://[::1]:4566/aws'],
    ['httpUrl', 'https://10.0.0.1:6443', 'https://10.0.0.1:6443'],
  ])('is read for %s: %s', (kind, text, expected) => {
    expect(kinds[kind]?.parse(text)).toEqual(expected);
  });
});

describe('a value that is not accepted', () => {
  test.each<readonly [kind: string, text: string]>([
    ['boolean', 'on'],
    ['boolean', '2'],
    ['onlyTrue', 'false'],
    ['oneOf', 'ENI'],
    ['integer', '0'],
    ['integer', '1001'],
    ['integer', '1.5'],
    ['integer', '1e2'],
    ['integer', '-1'],
    ['integer', '0x10'],
    ['positiveNumber', '0'],
    ['positiveNumber', '0.0'],
    ['positiveNumber', '-4'],
    ['positiveNumber', 'NaN'],
    ['positiveNumber', '.'],
    ['pageSize', '4'],
    ['pageSize', '1001'],
    ['duration', '999ms'],
    ['duration', '61s'],
    ['duration', '30'],
    ['seconds', '601'],
    ['list', 'a;b'],
    ['list', 'a,B'],
    ['tagFilter', 'a'],
    ['tagsToSet', 'aws:name=x'],
    ['tagsToSet', 'AWS:name=x'],
    ['tagsToSet', `${'k'.repeat(129)}=x`],
    ['tagsToSet', `k=${'x'.repeat(257)}`],
    ['endpoint', 'ftp://host'],
    ['endpoint', 'http://'],
    ['endpoint', 'http://user:secret@host'],
    ['endpoint', 'http://host/?a=b'],
    ['endpoint', 'two words'],
    ['endpoint', 'host:99999'],
    ['endpoint', '{"ec2"}'],
    ['httpUrl', 'http://"host"'],
    ['httpUrl', '10.0.0.1:6443'],
  ])('is refused for %s: %s', (kind, text) => {
    expect(kinds[kind]?.parse(text)).toBeUndefined();
  });
});

describe('a value that is given several times', () => {
  test('is combined for lists and maps', () => {
    expect(
      kinds['list']?.combine?.([
        ['a', 'b'],
        ['b', 'c'],
      ]),
    ).toEqual(['a', 'b', 'c']);
    expect(kinds['tagFilter']?.combine?.([{ a: '1', b: '1' }, { b: '2' }])).toEqual({ a: '1', b: '2' });
  });
});

describe('the shape of an endpoint in the schema of the chart', () => {
  test.each([
    ['ec2.eu-central-1.amazonaws.com', true],
    ['vpce-1.ec2.vpce.amazonaws.com:8443', true],
    ['host/path', true],
    ['[::1]:4566', true],
    ['http://localhost:4566/', true],
    ['https://[::1]:4566/aws', true],
    ['ftp://host', false],
    ['http://', false],
    ['host/?a=b', false],
    ['two words', false],
  ])('for %s: accepted: %s', (text, isAccepted) => {
    const { shape } = endpoint;

    expect(shape.type === 'text' && new RegExp(shape.pattern ?? '', 'u').test(text)).toBe(isAccepted);
  });
});
