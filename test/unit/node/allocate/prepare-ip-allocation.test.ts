import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { type PlannedStep, subnetAddressesUsed } from '../../../../src/node/allocate/planned-step.ts';
import type { AllocationFacts } from '../../../../src/node/allocate/allocation-facts.ts';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import { addresses, attachment, networkInterface } from '../../providers/interfaces.ts';
import { eni, facts, infrastructure, requirements, subnet, unreadable, view } from '../allocation-facts.ts';
import { inShort, steps } from '../steps-in-short.ts';

const created: PlannedStep = {
  kind: 'createInterface',
  subnetId: 'subnet-1',
  securityGroupIds: [],
  deviceIndex: 1,
  count: 4,
  prefixCount: 0,
};
const filled: PlannedStep = { kind: 'allocateIPs', interfaceId: 'eni-0', subnetId: 'subnet-1', count: 5 };
const full = eni(0, 9);

describe('a plan', () => {
  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['is empty when nothing is', { wanted: 0 }, []],
    ['is empty when less than nothing is', { wanted: -3 }, []],
    ['fills an interface', { wanted: 8 }, ['eni-0+8']],
    [
      'creates an interface when new ones are preferred',
      { wanted: 8, preferNew: true },
      ['new@1:subnet-1+8'],
    ],
    [
      'fills an interface with what new ones leave',
      { wanted: 20, preferNew: true },
      ['new@1:subnet-1+9', 'new@2:subnet-1+9', 'eni-0+2'],
    ],
    [
      'fills an interface when new ones are preferred and there is no slot for one',
      { wanted: 5, preferNew: true, view: view([eni(0), eni(1), eni(2)]) },
      ['eni-0+5'],
    ],
    [
      'fills the rest of an interface',
      { wanted: 8, view: view([eni(0, 7)]) },
      ['eni-0+2', 'new@1:subnet-1+6'],
    ],
    [
      'counts a prefix as one address',
      { wanted: 9, view: view([eni(0, 4, { prefixes: ['10.0.9.0/28'] })]) },
      ['eni-0+4', 'new@1:subnet-1+5'],
    ],
    [
      'fills interfaces in order of their index',
      { wanted: 12, view: view([eni(0), eni(1)]) },
      ['eni-0+9', 'eni-1+3'],
    ],
    [
      'creates a full interface, and another for the rest',
      { wanted: 14, view: view([full]) },
      ['new@1:subnet-1+9', 'new@2:subnet-1+5'],
    ],
    [
      'creates no more than the instance has slots',
      { wanted: 99, view: view([full]) },
      ['new@1:subnet-1+9', 'new@2:subnet-1+9'],
    ],
  ])('%s', (_, change, expected) => {
    expect(steps(change)).toEqual(expected);
  });

  test('says what no step brings', () => {
    const plan = prepareIPAllocation(facts({ wanted: 99, view: view([full]) }));

    expect(plan).toMatchObject({ unmet: 81, obstacle: { kind: 'noInterfaceSlots', interfaces: 3 } });
  });

  test('has no obstacle when nothing is missing', () => {
    const plan = prepareIPAllocation(facts({ wanted: 18, view: view([full]) }));

    expect(plan).toMatchObject({ unmet: 0, obstacle: undefined });
  });
});

describe('a plan with operations in flight', () => {
  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['is not requested again', { wanted: 8, stepsInFlight: [filled] }, ['eni-0+3']],
    ['may be all', { wanted: 8, stepsInFlight: [filled, created] }, []],
    ['may be more than all', { wanted: 3, stepsInFlight: [filled] }, []],
    [
      'takes up room',
      { wanted: 20, stepsInFlight: [filled] },
      ['eni-0+4', 'new@1:subnet-1+9', 'new@2:subnet-1+2'],
    ],
    [
      'takes up slots and indexes',
      { wanted: 40, view: view([full]), stepsInFlight: [created] },
      ['new@2:subnet-1+9'],
    ],
    [
      'includes primary addresses when pods may have them',
      { wanted: 6, stepsInFlight: [created], requirements: requirements({ usePrimaryAddress: true }) },
      ['eni-0+1'],
    ],
  ])('counts what is in flight, which %s', (_, change, expected) => {
    expect(steps(change)).toEqual(expected);
  });
});

