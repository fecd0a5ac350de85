import { describe, expect, test } from '@jest/globals';
import { aws } from '../../../../src/simulator/workload/clouds/aws.ts';
import { isExcluded } from '../../../../src/simulator/workload/interface-status.ts';

function excluded(eni: object, entry: object): readonly string[] {
  const node = {
    spec: { eni },
    status: { eni: { enis: { 'eni-1': { id: 'eni-1', ...entry } } } },
  } as Parameters<typeof aws.interfacesOf>[0];
  const rule = aws.exclusionOf(node);
  return aws
    .interfacesOf(node, 'crd-allocator')
    .filter((each) => isExcluded(each, rule))
    .map((each) => each.id);
}

describe('isExcluded', () => {
  const tags = { a: '1', b: '2' };

  test.each([
    ['no rule', {}, {}, false],
    ['index below the first', { 'first-interface-index': 1 }, {}, true],
    ['index at the first', { 'first-interface-index': 1 }, { number: 1 }, false],
    ['index above the first', { 'first-interface-index': 1 }, { number: 2 }, false],
    ['first index 0 excludes nothing', { 'first-interface-index': 0 }, {}, false],
    ['all tags there', { 'exclude-interface-tags': tags }, { tags: { ...tags, c: '3' } }, true],
    ['one tag missing', { 'exclude-interface-tags': tags }, { tags: { a: '1' } }, false],
    ['one tag of another value', { 'exclude-interface-tags': tags }, { tags: { a: '1', b: '1' } }, false],
    ['no required tags exclude nothing', { 'exclude-interface-tags': {} }, { tags }, false],
  ])('applies the rules of the agent: %s', (_, eni, entry, expected) => {
    expect(excluded(eni, entry)).toEqual(expected ? ['eni-1'] : []);
  });
});

describe('interfacesOf', () => {
  test('sorts by index, then by id, and reads absent fields as zero', () => {
    const enis = {
      'eni-c': { id: 'eni-c' },
      'eni-b': { id: 'eni-b', number: 1 },
      'eni-a': { id: 'eni-a', number: 1 },
    };

    const found = aws.interfacesOf({ status: { eni: { enis } } }, 'crd-allocator');

    expect(found.map((each) => each.id)).toEqual(['eni-c', 'eni-a', 'eni-b']);
    expect(found[0]).toEqual({
      id: 'eni-c',
      mac: '',
      number: 0,
      gateway: '',
      cidrs: [],
      lacks: 'MAC address',
      addresses: [],
      prefixes: [],
      ipv6Prefixes: [],
      tags: new Map(),
    });
  });
});
