import { describe, expect, test } from '@jest/globals';
import type { Obstacle } from '../../../../src/node/allocate/allocation-plan.ts';
import type { PlannedStep } from '../../../../src/node/allocate/planned-step.ts';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import { eni, facts, view } from '../allocation-facts.ts';

const full = eni(0, 9);

describe('a plan when interfaces in flight take the last slots', () => {
  const coming = (deviceIndex: number, count: number): PlannedStep => ({
    kind: 'createInterface',
    subnetId: 'subnet-1',
    securityGroupIds: [],
    deviceIndex,
    count,
    prefixCount: 0,
  });

  test.each<[string, readonly PlannedStep[], Obstacle | undefined]>([
    ['and will have room, nothing stands in the way', [coming(1, 9), coming(2, 4)], undefined],
    [
      'has an obstacle if they will be full',
      [coming(1, 9), coming(2, 9)],
      { kind: 'noInterfaceSlots', interfaces: 3 },
    ],
  ])('%s', (_, stepsInFlight, obstacle) => {
    const plan = prepareIPAllocation(facts({ wanted: 25, view: view([full]), stepsInFlight }));

    expect(plan.obstacle).toEqual(obstacle);
    expect(plan.steps).toEqual([]);
  });
});
