import { describe, expect, test } from '@jest/globals';
import {
  type Candidate,
  inStartOrder,
  type InstanceClaim,
  checkClaim,
} from '../../../../src/manager/claims/instance-claim.ts';

/** A CiliumNode `a` that names an instance, without any other CiliumNode. */
function claim(change: Partial<InstanceClaim> = {}): InstanceClaim {
  return {
    name: 'a',
    instanceId: 'i-1',
    ownInstance: undefined,
    nodes: [],
    served: undefined,
    isClaimedBy: () => false,
    requireNode: false,
    ...change,
  };
}

const verified = { ownInstance: 'i-1', nodes: ['a'] };

describe('a CiliumNode that names an instance', () => {
  test.each<[string, Partial<InstanceClaim>, string]>([
    ['that its Node names is served', verified, 'granted'],
    [
      'that its Node names is served also when a Node is required',
      { ...verified, requireNode: true },
      'granted',
    ],
    ['that its Node names goes on being served', { ...verified, served: 'a' }, 'granted'],
    ['that its Node names takes the place of another', { ...verified, served: 'b' }, 'waiting for b'],
    ['that no Node names is served', {}, 'granted'],
    ['that no Node names goes on being served', { served: 'a' }, 'granted'],
    ['that no Node names is not served when a Node is required', { requireNode: true }, 'NodeMissing'],
    ['that another CiliumNode is served for is not', { served: 'b' }, 'DuplicateInstance'],
    ['that another Node names is not served', { nodes: ['b'] }, 'InstanceOfAnother'],
    ['that another Node names is not served any longer', { nodes: ['b'], served: 'a' }, 'InstanceOfAnother'],
    ['that is not the one that its Node names is not served', { ownInstance: 'i-2' }, 'InstanceMismatch'],
    [
      'that an older Node names as well is served while that Node has no CiliumNode',
      { ownInstance: 'i-1', nodes: ['b', 'a'] },
      'granted',
    ],
    [
      'that an older Node names as well is not served while its CiliumNode claims it',
      { ownInstance: 'i-1', nodes: ['b', 'a'], isClaimedBy: (name) => name === 'b' },
      'DuplicateInstance',
    ],
    [
      'that a younger Node names as well is served',
      { ownInstance: 'i-1', nodes: ['a', 'b'], isClaimedBy: (name) => name === 'b', served: 'b' },
      'waiting for b',
    ],
  ])('%s', (_, change, expected) => {
    const verdict = checkClaim(claim(change));

    const said = verdict.kind === 'blocked' ? verdict.condition.reason : verdict.kind;
    expect(verdict.kind === 'waiting' ? `waiting for ${verdict.for}` : said).toBe(expected);
  });
});

describe('of the CiliumNodes that exist at the start', () => {
  const [older, newer] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];

  test.each<[string, Candidate, Candidate]>([
    [
      'one with the address of its own Node is decided before an older one',
      { name: 'first', hasNodeAddress: true, hasAddresses: false, createdAt: newer },
      { name: 'second', hasNodeAddress: false, hasAddresses: true, createdAt: older },
    ],
    [
      'one with addresses is decided before an older one without',
      { name: 'first', hasNodeAddress: false, hasAddresses: true, createdAt: newer },
      { name: 'second', hasNodeAddress: false, hasAddresses: false, createdAt: older },
    ],
    [
      'the older one with addresses is decided first',
      { name: 'first', hasNodeAddress: false, hasAddresses: true, createdAt: older },
      { name: 'second', hasNodeAddress: false, hasAddresses: true, createdAt: newer },
    ],
    [
      'one of unknown age is decided last',
      { name: 'first', hasNodeAddress: false, hasAddresses: false, createdAt: newer },
      { name: 'second', hasNodeAddress: false, hasAddresses: false, createdAt: undefined },
    ],
  ])('%s', (_, first, second) => {
    expect(inStartOrder([second, first])).toEqual([first, second]);
    expect(inStartOrder([first, second])).toEqual([first, second]);
  });
});
