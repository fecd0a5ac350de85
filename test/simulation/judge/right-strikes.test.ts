import { expect, test } from '@jest/globals';
import { RightStrikes } from './right-strikes.ts';

type Deed = 'struck when lost' | 'struck when there' | 'shown anew';

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
  [['struck when there'], 'address-vanished', 0, false],
  [['struck when lost', 'shown anew', 'struck when there'], 'address-vanished', 0, false],
  [['struck when lost', 'struck when there', 'shown anew'], 'address-vanished', 0, false],
])('after %j, %s is accounted for %d ms later: %j', (deeds, finding, later, isAccountedFor) => {
  let now = 1000;
  const strikes = new RightStrikes(() => now);
  for (const deed of deeds) {
    if (deed === 'shown anew') strikes.shown('i-1', '10.0.0.1');
    else strikes.struck('i-1', '10.0.0.1', deed === 'struck when lost');
  }
  now += later;

  expect(strikes.account('i-1', '10.0.0.1', finding)).toBe(isAccountedFor);
  expect(strikes.account('i-2', '10.0.0.1', finding)).toBe(false);
  expect(strikes.account('i-1', '10.0.0.2', finding)).toBe(false);
});
