import { describe, expect, test } from '@jest/globals';
import type { NetworkView } from '../../../../src/simulator/cloud/cloud-network.ts';
import { compileFilters, type Filter, matcher } from '../../../../src/simulator/ec2/filters.ts';

interface Thing {
  readonly name: string;
  readonly sizes: readonly string[];
  readonly owner?: string;
  readonly tags: Readonly<Record<string, string>>;
}

const thing: Thing = { name: 'web-1', sizes: ['s', 'm'], tags: { role: 'node', 'a.b': '[x]' } };
const table = {
  name: ({ name }: Thing) => name,
  size: ({ sizes }: Thing) => sizes,
  owner: ({ owner }: Thing) => owner,
};
const nobody: NetworkView = () => ({ get: () => undefined, after: () => [] });

const fits = (...filters: Filter[]): boolean => compileFilters(filters, table)(thing, nobody);
const filter = (Name: string, ...Values: string[]): Filter => ({ Name, Values });

describe('filters', () => {
  test.each([
    ['a value', [filter('name', 'web-1')], true],
    ['one of several', [filter('name', 'web-2', 'web-1')], true],
    ['one of the record’s several', [filter('size', 'm')], true],
    ['both of two filters', [filter('name', 'web-1'), filter('size', 'l')], false],
    ['case matters', [filter('name', 'Web-1')], false],
    ['a record without the field', [filter('owner', '*')], false],
    ['no values', [filter('name')], false],
    ['a tag', [filter('tag:role', 'no*')], true],
    ['a tag that is not there', [filter('tag:missing', '*')], false],
    ['a tag key', [filter('tag-key', 'role')], true],
    ['a tag value', [filter('tag-value', 'node')], true],
    ['a tag with signs', [filter('tag:a.b', '[x]')], true],
  ])('match as EC2 documents: %s', (_, filters, expected) => {
    expect(fits(...filters)).toBe(expected);
  });

  test.each([
    ['*', 'anything', true],
    ['*', '', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*c', 'a\nc', true],
    ['10.0.0.*', '10.0.0.5', true],
    ['10.0.0.*', '10a0b0.5', false],
    [String.raw`a\*c`, 'a*c', true],
    [String.raw`a\*c`, 'abc', false],
    [String.raw`a\\c`, String.raw`a\c`, true],
    ['a(b|c)', 'a(b|c)', true],
  ])('compare the pattern %s with %j: %p', (pattern, text, expected) => {
    expect(matcher([pattern])(text)).toBe(expected);
  });

  test('refuse unknown names and too many values', () => {
    const many = filter('name', ...Array.from({ length: 201 }, (_, index) => String(index)));

    expect(() => fits(filter('nam', 'x'))).toThrow("The filter 'nam' is invalid");
    expect(() => fits(filter('toString', 'x'))).toThrow("The filter 'toString' is invalid");
    expect(() => fits(many)).toThrow('The maximum number of filter values specified on a single call is 200');
  });
});