describe('primary addresses that pods use', () => {
  const asked = requirements({ usePrimaryAddress: true });

  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    [
      'count for new interfaces',
      { wanted: 12, view: view([full]) },
      ['new@1:subnet-1+9', 'new@2:subnet-1+1'],
    ],
    ['may be all that is needed', { wanted: 1, view: view([full]) }, ['new@1:subnet-1+0']],
    [
      'make no room on existing interfaces',
      { wanted: 10, view: view([eni(0, 3)]) },
      ['eni-0+6', 'new@1:subnet-1+3'],
    ],
    [
      'are served when nothing else is available',
      {
        wanted: 2,
        view: view([eni(0)]),
        limits: { interfaces: 3, addressesPerInterface: 1, prefixes: true },
      },
      ['new@1:subnet-1+0', 'new@2:subnet-1+0'],
    ],
  ])('%s', (_, change, expected) => {
    expect(steps({ ...change, requirements: asked })).toEqual(expected);
  });
});

describe('an interface that is not to be used', () => {
  const asked = requirements({ excludeInterfaceTags: { keep: 'out' } });

  test.each<[string, Parameters<typeof facts>[0]]>([
    ['is below the first index', { requirements: requirements({ firstInterfaceIndex: 1 }) }],
    ['carries the tags', { view: view([eni(0, 0, { tags: { keep: 'out' } })]), requirements: asked }],
    ['is reserved', { view: view([eni(0, 0, { reservedFor: 'efa' })]) }],
    ['is frozen', { frozen: new Set(['eni-0']) }],
    ['may be gone already', { view: { ...view([eni(0)]), possiblyGone: new Set(['eni-0']) } }],
    ['is on its way in', { view: view([eni(0, 0, { attachment: attachment({ state: 'attaching' }) })]) }],
    ['is on its way out', { view: view([eni(0, 0, { attachment: attachment({ state: 'detaching' }) })]) }],
    [
      'is in a subnet that is not eligible',
      { infrastructure: infrastructure([subnet('subnet-1', { eligible: false }), subnet('subnet-2')]) },
    ],
    ['is in a subnet that is not known', { infrastructure: infrastructure([subnet('subnet-2')]) }],
  ])('is one that %s', (_, change) => {
    const planned = steps({ wanted: 8, free: { 'subnet-1': 50, 'subnet-2': 90 }, ...change });

    expect(planned.map((step) => step.split(':')[0])).toEqual(['new@1']);
  });
});

describe('the index of a new interface', () => {
  const leaving = { attachment: attachment({ deviceIndex: 2, state: 'detaching' }) };
  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['is the lowest free one', { view: view([full, eni(2, 9)]) }, ['new@1']],
    [
      'is not below the first index',
      { view: view([full]), requirements: requirements({ firstInterfaceIndex: 2 }) },
      ['new@2'],
    ],
    ['is not that of an unreadable interface', { view: view([full], [unreadable()]) }, ['new@2']],
    [
      'may be one that another card has',
      {
        view: view([
          full,
          eni(1, 9, { reservedFor: 'card', attachment: attachment({ deviceIndex: 1, networkCard: 1 }) }),
        ]),
      },
      ['new@1'],
    ],
    [
      'may be beyond the number of interfaces',
      { view: view([full]), requirements: requirements({ firstInterfaceIndex: 7 }) },
      ['new@7'],
    ],
  ])('%s', (_, change, expected) => {
    expect(steps({ wanted: 5, ...change }).map((step) => step.split(':')[0])).toEqual(expected);
  });

  test.each([
    ['reserved', view([full, eni(1, 9), eni(2, 0, { reservedFor: 'efa' })])],
    ['excluded', view([full, eni(1, 9), eni(2, 0, { tags: { keep: 'out' } })])],
    ['unreadable', view([full, eni(1, 9)], [unreadable({ deviceIndex: undefined })]), 'interfacesUnreadable'],
    [
      'no longer readable',
      { ...view([full, eni(1, 9), eni(2, 3)]), obscured: [unreadable({ id: 'eni-2' })] },
      'interfacesUnreadable',
    ],
    ['being detached', view([full, eni(1, 9), eni(2, 3, leaving)]), 'interfacesDetaching'],
    ['being detached, and full', view([full, eni(1, 9), eni(2, 9, leaving)]), 'interfacesDetaching'],
  ])('is none when the last slot is %s', (_, seen, kind = 'noInterfaceSlots') => {
    const asked = requirements({ excludeInterfaceTags: { keep: 'out' } });

    const plan = prepareIPAllocation(facts({ wanted: 5, view: seen, requirements: asked }));

    expect(plan).toMatchObject({ steps: [], obstacle: { kind } });
  });
});

