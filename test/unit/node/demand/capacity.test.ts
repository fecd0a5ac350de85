import { describe, expect, test } from '@jest/globals';
import type { InstanceLimits, OccupiedSlot } from '../../../../src/providers/contract/facts.ts';
import {
  addressesPerInterface,
  delegatesPrefixes,
  maximumAllocatable,
  maxAllocatable,
  nodeCapacity,
  occupiedSlots,
  placesLeft,
  podAddresses,
  reachablePreAllocate,
  roomOn,
} from '../../../../src/node/demand/capacity.ts';
import { unfitOn } from '../../../../src/node/demand/holdings.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import { interfaceByName } from '../../../../src/providers/contract/network-interface.ts';
import { attachment } from '../../providers/interfaces.ts';
import { addressless, eni, m5Large, requirements, unreadable, view } from '../allocation-facts.ts';

const asked = { firstInterfaceIndex: 0, usePrimaryAddress: false, prefixDelegation: false };

const onOtherCard = eni(1, 0, {
  reservedFor: 'network card 1',
  attachment: attachment({ deviceIndex: 1, networkCard: 1 }),
});

describe('the addresses per interface', () => {
  test.each([
    [10, false, 9],
    [10, true, 10],
    [1, false, 0],
    [1, true, 1],
    [0, false, 0],
  ])(
    'are counted for a limit of %i, with the primary one included (%s)',
    (limit, usePrimaryAddress, expected) => {
      const limits = { interfaces: 3, addressesPerInterface: limit, prefixes: true };

      expect(addressesPerInterface(limits, { ...asked, usePrimaryAddress })).toBe(expected);
    },
  );
});

function boundedTo(interfaces: number): InstanceLimits {
  return { interfaces, addressesPerInterface: 256, addressesPerInstance: 256, prefixes: false };
}

describe('the maximum of a node', () => {
  test.each<[string, InstanceLimits | undefined, number, boolean, number]>([
    ['m5.large from 0', m5Large, 0, false, 27],
    ['m5.large from 1', m5Large, 1, false, 18],
    ['m5.large with primary addresses', m5Large, 0, true, 30],
    ['m5.large with the primary addresses from 1', m5Large, 1, true, 20],
    ['a first index that it cannot have', m5Large, 4, false, 0],
    ['an unknown type', undefined, 0, false, 0],
    ['one address per interface', { interfaces: 3, addressesPerInterface: 1, prefixes: true }, 0, false, 0],
    ['a bound of the instance, one interface', boundedTo(1), 0, false, 255],
    ['a bound of the instance, three interfaces', boundedTo(3), 0, false, 253],
    ['a bound of the instance, with primary addresses', boundedTo(3), 0, true, 256],
    ['a bound of the instance, and a first index', boundedTo(3), 2, true, 254],
    ['a bound of the instance that primary addresses reach', boundedTo(300), 0, false, 0],
  ])('is computed: %s', (_, limits, firstInterfaceIndex, usePrimaryAddress, expected) => {
    expect(maximumAllocatable(limits, { ...asked, firstInterfaceIndex, usePrimaryAddress })).toBe(expected);
  });
});

describe('the pre-allocate of a node that has none', () => {
  test.each<[string, InstanceLimits | undefined, number, number]>([
    ['an unknown type', undefined, 0, 8],
    ['m5.large', m5Large, 0, 8],
    ['a small one', { interfaces: 2, addressesPerInterface: 4, prefixes: true }, 0, 6],
    ['a small one from 1', { interfaces: 2, addressesPerInterface: 4, prefixes: true }, 1, 3],
    ['no interface left', m5Large, 3, 0],
    ['less than none', m5Large, 5, 0],
    ['no address for pods', { interfaces: 3, addressesPerInterface: 1, prefixes: true }, 0, 0],
  ])('is chosen for %s', (_, limits, firstInterfaceIndex, expected) => {
    expect(reachablePreAllocate(limits, { ...asked, firstInterfaceIndex })).toBe(expected);
    // The agent relies on the promised capacity, and knows nothing of primary addresses.
    expect(reachablePreAllocate(limits, { ...asked, firstInterfaceIndex, usePrimaryAddress: true })).toBe(
      expected,
    );
  });
});

