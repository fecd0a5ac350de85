import { describe, expect, test } from '@jest/globals';
import { clusterEvidence } from '../../../../src/manager/withdrawals/cluster-evidence.ts';
import type { InstanceView } from '../../../../src/providers/contract/facts.ts';
import { eni, view } from '../../node/allocation-facts.ts';

const belonging = { cluster: 'blue' };
const orphan = eni(1, 0, { attachment: undefined, tags: { ...belonging, 'headwater/instance-id': 'i-9' } });
const ofOurs = eni(1, 0, { attachment: undefined, tags: { ...belonging, 'headwater/instance-id': 'i-1' } });
const made = { 'headwater/instance-id': 'i-1' };
const tagged = view([eni(0, 0), eni(1, 0, { tags: { ...belonging, ...made } })]);
const otherCluster = view([eni(0, 0), eni(1, 0, { tags: { cluster: 'green', ...made } })]);
const untagged = view([eni(0, 0)]);

test('a detached interface belongs to the cluster when its description names an instance of the cluster', () => {
  const described = eni(1, 0, { attachment: undefined, tags: belonging, description: 'Cilium-CNI (i-1)' });

  expect(clusterEvidence([{ view: untagged }], belonging)(described)).toBe(true);
});

describe('a detached interface', () => {
  test.each<[string, readonly (InstanceView | undefined)[], boolean, boolean]>([
    ['is not to be deleted when there is no node', [], false, false],
    ['is not to be deleted when no instance is known', [undefined], false, false],
    ['is not to be deleted when no instance is found', [{ ...tagged, presence: 'notFound' }], false, false],
    ['belongs to the cluster when an instance has another one with the same tags', [tagged], true, true],
    ['belongs to the cluster when no instance has one that was made for it', [untagged], true, true],
    [
      'belongs to the cluster only if it was made for one of its instances, when their interfaces carry other tags',
      [otherCluster],
      false,
      true,
    ],
    [
      'belongs to the cluster when it was made for an instance that is gone, and another instance is shown',
      [
        { ...tagged, presence: 'terminated' },
        { ...otherCluster, id: 'i-2', interfaces: [eni(0, 0)] },
      ],
      true,
      true,
    ],
    [
      'is not to be deleted when only a CiliumNode says that an instance is in its network',
      [
        {
          ...view([eni(0, 0, { networkId: 'vpc-9' }), eni(1, 0, { tags: { ...belonging, ...made } })]),
          unseen: new Set([eni(1, 0).id]),
        },
      ],
      false,
      true,
    ],
    [
      'is not to be deleted when no shown instance is in its network',
      [view([eni(0, 0, { networkId: 'vpc-9' })])],
      false,
      true,
    ],
  ])('%s', (_, views, unknown, known) => {
    const isOurs = clusterEvidence(
      views.map((each) => ({ view: each })),
      belonging,
    );

    expect([isOurs(orphan), isOurs(ofOurs)]).toEqual([unknown, known]);
  });
});
