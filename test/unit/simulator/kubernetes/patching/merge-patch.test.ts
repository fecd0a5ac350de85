import { describe, expect, test } from '@jest/globals';
import { mergePatch } from '../../../../../src/simulator/kubernetes/patching/merge-patch.ts';
import { mergePatchExamples } from '../../../../support/merge-patch-examples.ts';

describe('mergePatch', () => {
  test.each(mergePatchExamples)(
    'merges into %j the patch %j, which results in %j',
    (target, patch, expected) => {
      expect(mergePatch(target, patch)).toEqual(expected);
    },
  );

  test('leaves the target as it is', () => {
    const target = { a: { b: 1 } };

    mergePatch(target, { a: { b: 2, c: 3 } });

    expect(target).toEqual({ a: { b: 1 } });
  });
});
