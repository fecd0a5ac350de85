import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { LazyMap, LazySet } from '../../../src/runtime/lazy-collections.ts';

type Step =
  | { readonly kind: 'put'; readonly key: string; readonly value: number }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'deleteAll' };

const key = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), key, value: fc.nat(9) }),
  fc.record({ kind: fc.constant('delete' as const), key }),
  fc.record({ kind: fc.constant('deleteAll' as const) }),
);
const steps = fc.array(step, { maxLength: 30 });

function takeStep(map: LazyMap<string, number> | Map<string, number>, step: Step): void {
  if (step.kind === 'put') map.set(step.key, step.value);
  else if (step.kind === 'delete') map.delete(step.key);
  else for (const known of map.keys()) map.delete(known);
}

describe('a lazy collection', () => {
  test('works as a Map, also once it was emptied', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const [ours, theirs] = [new LazyMap<string, number>(), new Map<string, number>()];
        for (const each of history) {
          takeStep(ours, each);
          takeStep(theirs, each);
          expect([...ours]).toEqual([...theirs]);
          expect([[...ours.keys()], [...ours.values()], ours.size]).toEqual([
            [...theirs.keys()],
            [...theirs.values()],
            theirs.size,
          ]);
          for (const asked of ['a', 'b', 'd']) {
            expect([ours.has(asked), ours.get(asked)]).toEqual([theirs.has(asked), theirs.get(asked)]);
          }
        }
      }),
    );
  });

  test('works as a Set, also once it was emptied', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const [ours, theirs] = [new LazySet<string>(), new Set<string>()];
        for (const each of history) {
          for (const set of [ours, theirs]) {
            if (each.kind === 'put') set.add(each.key);
            else if (each.kind === 'delete') set.delete(each.key);
            else set.clear();
          }
          expect([[...ours], ours.size]).toEqual([[...theirs], theirs.size]);
          for (const asked of ['a', 'b', 'd']) expect(ours.has(asked)).toBe(theirs.has(asked));
        }
      }),
    );
  });
});
