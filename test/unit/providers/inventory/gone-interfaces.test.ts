import { describe, expect, test } from '@jest/globals';
import { GoneInterfaces } from '../../../../src/providers/inventory/gone-interfaces.ts';

const window = 30;

/** Interfaces that are each proven gone at their time. */
function goneAt(...times: readonly number[]): GoneInterfaces {
  const gone = new GoneInterfaces(window);
  for (const [index, at] of times.entries()) gone.noteRemoved(`eni-${index}`, at);
  return gone;
}

describe('an interface that is proven gone', () => {
  test('leaves the memory once 100 newer ones are known and no stale read may show it', () => {
    const gone = goneAt(...Array.from({ length: 150 }, (_, index) => index * window));

    expect(gone.ids).toHaveLength(100);
    expect(gone.wasRemoved('eni-49')).toBe(false);
    expect(gone.wasRemoved('eni-50')).toBe(true);
  });

  test('stays while a stale read may show it, however many newer ones are known', () => {
    const gone = goneAt(0, ...Array.from({ length: 200 }, () => window - 1));

    expect(gone.mayBeStale('eni-0', window - 1)).toBe(true);
  });

  test('is the newest one again when it is proven gone again, and no other leaves for it', () => {
    const gone = goneAt(...Array.from({ length: 100 }, (_, index) => index * window));

    gone.noteRemoved('eni-0', 100 * window);
    gone.noteRemoved('eni-100', 101 * window);

    expect(gone.ids).toHaveLength(100);
    expect(gone.wasRemoved('eni-0')).toBe(true);
    expect(gone.wasRemoved('eni-1')).toBe(false);
  });

  test('is forgotten once a read that is not stale shows it again', () => {
    const gone = goneAt(0, 0);

    gone.forget('eni-0');

    expect(gone.ids).toEqual(['eni-1']);
  });
});

describe('an interface that is removed while its instance is not shown whole', () => {
  test('is remembered, of the newest 100', () => {
    const gone = new GoneInterfaces(window);

    for (let index = 0; index < 150; index++) gone.depart(`eni-${index}`);

    expect(gone.ids).toEqual(Array.from({ length: 100 }, (_, index) => `eni-${index + 50}`));
  });
});
