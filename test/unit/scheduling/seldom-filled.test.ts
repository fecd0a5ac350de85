import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SeldomMap, SeldomSet } from '../../../src/scheduling/seldom-filled.ts';

const key = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), key, value: fc.nat(9) }),
  fc.record({ kind: fc.constant('delete' as const), key }),
  fc.record({ kind: fc.constant('deleteAll' as const) }),
);
const steps = fc.array(step, { maxLength: 30 });

describe('what is seldom filled', () => {
  test('is a map like that of the language, also once it was emptied', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const [ours, theirs] = [new SeldomMap<string, number>(), new Map<string, number>()];
        for (const each of history) {
          for (const map of [ours, theirs]) {
            if (each.kind === 'put') map.set(each.key, each.value);
            else if (each.kind === 'delete') map.delete(each.key);
            else for (const known of map.keys()) map.delete(known);
          }
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

  test('is a set like that of the language, also once it was emptied', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const [ours, theirs] = [new SeldomSet<string>(), new Set<string>()];
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
