import { describe, expect, test } from '@jest/globals';
import { Holdings, type Whereabouts } from '../../../../src/simulator/workload/holdings.ts';

const offered: Whereabouts = { kind: 'offered', interfaceId: 'eni-1' };
const moved: Whereabouts = { kind: 'offered', interfaceId: 'eni-2' };
const absent: Whereabouts = { kind: 'absent' };
const interfaceAbsent: Whereabouts = { kind: 'interface-absent' };

function heldIn(uid: string): Holdings<{ readonly owner: string; readonly interfaceId: string }> {
  const holdings = new Holdings();
  holdings.hold('10.0.0.1', { owner: 'default/a', interfaceId: 'eni-1' }, uid);
  return holdings;
}

describe('Holdings', () => {
  test.each([
    [offered, []],
    [moved, ['address-moved']],
    [absent, ['address-vanished']],
    [interfaceAbsent, ['interface-vanished']],
  ])('compare an address that is now %j: %j', (found, whats) => {
    const { losses } = heldIn('u1').compare('u1', () => found);

    expect(losses.map((loss) => loss.what)).toEqual(whats);
  });

  test('report a loss once, and again after the address had returned', () => {
    const holdings = heldIn('u1');

    const reported = [absent, absent, offered, absent].map((found) => holdings.compare('u1', () => found));

    expect(reported.map(({ losses, returned }) => [losses.length, returned.length])).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
  });

  test('know what is missing until it returns or is dropped', () => {
    const holdings = heldIn('u1');
    holdings.compare('u1', () => absent);
    const before = holdings.missing;
    holdings.drop('10.0.0.1');

    expect(before).toEqual(new Map([['10.0.0.1', 'default/a']]));
    expect(holdings.missing.size).toBe(0);
  });

  test('report no loss for a recreated CiliumNode that has not offered the address yet', () => {
    const holdings = heldIn('u1');

    const reported = [absent, offered, absent].map(
      (found) => holdings.compare('u2', () => found).losses.length,
    );

    expect(reported).toEqual([0, 0, 1]);
  });
});
