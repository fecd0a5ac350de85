import { describe, expect, test } from '@jest/globals';
import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  labelValueRule,
  pathSegment,
  prefixRule,
  qualifiedName,
} from '../../../../../src/simulator/kubernetes/objects/names.ts';

describe.each([
  ['dnsSubdomain', dnsSubdomain, ['a', 'a.b-c.d', '1'], ['', 'A', '-a', 'a..b', 'a_b', 'a'.repeat(254)]],
  ['dnsLabel', dnsLabel, ['a', 'a-1'], ['', 'A', 'a.b', 'a-', 'a'.repeat(64)]],
  [
    'qualifiedName',
    qualifiedName,
    ['a', 'example.org/A_b.c'],
    ['', '/a', 'a/', 'a/b/c', 'A/b', 'a b', 'x'.repeat(64)],
  ],
  ['labelValue', labelValueRule, ['', 'a', 'A_b.c-1'], ['-a', 'a b', 'x'.repeat(64)]],
  ['configKey', configKey, ['a', 'A.b_c-d', '.x'], ['', 'a b', '.', '..', '..x', 'x'.repeat(254)]],
  ['pathSegment', pathSegment, ['a', 'A b'], ['.', '..', 'a/b', 'a%b']],
])('the name check %s', (_, rule, good, bad) => {
  test.each(good.map((text) => [text]))('accepts %j', (text) => {
    expect(rule(text)).toEqual([]);
  });

  test.each(bad.map((text) => [text]))('refuses %j', (text) => {
    expect(rule(text)).not.toEqual([]);
  });
});

test('generateName may end in a dash', () => {
  expect(prefixRule(dnsSubdomain)('node-')).toEqual([]);
  expect(prefixRule(dnsSubdomain)('Node-')).not.toEqual([]);
});

test('a label that is only a dot is refused with the reason', () => {
  expect(dnsLabel('a.b')).toEqual(['must not contain dots']);
});