describe('subnets in a plan', () => {
  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['are not asked for more than they have', { wanted: 8, free: { 'subnet-1': 3 } }, ['eni-0+3']],
    [
      'nor by several interfaces together',
      { wanted: 20, view: view([eni(0), eni(1)]), free: { 'subnet-1': 12 } },
      ['eni-0+9', 'eni-1+3'],
    ],
    [
      'give a new interface its primary address too',
      { wanted: 8, view: view([full]), free: { 'subnet-1': 5 } },
      ['new@1:subnet-1+4'],
    ],
    [
      'with one address left get no interface',
      { wanted: 8, view: view([full]), free: { 'subnet-1': 1 } },
      [],
    ],
    [
      'are left for others when they run low',
      { wanted: 18, view: view([full]), free: { 'subnet-1': 12, 'subnet-2': 11 } },
      ['new@1:subnet-1+9', 'new@2:subnet-2+9'],
    ],
    [
      'are taken to the last one when there is no other',
      { wanted: 18, view: view([full]), free: { 'subnet-1': 10, 'subnet-2': 4 } },
      ['new@1:subnet-1+9', 'new@2:subnet-2+3'],
    ],
    [
      'are not emptied by a new interface before an existing one is full',
      { wanted: 9, view: view([eni(0, 5)]), free: { 'subnet-1': 8 } },
      ['eni-0+4', 'new@1:subnet-1+3'],
    ],
  ])('%s', (_, change, expected) => {
    expect(steps(change)).toEqual(expected);
  });
});

