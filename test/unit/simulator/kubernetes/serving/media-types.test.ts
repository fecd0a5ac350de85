import { describe, expect, test } from '@jest/globals';
import {
  checkJsonBody,
  representationFor,
} from '../../../../../src/simulator/kubernetes/serving/media-types.ts';

const custom = { custom: true, tables: true };
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('representationFor', () => {
  test.each([
    [undefined, 'object'],
    ['', 'object'],
    ['*/*', 'object'],
    ['application/*', 'object'],
    ['application/json', 'object'],
    ['application/vnd.kubernetes.protobuf, application/json', 'object'],
    [table, 'Table'],
    [`${table},application/json`, 'Table'],
    [`application/json;q=0.9,${table}`, 'Table'],
    [`${table};q=0.1,application/json`, 'object'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'Table'],
    ['application/json;as=Other;v=v1;g=meta.k8s.io,application/json', 'object'],
    ['application/json; as=PartialObjectMetadata; v=v1; g=meta.k8s.io', 'PartialObjectMetadata'],
  ])('answers the header %s with %s', (accept, representation) => {
    expect(representationFor(accept, custom)).toBe(representation);
  });

  test('chooses the next acceptable type when tables are not available', () => {
    expect(representationFor(`${table},application/json`, { custom: true, tables: false })).toBe('object');
    expect(() => representationFor(table, { custom: true, tables: false })).toThrow(
      'only the following media types',
    );
  });

  test('refuses with the message of the server that answers', () => {
    expect(() => representationFor('text/plain', custom)).toThrow(
      /^only the following media types are accepted/,
    );
    expect(() => representationFor('text/plain', { custom: false, tables: true })).toThrow(
      /^406: Not Acceptable/,
    );
  });
});

test('a body is accepted if it is JSON or has no type', () => {
  expect(() => checkJsonBody('application/json; charset=utf-8')).not.toThrow();
  expect(() => checkJsonBody(undefined)).not.toThrow();
  expect(() => checkJsonBody('application/yaml')).toThrow('the body of the request was in an unknown format');
});
