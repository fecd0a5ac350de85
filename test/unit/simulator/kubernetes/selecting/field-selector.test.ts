import { describe, expect, test } from '@jest/globals';
import { parseFieldSelector } from '../../../../../src/simulator/kubernetes/selecting/field-selector.ts';

describe('parseFieldSelector', () => {
  test.each([
    ['', []],
    [',', []],
    ['a=b', [{ field: 'a', equal: true, value: 'b' }]],
    ['a==b', [{ field: 'a', equal: true, value: 'b' }]],
    ['a!=b', [{ field: 'a', equal: false, value: 'b' }]],
    ['a=', [{ field: 'a', equal: true, value: '' }]],
    [String.raw`a=x\,y\=z\\`, [{ field: 'a', equal: true, value: String.raw`x,y=z\ `.trim() }]],
    [
      'b=2,a=1',
      [
        { field: 'a', equal: true, value: '1' },
        { field: 'b', equal: true, value: '2' },
      ],
    ],
  ])('parses %j', (selector, requirements) => {
    expect(parseFieldSelector(selector)).toEqual(requirements);
  });

  test.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
    [String.raw`a=\b`, String.raw`invalid field selector: invalid escape sequence: \b`],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ])('refuses %j', (selector, message) => {
    expect(() => parseFieldSelector(selector)).toThrow(message);
  });
});
