import { expect, test } from '@jest/globals';
import { Faults } from '../../src/simulator/kubernetes/faults/faults.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { delayAgentWatch } from './delayed-watches.ts';

test.each([
  [
    [170_000, 170_000],
    [170_000, 0],
  ],
  [
    [3000, 170_000],
    [3000, 167_000],
  ],
  [
    [3000, 3000],
    [3000, 3000],
  ],
])('delays of %j at once for the agent of one node become %j', (wanted, injected) => {
  const clock = new VirtualClock();
  const faults = new Faults(clock, () => undefined);
  const harness = { clock, cluster: { kubernetes: { faults } } };

  delayAgentWatch(harness, 'other', 170_000);
  for (const ms of wanted) delayAgentWatch(harness, 'node', ms);

  expect(faults.rules().slice(1)).toMatchObject(
    injected.map((ms) => ({ effect: { kind: 'delayEvents', ms } })),
  );
});
