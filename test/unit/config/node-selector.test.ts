import { describe, expect, test } from '@jest/globals';
import { nodeSelector, parseNodeSelector } from '../../../src/config/node-selector.ts';

const labels = { tier: 'pods', zone: 'a', 'example.com/cpu': '8', empty: '' };

describe('a node selector', () => {
  test.each([
    ['tier=pods', true],
    ['tier==pods', true],
    ['tier = pods , zone in ( a , b )', true],
    ['tier=other', false],
    ['tier!=other', true],
    ['absent!=other', true],
    ['tier', true],
    ['!tier', false],
    ['!absent', true],
    ['absent', false],
    ['empty=', true],
    ['tier=', false],
    ['zone in (a,b),tier notin (x)', true],
    ['absent in (a)', false],
    ['absent notin (a)', true],
    ['zone notin (a)', false],
    ['example.com/cpu>7', true],
    ['example.com/cpu<8', false],
    ['tier>0', false],
    ['in', false],
    ['tier=pods,tier=other', false],
    ['constructor', false],
  ])('%s: matches %s', (text, isMatched) => {
    expect(parseNodeSelector(text)?.matches(labels)).toBe(isMatched);
    expect(accepts(text)).toBe(true);
  });

  test.each([
    '=',
    'a=b=c',
    'tier=pods,',
    ',tier',
    'zone in a,b',
    'zone in ()',
    'zone in (a',
    'zone in (a))',
    'a b',
    '-tier',
    'tier=-',
    'a/b/c',
    'A.com/x',
    'cpu>many',
    `${'x'.repeat(64)}=1`,
    'tier=pods;zone=a',
    'tier=ä',
  ])('is not %j', (text) => {
    expect(parseNodeSelector(text)).toBeUndefined();
    expect(accepts(text)).toBe(false);
  });

  test('is shown as it was given', () => {
    expect(parseNodeSelector(' tier=pods , zone in (a, b)')?.text).toBe('tier=pods,zone in (a, b)');
  });

  /** What the chart lets pass. */
  function accepts(text: string): boolean {
    const { shape } = nodeSelector;
    return shape.type === 'text' && new RegExp(shape.pattern).test(text);
  }
});
