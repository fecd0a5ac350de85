import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';

describe('Random', () => {
  test('draws the same for the same seed, and something else for another one', () => {
    const draws = (seed: string): number[] => {
      const random = new Random(seed);
      return Array.from({ length: 20 }, () => random.integer(1_000_000));
    };

    expect(draws('seven')).toEqual(draws('seven'));
    expect(draws('seven')).not.toEqual(draws('eight'));
  });

  test('forks by the seed and the name only', () => {
    const drawn = new Random('seed');
    drawn.next();

    expect(drawn.fork('agents').hex(16)).toBe(new Random('seed').fork('agents').hex(16));
    expect(drawn.fork('agents').hex(16)).not.toBe(drawn.fork('cloud').hex(16));
  });

  test('is even over its range', () => {
    const random = new Random('even');
    const counts = Array.from({ length: 10 }, () => 0);

    for (let draw = 0; draw < 100_000; draw++) {
      const bucket = random.integer(10);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }

    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  test('shuffles without losing anything and picks only what is there', () => {
    const random = new Random('cards');
    const cards = ['a', 'b', 'c', 'd', 'e'];

    expect(random.shuffled(cards).toSorted()).toEqual(cards);
    expect(cards).toContain(random.pick(cards));
    expect(() => random.pick([])).toThrow('cannot pick from an empty list');
  });

  test('makes version 4 UUIDs, each one different', () => {
    const random = new Random('ids');
    const ids = new Set(Array.from({ length: 1000 }, () => random.uuid()));

    expect(ids.size).toBe(1000);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
