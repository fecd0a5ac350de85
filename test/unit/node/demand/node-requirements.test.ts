import { describe, expect, test } from '@jest/globals';
import { podAddressCount } from '../../../../src/node/demand/capacity.ts';
import {
  adoptableFor,
  exclusionOf,
  exclusionsOf,
  type NodeRequirements,
  requirementsOf,
  whySpared,
} from '../../../../src/node/demand/node-requirements.ts';
import type { Subnet } from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { networkInterface } from '../../providers/interfaces.ts';
import { eni, infrastructure, requirements, subnet, view } from '../allocation-facts.ts';
import { wellFormed } from '../cilium-nodes.ts';

describe('the exclusion of an interface', () => {
  test.each([
    ['not without a reason', eni(0), {}, undefined],
    ['when it is reserved', eni(0, 0, { reservedFor: 'efa' }), {}, 'it is not for pods: efa'],
    [
      'below the first index',
      eni(0),
      { firstInterfaceIndex: 1 },
      'device index 0 is below first-interface-index 1',
    ],
    [
      'when it is the primary one where that never carries pods',
      eni(0),
      { firstInterfaceIndex: 1, sparesPrimary: true },
      'it is the primary interface',
    ],
    ['not at the first index', eni(1), { firstInterfaceIndex: 1 }, undefined],
    ['not above it', eni(2), { firstInterfaceIndex: 1 }, undefined],
    [
      'when it carries the tags',
      eni(0, 0, { tags: { a: '1', b: '2', c: '3' } }),
      { excludeInterfaceTags: { a: '1', b: '2' } },
      'it carries the tags of exclude-interface-tags',
    ],
    [
      'when it carries any tag of the option',
      eni(0, 0, { tags: { a: '1', b: '2' } }),
      { othersInterfaceTags: { b: '2', z: '9' } },
      'it carries the tag b=2 of --exclude-interface-tags',
    ],
    [
      'not when no value is that of the option',
      eni(0, 0, { tags: { b: '3' } }),
      { othersInterfaceTags: { b: '2' } },
      undefined,
    ],
    [
      'not when it carries some of them',
      eni(0, 0, { tags: { a: '1' } }),
      { excludeInterfaceTags: { a: '1', b: '2' } },
      undefined,
    ],
    ['not when no tags are named', eni(0, 0, { tags: { a: '1' } }), { excludeInterfaceTags: {} }, undefined],
    [
      'when it has no index to know it by',
      eni(0, 0, { attachment: undefined }),
      { firstInterfaceIndex: 1 },
      'device index 0 is below first-interface-index 1',
    ],
  ])('applies %s', (_, item, change, expected) => {
    expect(exclusionOf(item, requirements(change))).toBe(expected);
  });
});

describe('the reasons why interfaces carry no pods', () => {
  test('are listed in the order of the interfaces, without the other interfaces', () => {
    const interfaces = [
      eni(0),
      eni(1, 0, { reservedFor: 'efa' }),
      eni(2, 0, { tags: { role: 'storage' } }),
      eni(3, 0, { attachment: undefined, tags: { role: 'storage' } }),
      eni(4),
    ];
    const asked = requirements({ firstInterfaceIndex: 1, excludeInterfaceTags: { role: 'storage' } });

    expect(exclusionsOf(view(interfaces), asked)).toEqual([
      { interfaceId: 'eni-0', deviceIndex: 0, why: 'device index 0 is below first-interface-index 1' },
      { interfaceId: 'eni-1', deviceIndex: 1, why: 'it is not for pods: efa' },
      { interfaceId: 'eni-2', deviceIndex: 2, why: 'it carries the tags of exclude-interface-tags' },
      {
        interfaceId: 'eni-3',
        deviceIndex: undefined,
        why: 'device index 0 is below first-interface-index 1',
      },
    ]);
  });
});

const { section } = wellFormed(ciliumNode());

describe('addresses of others on an interface', () => {
  const item = eni(0, 3, { ofOthers: ['10.0.0.9'] });

  test.each([
    ['carry pods unless the options spare them', {}, []],
    [
      'are listed with their number where the options spare them',
      { sparesOthers: true },
      [{ interfaceId: 'eni-0', deviceIndex: 0, why: whySpared, addresses: 1 }],
    ],
    [
      'go with their interface where that is excluded',
      { sparesOthers: true, firstInterfaceIndex: 1 },
      [
        {
          interfaceId: 'eni-0',
          deviceIndex: 0,
          why: 'device index 0 is below first-interface-index 1',
        },
      ],
    ],
  ])('%s', (_, change, expected) => {
    expect(exclusionsOf(view([item]), requirements(change))).toEqual(expected);
  });
});

describe('the requirements of a node', () => {
  const options = { usePrimaryAddress: false, prefixDelegation: false };

  test('are unknown while its section lacks required fields, which are named', () => {
    const missing = ['section.type', 'section.zone'];

    expect(requirementsOf({ ...section, missing }, options)).toEqual({ missing });
  });
});

describe('the decision to use prefixes', () => {
  test.each([
    ['when the option says so', true, false, true],
    ['not when its agent says that it wants none', true, true, false],
    ['not without the option', false, false, false],
    ['not without both', false, true, false],
  ])('is made %s', (_, prefixDelegation, disablePrefixDelegation, expected) => {
    const options = { usePrimaryAddress: false, prefixDelegation };

    const read = requirementsOf({ ...section, disablePrefixDelegation }, options);

    expect(read).toMatchObject({ requirements: { prefixDelegation: expected } });
  });
});

describe('an orphaned interface that a node may adopt', () => {
  test.each<[string, Partial<NetworkInterface>, Partial<Subnet>, Partial<NodeRequirements>, boolean]>([
    ['in a subnet for pods is adopted', {}, {}, {}, true],
    ['in a subnet that is no longer for pods is not adopted', {}, { eligible: false }, {}, false],
    ['in another zone', {}, { zone: 'us-west-1b' }, {}, false],
    ['in another network', {}, { networkId: 'vpc-2' }, {}, false],
    ['in an unknown subnet is not adopted', { subnetId: 'subnet-9' }, {}, {}, false],
    ['in another subnet than the node names now is not adopted', {}, {}, { subnetIds: ['subnet-2'] }, true],
    [
      'with tags that exclude it is not adopted',
      { tags: { keep: 'out' } },
      {},
      { excludeInterfaceTags: { keep: 'out' } },
      false,
    ],
    ['with other tags', { tags: { keep: 'in' } }, {}, { excludeInterfaceTags: { keep: 'out' } }, true],
  ])('%s', (_, item, place, node, expected) => {
    const known = infrastructure([subnet('subnet-1', place)]);

    const adoptable = adoptableFor(
      networkInterface({ attachment: undefined, ...item }),
      requirements(node),
      known,
    );

    expect(adoptable).toBe(expected);
  });

  test.each([
    [false, 18],
    [true, 19],
  ])(
    'brings its addresses and prefixes, and its primary address if pods use it: %s',
    (usePrimaryAddress, sum) => {
      const item = networkInterface({ addresses: ['10.0.0.5', '10.0.0.6'], prefixes: ['10.0.1.0/28'] });

      expect(podAddressCount(item, { usePrimaryAddress })).toBe(sum);
    },
  );
});