describe('the capacity of a node', () => {
  test.each([
    ['m5.large', [eni(0)], {}, 27],
    ['without any interface known', [], {}, 27],
    ['with primary addresses', [eni(0)], { usePrimaryAddress: true }, 30],
    ['one interface has a prefix', [eni(0), eni(1, 0, { prefixes: ['10.0.9.0/28'] })], {}, 42],
    ['two prefixes', [eni(0, 0, { prefixes: ['10.0.9.0/28', '10.0.9.16/28'] })], {}, 57],
    ['the first interface is excluded', [eni(0), eni(1)], { firstInterfaceIndex: 1 }, 18],
    [
      'an interface is excluded by tags',
      [eni(0), eni(1, 0, { tags: { keep: 'out' } })],
      { excludeInterfaceTags: { keep: 'out' } },
      18,
    ],
    [
      'prefixes of an excluded interface',
      [eni(0, 0, { prefixes: ['10.0.9.0/28'] })],
      { firstInterfaceIndex: 1 },
      18,
    ],
    ['an interface is reserved', [eni(0), eni(1, 0, { reservedFor: 'efa' })], {}, 18],
    ['an interface is on another card', [eni(0), onOtherCard], {}, 27],
    ['more excluded than there is', [0, 1, 2, 3].map((index) => eni(index)), { firstInterfaceIndex: 9 }, 0],
  ])('is computed: %s', (_, interfaces, change, expected) => {
    expect(nodeCapacity(m5Large, view(interfaces), requirements(change))).toBe(expected);
  });

  test.each([
    ['takes up its slot', 0, 18],
    ['on another card takes up none', 1, 27],
  ])(
    'loses a slot to an unreadable interface, and to one without addresses, that %s',
    (_, networkCard, expected) => {
      const broken = view([eni(0)], [unreadable({ networkCard })]);
      const withoutAddresses = view([eni(0)], [], [addressless({ networkCard })]);

      const capacities = [broken, withoutAddresses].map((seen) =>
        nodeCapacity(m5Large, seen, requirements()),
      );

      expect(capacities).toEqual([expected, expected]);
    },
  );
});

describe('an instance with one limit for all its interfaces', () => {
  const limits = { ...m5Large, prefixes: false, addressesPerInstance: 12 };

  test.each([
    ['one interface holds no more than it can', [eni(0)], {}, 9],
    ['two share it, each with its primary address', [eni(0), eni(1)], {}, 10],
    ['what is no pod address counts', [eni(0, 2, { placesTaken: 3 }), eni(1)], {}, 7],
    ['what an excluded interface has counts', [eni(0, 2), eni(1, 1)], { firstInterfaceIndex: 1 }, 8],
    ['what is there beyond it stays', [eni(0, 9), eni(1, 9)], {}, 18],
  ])('can have no more: %s', (_, interfaces, change, expected) => {
    const counted = { ...limits, interfaces: interfaces.length };
    const seen = view(interfaces);

    expect(maxAllocatable(counted, seen, requirements(change))).toBe(expected);
    expect(nodeCapacity(counted, seen, requirements(change))).toBe(expected);
  });

  test('leaves a place to the primary address of one that cannot be read', () => {
    expect(placesLeft(limits, view([eni(0, 4)], [unreadable()]))).toBe(12 - 5 - 1);
  });
});

/** EFAs, as a p5 has them besides the one on card 0. */
function onCards(first: number, last: number): OccupiedSlot[] {
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const networkCard = first + index;
    return addressless({ id: `eni-efa-${networkCard}`, networkCard });
  });
}

describe('the number of slots taken', () => {
  test.each([
    ['none', view([]), 0],
    ['each interface', view([eni(0), eni(1)]), 2],
    ['reserved ones too', view([eni(0), eni(1, 0, { reservedFor: 'efa' })]), 2],
    ['unreadable ones too', view([eni(0)], [unreadable()]), 2],
    ['those without addresses too', view([eni(0)], [], [addressless()]), 2],
    [
      'none by those without addresses on other cards',
      view([eni(0)], [], [addressless(), ...onCards(1, 31)]),
      2,
    ],
    ['none by other cards', view([eni(0), onOtherCard], [unreadable({ networkCard: 1 })]), 1],
  ])('is computed: %s', (_, seen, expected) => {
    expect(occupiedSlots(seen)).toBe(expected);
  });
});

describe('the room on an interface', () => {
  test.each([
    ['empty', 0, [], 9],
    ['some addresses', 4, [], 5],
    ['a prefix takes one slot', 4, ['10.0.9.0/28'], 4],
    ['full', 9, [], 0],
    ['fuller than allowed', 12, [], 0],
  ])('is computed: %s', (_, count, prefixes, expected) => {
    expect(roomOn(eni(0, count, { prefixes }), m5Large)).toBe(expected);
  });

  test('excludes places that something else takes', () => {
    expect(roomOn(eni(0, 4, { placesTaken: 2 }), m5Large)).toBe(3);
  });
});

