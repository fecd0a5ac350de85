import { describe, expect, test } from '@jest/globals';
import { type SyncStep, syncStep } from '../../../../../src/blocks/node-ipam/sync/sync-step.ts';
import { cidr } from '../../allocation/holder-model.ts';

const [one, other] = [cidr('10.0.1.0/24'), cidr('10.0.2.0/24')];
const none = undefined;

describe('a Node and its instance', () => {
  test.each<[string, string, string, SyncStep, SyncStep]>([
    ['none', 'none', 'none', { kind: 'allocate' }, { kind: 'invalidMode' }],
    ['none', 'one', 'none', { kind: 'invalidMode' }, { kind: 'setPodCidr', cidr: one }],
    ['none', 'one', 'other', { kind: 'invalidMode' }, { kind: 'setPodCidr', cidr: one }],
    ['none', 'one', 'one', { kind: 'setPodCidr', cidr: one }, { kind: 'setPodCidr', cidr: one }],
    ['none', 'none', 'one', { kind: 'allocate' }, { kind: 'invalidMode' }],
    ['one', 'none', 'none', { kind: 'addAlias', cidr: one }, { kind: 'invalidMode' }],
    ['one', 'one', 'none', { kind: 'inSync' }, { kind: 'inSync' }],
    [
      'one',
      'other',
      'none',
      { kind: 'mismatch', podCidr: one, alias: other },
      { kind: 'mismatch', podCidr: one, alias: other },
    ],
  ])(
    'with %s, %s and %s taken: from the cluster %j, from the cloud %j',
    (podCidr, alias, taken, cluster, cloud) => {
      const blocks: Readonly<Record<string, typeof one | undefined>> = { one, other, none };
      const facts = { podCidr: blocks[podCidr], alias: blocks[alias], taken: blocks[taken] };

      expect(syncStep('IPAMFromCluster', facts)).toEqual(cluster);
      expect(syncStep('IPAMFromCloud', facts)).toEqual(cloud);
    },
  );
});
