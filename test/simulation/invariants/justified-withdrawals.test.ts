import { expect, test } from '@jest/globals';
import { RightStrikes } from './justified-withdrawals.ts';

type Deed = 'struck when lost' | 'struck when free' | 'struck when in use' | 'shown anew';

const standings = {
  'struck when lost': 'lost',
  'struck when free': 'free',
  'struck when in use': 'in use',
} as const;

test.each<[readonly Deed[], string, number, boolean]>([
  [[], 'address-vanished', 0, false],
  [['struck when lost'], 'address-vanished', 0, true],
  [['struck when lost'], 'interface-vanished', 0, true],
  [['struck when lost'], 'lost-across-restart', 0, true],
  [['struck when lost'], 'released-while-in-use', 0, false],
  [['struck when lost'], 'address-moved', 0, false],
  [['struck when lost'], 'address-vanished', 3_600_000, true],
  [['struck when lost', 'shown anew'], 'address-vanished', 180_000, true],
  [['struck when lost', 'shown anew'], 'address-vanished', 180_001, false],
  [['struck when in use'], 'address-vanished', 0, false],
  [['struck when lost', 'shown anew', 'struck when in use'], 'address-vanished', 0, false],
  [['struck when lost', 'struck when in use', 'shown anew'], 'address-vanished', 0, false],
  [['struck when free'], 'lost-across-restart', 600_000, true],
  [['struck when free'], 'lost-across-restart', 600_001, false],
  [['struck when free'], 'address-vanished', 0, false],
  [['struck when free', 'shown anew'], 'lost-across-restart', 0, true],
  [['struck when free', 'struck when in use'], 'lost-across-restart', 0, false],
])('after %j, %s is accounted for %d ms later: %j', (deeds, finding, later, isAccountedFor) => {
  let now = 1000;
  const strikes = new RightStrikes(() => now);
  for (const deed of deeds) {
    if (deed === 'shown anew') strikes.shown('i-1', '10.0.0.1');
    else strikes.struck('i-1', '10.0.0.1', standings[deed]);
  }
  now += later;

  expect(strikes.account('i-1', '10.0.0.1', finding)).toBe(isAccountedFor);
  expect(strikes.account('i-2', '10.0.0.1', finding)).toBe(false);
  expect(strikes.account('i-1', '10.0.0.2', finding)).toBe(false);
});
