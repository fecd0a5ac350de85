import { describe, expect, test } from '@jest/globals';
import { parseLabelSelector } from '../../../../../src/simulator/kubernetes/selecting/label-selector.ts';

const labels = { tier: 'gold', n: '5', 'example.org/x': '' };

describe('parseLabelSelector', () => {
  test.each([
    ['', true],
    ['tier', true],
    ['!tier', false],
    ['none', false],
    ['!none', true],
    ['tier=gold', true],
    ['tier==gold', true],
    ['tier = silver', false],
    ['tier!=silver', true],
    ['none!=x', true],
    ['none=x', false],
    ['tier in (silver, gold)', true],
    ['tier notin (silver,gold)', false],
    ['none notin (x)', true],
    ['none in (x)', false],
    ['n>4', true],
    ['n<5', false],
    ['tier>1', false],
    ['none>1', false],
    ['example.org/x=', true],
    ['example.org/x', true],
    ['example.org/x in ()', true],
    ['tier in (gold,),n', true],
    ['tier=gold,n=6', false],
    ['in in (in)', false],
    ['toString', false],
  ])('selects with %j: %s', (selector, matches) => {
    expect(parseLabelSelector(selector)(labels)).toBe(matches);
  });

  test.each([
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    ['a foo b', "unable to parse requirement: found 'foo', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a==!', "unable to parse requirement: found '!', expected: identifier"],
    [
      'a>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('refuses %j', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(message);
  });

  test('refuses keys and values that no label can have', () => {
    expect(() => parseLabelSelector('a/b/c')).toThrow(
      /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a qualified name/,
    );
    expect(() => parseLabelSelector('a=-b-')).toThrow(
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b-": a valid label must/,
    );
  });
});
