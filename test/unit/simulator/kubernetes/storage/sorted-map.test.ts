import { expect, test } from '@jest/globals';
import { Random } from '../../../../../src/runtime/random.ts';
import { SortedMap } from '../../../../../src/simulator/kubernetes/storage/sorted-map.ts';

test('a sorted map is iterated in the order of its keys, whatever was added and removed', () => {
  const random = new Random('sorted');
  const map = new SortedMap<number>();
  const plain = new Map<string, number>();

  for (let step = 0; step < 2000; step++) {
    const key = `key-${random.integer(50)}`;
    if (random.chance(0.4)) {
      map.delete(key);
      plain.delete(key);
    } else {
      map.set(key, step);
      plain.set(key, step);
    }
  }

  expect([...map]).toEqual([...plain].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  expect(map.get('key-none')).toBeUndefined();
});
