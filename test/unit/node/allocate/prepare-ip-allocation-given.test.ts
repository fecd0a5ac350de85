import { describe, expect, test } from '@jest/globals';
import type { AllocationFacts } from '../../../../src/node/allocate/allocation-facts.ts';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import type { InstanceLimits } from '../../../../src/providers/contract/facts.ts';
import type { PlannedStep } from '../../../../src/node/allocate/planned-step.ts';
import { eni, facts, infrastructure, requirements, unreadable, view } from '../allocation-facts.ts';
import { failure } from '../outcomes.ts';
import { inShort } from '../steps-in-short.ts';

const inFlight: PlannedStep = { kind: 'allocateIPs', interfaceId: 'eni-0', subnetId: 'subnet-1', count: 5 };
const changing = { condition: 'changing' } as const;
const failed = { condition: 'failed' } as const;

function withLimit(addressesPerInstance: number): InstanceLimits {
  return { interfaces: 2, addressesPerInterface: 10, addressesPerInstance, prefixes: false };
}

function given(change: Parameters<typeof facts>[0]): AllocationFacts {
  return facts({
    traits: { interfaces: 'given', change: 'perInstance', maxPerCall: Infinity },
    limits: { interfaces: 2, addressesPerInterface: 10, prefixes: false },
    ...change,
  });
}

describe('a plan for an instance that was given its interfaces', () => {
  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['fills an interface', { wanted: 5 }, ['eni-0+5']],
    ['creates none for the rest', { wanted: 20 }, ['eni-0+9']],
    ['changes one interface at a time', { wanted: 15, view: view([eni(0), eni(1)]) }, ['eni-0+9']],
    ['goes on with the next interface', { wanted: 15, view: view([eni(0, 9), eni(1)]) }, ['eni-1+9']],
    ['starts nothing while a change is under way', { wanted: 15, stepsInFlight: [inFlight] }, []],
    [
      'leaves a known interface that can no longer be read',
      { view: { ...view([eni(0), eni(1)]), obscured: [unreadable({ id: 'eni-0' })] } },
      ['eni-1+8'],
    ],
    ['leaves an interface that is changing', { view: view([eni(0, 0, changing)]) }, []],
    [
      'uses another interface than one that is changing',
      { view: view([eni(0, 0, changing), eni(1)]) },
      ['eni-1+8'],
    ],
    [
      'adds no more than the limit leaves if the one that is changing gets as many as it has room for',
      { max: 11, view: view([eni(0, 0, changing), eni(1)]) },
      ['eni-1+2'],
    ],
    ['adds nothing if that may use up the limit', { max: 9, view: view([eni(0, 0, changing), eni(1)]) }, []],
    [
      'adds to the named interface only',
      {
        wanted: 20,
        view: view([eni(0, 0, { name: 'nic0' }), eni(1, 0, { name: 'nic1' })]),
        requirements: requirements({ interfaceName: 'nic1' }),
      },
      ['eni-1+9'],
    ],
    [
      'adds no more than the limit of the whole instance leaves',
      { wanted: 20, limits: withLimit(14), view: view([eni(0, 4), eni(1, 3)]) },
      ['eni-0+5'],
    ],
    [
      'adds nothing where all interfaces together are full',
      { wanted: 20, limits: withLimit(9), view: view([eni(0, 4), eni(1, 3)]) },
      [],
    ],
    ['asks for no more at once than was not refused', { wanted: 8, maxFor: () => 3 }, ['eni-0+3']],
    ['asks for what the subnet has', { wanted: 8, free: { 'subnet-1': 3 } }, ['eni-0+3']],
  ])('%s', (_, change, expected) => {
    expect(inShort(prepareIPAllocation(given(change)).steps)).toEqual(expected);
  });

  test.each<[string, Parameters<typeof facts>[0], object]>([
    [
      'names what cannot be read beside full interfaces',
      { view: view([eni(0, 9)], [unreadable({ id: 'eni-9' })]) },
      { kind: 'interfacesUnreadable', interfaces: [unreadable({ id: 'eni-9' })] },
    ],
    [
      'names what can be read no longer beside full interfaces',
      { view: { ...view([eni(0, 9), eni(1, 2)]), obscured: [unreadable({ id: 'eni-1' })] } },
      { kind: 'interfacesUnreadable', interfaces: [unreadable({ id: 'eni-1' })] },
    ],
    ['names the full interfaces', { view: view([eni(0, 9)]) }, { kind: 'noInterfaceSlots', interfaces: 2 }],
    [
      'names the first index that excludes the others',
      { view: view([eni(0), eni(1)]), requirements: requirements({ firstInterfaceIndex: 2 }) },
      { kind: 'noInterfaceSlots', interfaces: 2, below: { count: 2, firstInterfaceIndex: 2 } },
    ],
    [
      'names the full subnet',
      { view: view([eni(0, 1)]), free: { 'subnet-1': 0 } },
      { kind: 'subnetsExhausted', subnetIds: ['subnet-1'] },
    ],
    [
      'names why its subnet cannot be read',
      {
        infrastructure: infrastructure([], {
          unreadSubnets: new Map([['subnet-1', failure('notAuthorized')]]),
        }),
      },
      { kind: 'networkUnreadable', failure: { kind: 'notAuthorized' } },
    ],
    [
      'names the failed interface',
      { view: view([eni(0, 0, failed), eni(1, 9)]) },
      { kind: 'interfacesFailed', interfaceIds: ['eni-0'] },
    ],
  ])('%s if no step brings the rest', (_, change, obstacle) => {
    expect(prepareIPAllocation(given(change))).toMatchObject({ isStuck: true, obstacle });
  });

  test('is not stuck while it asks for part of it', () => {
    expect(prepareIPAllocation(given({ maxFor: () => 3 }))).toMatchObject({ isStuck: false, unmet: 5 });
  });

  test('is not stuck while an interface is changing', () => {
    const plan = prepareIPAllocation(given({ view: view([eni(0, 0, changing)]) }));

    expect(plan).toMatchObject({ isStuck: false, obstacle: undefined, unmet: 8 });
  });
});
