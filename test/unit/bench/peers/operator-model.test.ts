import { describe, expect, test } from '@jest/globals';
import { operatorScaleUp } from '../../../../bench/peers/operator-model.ts';

describe('operatorScaleUp', () => {
  test('makes the calls of one node one after another, then a reading', () => {
    const oneAssign = operatorScaleUp({ nodes: 1, firstInterfaceIndex: 0, scale: 1 });
    const createAndAttach = operatorScaleUp({ nodes: 1, firstInterfaceIndex: 1, scale: 1 });

    expect(oneAssign).toMatchObject({ mutating: 1, reads: 1 });
    expect(oneAssign.seconds).toBeCloseTo(0.5 + 0.01 + 0.18, 9);
    expect(createAndAttach).toMatchObject({ mutating: 3, reads: 1 });
    expect(createAndAttach.seconds).toBeCloseTo(1 + 0.74 + 0.34 + 0.01 + 0.18, 9);
  });

  test('makes 20 calls at once, and the 21st after a quarter of a second', () => {
    const ten = operatorScaleUp({ nodes: 10, firstInterfaceIndex: 0, scale: 1 });
    const eleven = operatorScaleUp({ nodes: 11, firstInterfaceIndex: 0, scale: 1 });

    expect(ten.seconds).toBeCloseTo(0.69, 9);
    // At 0.51 s two tokens have been refilled; the two excess reads have taken them.
    expect(eleven.seconds).toBeCloseTo(0.69, 9);
  });

  test.each([
    [1000, 0 as const, 1, 1],
    [1000, 1 as const, 3, 1],
    [200, 1 as const, 3, 1],
  ])(
    'lets all changes of %d nodes with first index %d wait for one limiter, and readings behind them',
    (nodes, firstInterfaceIndex, changes, looks) => {
      const result = operatorScaleUp({ nodes, firstInterfaceIndex, scale: 1 });

      expect(result.mutating).toBe(nodes * changes);
      expect(result.reads).toBeGreaterThanOrEqual(nodes * looks);
      // The first change is read only after the last one: then all are published together.
      const limiterAlone = (result.mutating - 20) / 4;
      expect(result.seconds).toBeGreaterThan(limiterAlone);
      expect(result.seconds).toBeLessThan(limiterAlone + 3);
      expect(result.half).toBeLessThanOrEqual(result.seconds);
      expect(result.half).toBeGreaterThan(limiterAlone * 0.9);
    },
  );

  test('takes a tenth of the time for as many calls when everything is ten times faster', () => {
    const plain = operatorScaleUp({ nodes: 300, firstInterfaceIndex: 1, scale: 1 });
    const scaled = operatorScaleUp({ nodes: 300, firstInterfaceIndex: 1, scale: 10 });

    expect(scaled.mutating).toBe(plain.mutating);
    // The burst grows with the rate, so it is less than a tenth.
    expect(scaled.seconds).toBeLessThan(plain.seconds / 10);
    expect(scaled.seconds).toBeGreaterThan((plain.mutating - 200) / 40);
  });
});