describe('the pod addresses of a node', () => {
  const interfaces = [
    eni(0, 1),
    eni(1, 1, { prefixes: ['10.0.9.0/28'] }),
    eni(2, 1, { reservedFor: 'efa' }),
    eni(3, 1, { tags: { keep: 'out' } }),
  ];

  test('are only those that a pool names when nothing else is known of the interface', () => {
    const named = { id: 'eni-9', instanceId: 'i-1', networkId: 'vpc-1', addresses: ['10.0.1.7'] };
    const byName = interfaceByName(named);
    const wanted = (usePrimaryAddress: boolean) =>
      requirements({ firstInterfaceIndex: 1, usePrimaryAddress });

    expect([...podAddresses(view([byName]), wanted(true))]).toEqual([['10.0.1.7', 'eni-9']]);
    expect(unfitOn(byName, wanted(false))).toEqual([]);
  });

  test.each([
    [
      'all but those of excluded interfaces',
      {},
      ['10.0.0.10', '10.0.1.10', ...expandBlock('10.0.9.0/28')],
      'eni-0',
    ],
    [
      'primary ones when the node uses them',
      { usePrimaryAddress: true },
      ['10.0.0.4', '10.0.0.10', '10.0.1.4', '10.0.1.10', ...expandBlock('10.0.9.0/28')],
      'eni-0',
    ],
    ['none below the first index', { firstInterfaceIndex: 2 }, [], undefined],
  ])('are %s', (_, change, expected, first) => {
    const asked = requirements({ excludeInterfaceTags: { keep: 'out' }, ...change });

    const found = podAddresses(view(interfaces), asked);

    expect([...found.keys()]).toEqual(expected);
    expect([...found.values()][0]).toBe(first);
  });
});

const delegating = { ...asked, prefixDelegation: true };
const xen: InstanceLimits = { ...m5Large, prefixes: false };

// docs/ciliumnode-contract.md 4.2
describe('the decision about prefixes for a node', () => {
  test.each<[string, InstanceLimits, boolean, boolean]>([
    ['m4.large, on Xen', { interfaces: 2, addressesPerInterface: 10, prefixes: false }, true, false],
    ['m5.metal', { interfaces: 3, addressesPerInterface: 10, prefixes: true }, true, true],
    ['m5.large', m5Large, true, true],
    ['m5.large that is not to have them', m5Large, false, false],
  ])('is made for %s', (_, limits, prefixDelegation, expected) => {
    expect(delegatesPrefixes(limits, { prefixDelegation })).toBe(expected);
  });
});

describe('the maximum of a node with prefixes', () => {
  test.each<[string, InstanceLimits | undefined, number, boolean, number]>([
    ['m5.large from 0', m5Large, 0, false, 432],
    ['m5.large from 1', m5Large, 1, false, 288],
    ['m5.large with primary addresses, which are no prefixes', m5Large, 0, true, 435],
    ['the same on Xen', xen, 0, false, 27],
    ['a first index that it cannot have', m5Large, 4, false, 0],
    ['an unknown type', undefined, 0, false, 0],
  ])('is computed: %s', (_, limits, firstInterfaceIndex, usePrimaryAddress, expected) => {
    const change = { ...delegating, firstInterfaceIndex, usePrimaryAddress };

    expect(maximumAllocatable(limits, change)).toBe(expected);
  });

  test.each([
    [
      'counts prefixes that the node has when it would get no more',
      {},
      [eni(0, 0, { prefixes: ['10.0.9.0/28'] })],
      42,
    ],
    [
      'counts none of an excluded interface',
      { firstInterfaceIndex: 1 },
      [eni(0, 0, { prefixes: ['10.0.9.0/28'] })],
      18,
    ],
    [
      'is that of its slots when the node gets prefixes',
      { prefixDelegation: true },
      [eni(0, 3, { prefixes: ['10.0.9.0/28'] })],
      432,
    ],
    [
      'has no limit when none is known',
      { firstInterfaceIndex: 4 },
      [eni(4, 0, { prefixes: ['10.0.9.0/28'] })],
      0,
    ],
  ])('%s', (_, change, interfaces, expected) => {
    expect(maxAllocatable(m5Large, view(interfaces), requirements(change))).toBe(expected);
  });
});

// docs/ciliumnode-contract.md 4.3; the rows without prefixes are those of the capacity of a node above.
describe('the capacity of a node with prefixes', () => {
  test.each([
    ['m5.large', [eni(0)], {}, 432],
    ['with primary addresses', [eni(0)], { usePrimaryAddress: true }, 480],
    ['prefixes that it has', [eni(0, 0, { prefixes: ['10.0.9.0/28', '10.0.9.16/28'] })], {}, 432],
    ['slots that single addresses take', [eni(0, 4)], {}, 432 - 4 * 15],
    ['single addresses of an excluded interface', [eni(0, 4)], { firstInterfaceIndex: 1 }, 288],
  ])('is computed: %s', (_, interfaces, change, expected) => {
    const wanted = requirements({ prefixDelegation: true, ...change });

    expect(nodeCapacity(m5Large, view(interfaces), wanted)).toBe(expected);
  });

  test('is that of single addresses on Xen', () => {
    expect(nodeCapacity(xen, view([eni(0)]), requirements({ prefixDelegation: true }))).toBe(27);
  });
});

test('the pre-allocate of a node that has none is not 16 times as large with prefixes', () => {
  const small = { interfaces: 2, addressesPerInterface: 3, prefixes: true };

  expect(reachablePreAllocate(small, delegating)).toBe(4);
});
