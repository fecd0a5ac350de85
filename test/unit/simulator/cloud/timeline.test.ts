import { describe, expect, test } from '@jest/globals';
import { Timeline } from '../../../../src/simulator/cloud/timeline.ts';

interface Thing {
  readonly id: string;
  readonly value: number;
}

function rig(): {
  readonly timeline: Timeline<Thing>;
  at: (time: number) => void;
  past: (time: number) => Thing[];
} {
  let now = 0;
  const timeline = new Timeline<Thing>({ now: () => now, memory: () => 100 });
  return {
    timeline,
    at: (time) => {
      now = time;
    },
    past: (time) => [...timeline.at(time).after('')],
  };
}

describe('Timeline', () => {
  test('shows each instant as it was', () => {
    const { timeline, at, past } = rig();
    timeline.put({ id: 'b', value: 1 });
    at(10);
    timeline.put({ id: 'a', value: 2 });
    timeline.put({ id: 'b', value: 3 });
    at(20);
    timeline.delete('a');

    expect(past(5)).toEqual([{ id: 'b', value: 1 }]);
    expect(past(15)).toEqual([
      { id: 'a', value: 2 },
      { id: 'b', value: 3 },
    ]);
    expect(past(20)).toEqual([{ id: 'b', value: 3 }]);
    expect([...timeline.current.values()]).toEqual([{ id: 'b', value: 3 }]);
  });

  test('continues behind a cursor, whether the item of the cursor still exists or not', () => {
    const { timeline, at } = rig();
    for (const id of ['d', 'a', 'c', 'b']) timeline.put({ id, value: 0 });
    timeline.delete('b');
    at(500);
    timeline.delete('d');

    expect([...timeline.at(500).after('b')].map(({ id }) => id)).toEqual(['c']);
    expect([...timeline.at(400).after('b')].map(({ id }) => id)).toEqual(['c', 'd']);
  });

  test('keeps the oldest known state of an item that is older than its memory', () => {
    const { timeline, at, past } = rig();
    timeline.put({ id: 'a', value: 1 });
    at(1000);
    timeline.put({ id: 'a', value: 2 });
    at(2000);
    timeline.put({ id: 'a', value: 3 });

    expect(past(500)).toEqual([{ id: 'a', value: 2 }]);
    expect(past(-1)).toEqual([]);
  });
});
