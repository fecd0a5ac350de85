import { describe, expect, test } from '@jest/globals';
import { nearest } from '../../../src/runtime/did-you-mean.ts';

const names = [
  '--parallel-alloc-workers',
  '--vpc-id',
  '--debug',
  '--log-level',
  '--eni-tags',
  '--eni-gc-tags',
];

describe('nearest', () => {
  test.each([
    ['--paralel-alloc-workers', '--parallel-alloc-workers'],
    ['--parallel-aloc-worker', '--parallel-alloc-workers'],
    ['--vpcid', '--vpc-id'],
    ['--vqc-ix', '--vpc-id'],
    ['--eni-tag', '--eni-tags'],
    ['--loglevel', '--log-level'],
    ['--eni-gc-interval', undefined],
    ['--cluster-id', undefined],
    ['-v', undefined],
    ['', undefined],
  ])('suggests for %s the option %s', (word, expected) => {
    expect(nearest(word, names)).toBe(expected);
  });

  test('finds nothing without candidates', () => {
    expect(nearest('--debug', [])).toBeUndefined();
  });
});