describe('the obstacle of a plan', () => {
  const slots = { kind: 'noInterfaceSlots', interfaces: 3 };
  const busy = [full, eni(1, 9), eni(2, 9)];

  test.each<[string, Parameters<typeof facts>[0], object | undefined]>([
    ['all slots taken, all interfaces full', { view: view(busy) }, slots],
    [
      'no address beyond primary ones',
      { limits: { interfaces: 3, addressesPerInterface: 1, prefixes: true } },
      slots,
    ],
    [
      'an interface has room and its subnet has nothing',
      { view: view([full, eni(1, 9), eni(2, 3)]), free: { 'subnet-1': 0 } },
      { kind: 'subnetsExhausted', subnetIds: ['subnet-1'] },
    ],
    [
      'an interface has room and its subnet has too little',
      { view: view([full, eni(1, 9), eni(2, 3)]), free: { 'subnet-1': 2 } },
      { kind: 'subnetsExhausted', subnetIds: ['subnet-1'] },
    ],
    [
      'several interfaces have room and their subnets have nothing',
      {
        view: view([full, eni(1, 3, { subnetId: 'subnet-3' }), eni(2, 3, { subnetId: 'subnet-2' })]),
        free: { 'subnet-1': 50, 'subnet-2': 0, 'subnet-3': 0 },
      },
      { kind: 'subnetsExhausted', subnetIds: ['subnet-2', 'subnet-3'] },
    ],
    [
      'an interface has room in a subnet that is filtered out',
      {
        view: view([full, eni(1, 9), eni(2, 3)]),
        infrastructure: infrastructure([subnet('subnet-1', { eligible: false })]),
      },
      slots,
    ],
    [
      'nothing left for a new interface',
      { view: view([full]), free: { 'subnet-1': 1, 'subnet-2': 0 } },
      { kind: 'subnetsExhausted', subnetIds: ['subnet-1', 'subnet-2'], selection: 'all in us-west-1a' },
    ],
    [
      'no subnet for a new interface',
      { view: view([full]), infrastructure: infrastructure([]) },
      { kind: 'noSubnetMatches', wanted: 'a subnet of vpc-1 in us-west-1a' },
    ],
    [
      'no security group with the tags',
      { view: view([full]), requirements: requirements({ securityGroupTags: { k: '1' } }) },
      { kind: 'noSecurityGroupMatches', wanted: 'k=1' },
    ],
    ['no group known', { view: view([eni(1, 9)]) }, { kind: 'securityGroupsUnknown', networkId: 'vpc-1' }],
    [
      'nothing but a call whose answer got lost',
      { view: view([full, eni(1, 9), eni(2, 3)]), frozen: new Set(['eni-2']) },
      undefined,
    ],
    [
      'a full interface that is frozen could not serve the rest anyway',
      { view: view(busy), frozen: new Set(['eni-2']) },
      slots,
    ],
    [
      'nor could an excluded one',
      {
        view: view([eni(0), eni(1, 9), eni(2, 9)]),
        frozen: new Set(['eni-0']),
        requirements: requirements({ firstInterfaceIndex: 1 }),
      },
      slots,
    ],
  ])('is reported: %s', (_, change, obstacle) => {
    const plan = prepareIPAllocation(facts({ wanted: 8, ...change }));

    expect(plan.unmet).toBeGreaterThan(0);
    expect(plan.obstacle).toEqual(obstacle);
  });
});

test('a new interface gets the chosen security groups and subnet', () => {
  const plan = prepareIPAllocation(
    facts({
      view: view([full]),
      free: { 'subnet-1': 9, 'subnet-2': 50 },
      requirements: requirements({ securityGroupIds: ['sg-b', 'sg-a'] }),
    }),
  );

  expect(plan.steps).toEqual([
    {
      kind: 'createInterface',
      subnetId: 'subnet-2',
      securityGroupIds: ['sg-b', 'sg-a'],
      deviceIndex: 1,
      count: 8,
      prefixCount: 0,
    },
  ]);
});

/** A detached interface in `subnet-1` with this many addresses. */
function orphan(id: string, count: number, subnetId = 'subnet-1'): NetworkInterface {
  return networkInterface({ id, subnetId, addresses: addresses(count, 7), attachment: undefined });
}

