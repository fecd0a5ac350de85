import { describe, expect, test } from '@jest/globals';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import type { PlannedStep } from '../../../../src/node/allocate/planned-step.ts';
import { traits } from '../../providers/scripted-implementation.ts';
import { eni, facts, requirements, view } from '../allocation-facts.ts';
import { inShort } from '../steps-in-short.ts';

const coming: PlannedStep = {
  kind: 'createInterface',
  subnetId: 'subnet-1',
  securityGroupIds: [],
  deviceIndex: 1,
  count: 9,
  prefixCount: 0,
};

function given(change: Parameters<typeof facts>[0]): Parameters<typeof prepareIPAllocation>[0] {
  return facts({
    traits: { ...traits, maxPerCall: 10 },
    limits: { interfaces: 4, addressesPerInterface: 20, prefixes: false },
    requirements: requirements({
      firstInterfaceIndex: 1,
      usePrimaryAddress: true,
      securityGroupIds: ['sg-1'],
    }),
    ...change,
  });
}

describe('a plan for a cloud with at most ten addresses in a call', () => {
  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['creates an interface with what is wanted', { wanted: 8 }, ['new@1:subnet-1+7']],
    ['creates one interface for as many as it holds', { wanted: 20 }, ['new@1:subnet-1+9']],
    ['creates another for the rest', { wanted: 21 }, ['new@1:subnet-1+9', 'new@2:subnet-1+0']],
    ['waits for the room on an interface in flight', { wanted: 20, stepsInFlight: [coming] }, []],
    [
      'fills an interface in several calls',
      { wanted: 19, view: view([eni(0), eni(1)]) },
      ['eni-1+10', 'eni-1+9'],
    ],
  ])('%s', (_, change, steps) => {
    expect(inShort(prepareIPAllocation(given(change)).steps)).toEqual(steps);
  });

  test('is not stuck while room is on its way', () => {
    expect(prepareIPAllocation(given({ wanted: 20, stepsInFlight: [coming] })).isStuck).toBe(false);
  });
});

describe('an orphaned interface that agents know by its slot', () => {
  const orphan = eni(2, 5, { id: 'eni-o', attachment: undefined, slot: 2 });
  const orphans = { read: true, fit: [orphan], unclear: [] };

  test('is attached at that slot', () => {
    expect(prepareIPAllocation(given({ wanted: 5, orphans })).steps).toMatchObject([
      { kind: 'adoptInterface', deviceIndex: 2 },
    ]);
  });

  test('is left alone if another interface is there', () => {
    const plan = prepareIPAllocation(given({ wanted: 25, orphans, view: view([eni(0), eni(2, 19)]) }));
    expect(plan.steps.map(({ kind }) => kind)).not.toContain('adoptInterface');
  });
});
