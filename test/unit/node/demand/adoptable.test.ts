import { describe, expect, test } from '@jest/globals';
import { adoptableFor, podAddressCount } from '../../../../src/node/demand/adoptable.ts';
import type { NodeRequirements } from '../../../../src/node/demand/node-requirements.ts';
import type { Subnet } from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { networkInterface } from '../../providers/interfaces.ts';
import { infrastructure, requirements, subnet } from '../allocation-facts.ts';

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