describe('orphaned interfaces in a plan', () => {
  const adopting: PlannedStep = {
    kind: 'adoptInterface',
    interfaceId: 'eni-8',
    subnetId: 'subnet-1',
    deviceIndex: 1,
    count: 4,
    room: 5,
  };
  const fullView = view([full]);

  test.each<[string, Parameters<typeof facts>[0], Partial<AllocationFacts['orphans']>, readonly string[]]>([
    [
      'are not touched while others have room',
      { wanted: 8, view: view([eni(0)]) },
      { fit: [orphan('eni-8', 9)] },
      ['eni-0+8'],
    ],
    ['are not touched when nothing is wanted', { wanted: 0 }, { fit: [orphan('eni-8', 9)] }, []],
    ['come before a new one', { wanted: 8 }, { fit: [orphan('eni-8', 9)] }, ['adopt eni-8@1']],
    [
      'come together',
      { wanted: 12 },
      { fit: [orphan('eni-7', 9), orphan('eni-8', 9)] },
      ['adopt eni-7@1', 'adopt eni-8@2'],
    ],
    [
      'come only as far as needed',
      { wanted: 9 },
      { fit: [orphan('eni-7', 9), orphan('eni-8', 9)] },
      ['adopt eni-7@1'],
    ],
    [
      'come beside a new one when full',
      { wanted: 12 },
      { fit: [orphan('eni-8', 9)] },
      ['adopt eni-8@1', 'new@2:subnet-1+3'],
    ],
    [
      'come first when they have room for the rest',
      { wanted: 12 },
      { fit: [orphan('eni-8', 2)] },
      ['adopt eni-8@1'],
    ],
    ['come without an address too', { wanted: 3 }, { fit: [orphan('eni-8', 0)] }, ['adopt eni-8@1']],
    [
      'do not come twice',
      { wanted: 9, stepsInFlight: [{ ...adopting, count: 9, room: 0 }] },
      { fit: [] },
      [],
    ],
    [
      'prevent a new interface while they come with room',
      { wanted: 9, stepsInFlight: [adopting] },
      { fit: [] },
      [],
    ],
    [
      'are not expected when it is known that there are none',
      { wanted: 8, view: view([full, eni(1, 9, { id: 'eni-8' })]) },
      { fit: [orphan('eni-8', 9)] },
      ['new@2:subnet-1+8'],
    ],
    [
      'do not come from elsewhere',
      { wanted: 8 },
      { fit: [orphan('eni-8', 9, 'subnet-9')] },
      ['new@1:subnet-1+8'],
    ],
    [
      'are not attached when that exceeds the limit',
      { wanted: 4, max: 8 },
      { fit: [orphan('eni-8', 9)] },
      ['new@1:subnet-1+4'],
    ],
    [
      'come as long as it is not too much',
      { wanted: 9, max: 10 },
      { fit: [orphan('eni-7', 5), orphan('eni-8', 5)] },
      ['adopt eni-7@1'],
    ],
    [
      'do not come without a slot',
      { wanted: 8, view: view([full, eni(1, 9), eni(2, 9)]) },
      { fit: [orphan('eni-8', 9)] },
      [],
    ],
    [
      'are attached when the subnet has nothing else',
      { wanted: 8, free: { 'subnet-1': 0 } },
      { fit: [orphan('eni-8', 9)] },
      ['adopt eni-8@1'],
    ],
    ['are waited for', { wanted: 8 }, { unclear: [orphan('eni-8', 9)] }, []],
    [
      'are waited for, and no more than they bring',
      { wanted: 12 },
      { unclear: [orphan('eni-8', 9)] },
      ['new@1:subnet-1+9'],
    ],
    [
      'are not waited for when they are of no use',
      { wanted: 8 },
      { unclear: [orphan('eni-8', 9, 'subnet-9')] },
      ['new@1:subnet-1+8'],
    ],
    ['are waited for before anything is known of them', { wanted: 8 }, { read: false }, []],
  ])('%s', (_, change, orphans, expected) => {
    const given = facts({
      view: fullView,
      ...change,
      orphans: { read: true, fit: [], unclear: [], ...orphans },
    });

    expect(inShort(prepareIPAllocation(given).steps)).toEqual(expected);
  });

  test.each([
    ['that are waited for are no obstacle', { unclear: [orphan('eni-8', 9)] }, 8],
    ['of which nothing is known yet are no obstacle', { read: false }, 8],
  ])('%s', (_, orphans, unmet) => {
    const given = facts({ view: fullView, orphans: { read: true, fit: [], unclear: [], ...orphans } });

    expect(prepareIPAllocation(given)).toMatchObject({ steps: [], unmet, isStuck: false });
  });

  test('count their primary address when pods use it', () => {
    const asked = requirements({ usePrimaryAddress: true });
    const orphans = { read: true, fit: [orphan('eni-8', 9)], unclear: [] };

    const { steps: planned, unmet } = prepareIPAllocation(
      facts({ view: fullView, wanted: 10, requirements: asked, orphans }),
    );

    expect(planned).toEqual([
      {
        kind: 'adoptInterface',
        interfaceId: 'eni-8',
        subnetId: 'subnet-1',
        deviceIndex: 1,
        count: 10,
        room: 0,
      },
    ]);
    expect(unmet).toBe(0);
    expect(planned.map(subnetAddressesUsed)).toEqual([0]);
  });
});
