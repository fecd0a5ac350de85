import { expect, test } from '@jest/globals';
import { JustifiedWithdrawals } from './justified-withdrawals.ts';

type Step = 'withdrawn when lost' | 'withdrawn when free' | 'withdrawn when in use' | 'shown again';

const stateOf = {
  'withdrawn when lost': 'lost',
  'withdrawn when free': 'free',
  'withdrawn when in use': 'in use',
} as const;

test.each<[readonly Step[], string, number, boolean]>([
  [[], 'address-vanished', 0, false],
  [['withdrawn when lost'], 'address-vanished', 0, true],
  [['withdrawn when lost'], 'interface-vanished', 0, true],
  [['withdrawn when lost'], 'lost-across-restart', 0, true],
  [['withdrawn when lost'], 'released-while-in-use', 0, false],
  [['withdrawn when lost'], 'address-moved', 0, false],
  [['withdrawn when lost'], 'address-vanished', 3_600_000, true],
  [['withdrawn when lost', 'shown again'], 'address-vanished', 180_000, true],
  [['withdrawn when lost', 'shown again'], 'address-vanished', 180_001, false],
  [['withdrawn when in use'], 'address-vanished', 0, false],
  [['withdrawn when lost', 'shown again', 'withdrawn when in use'], 'address-vanished', 0, false],
  [['withdrawn when lost', 'withdrawn when in use', 'shown again'], 'address-vanished', 0, false],
  [['withdrawn when free'], 'lost-across-restart', 600_000, true],
  [['withdrawn when free'], 'lost-across-restart', 600_001, false],
  [['withdrawn when free'], 'address-vanished', 0, false],
  [['withdrawn when free', 'shown again'], 'lost-across-restart', 0, true],
  [['withdrawn when free', 'withdrawn when in use'], 'lost-across-restart', 0, false],
])('after %j, a withdrawal explains %s %d ms later: %j', (steps, finding, later, isExplained) => {
  let now = 1000;
  const withdrawals = new JustifiedWithdrawals(() => now);
  for (const step of steps) {
    if (step === 'shown again') withdrawals.shown('i-1', '10.0.0.1');
    else withdrawals.withdrawn('i-1', '10.0.0.1', stateOf[step]);
  }
  now += later;

  expect(withdrawals.accountsFor('i-1', '10.0.0.1', finding)).toBe(isExplained);
  expect(withdrawals.accountsFor('i-2', '10.0.0.1', finding)).toBe(false);
  expect(withdrawals.accountsFor('i-1', '10.0.0.2', finding)).toBe(false);
});
