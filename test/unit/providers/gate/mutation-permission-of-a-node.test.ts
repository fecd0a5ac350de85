import { expect, test } from '@jest/globals';
import {
  type Activity,
  MutationPermission,
  noPauses,
} from '../../../../src/providers/gate/mutation-permission.ts';

test.each<[string, readonly string[] | undefined, Activity, string, boolean]>([
  ['assigns nothing to the only node that was written', ['a'], 'allocate', 'a', true],
  ['assigns to the other nodes', ['a'], 'allocate', 'b', false],
  ['writes no CiliumNode if only that one was written by others', ['a'], 'publish', 'a', true],
  ['writes those of the others', ['a'], 'publish', 'b', false],
  ['takes nothing away', ['a'], 'release', 'b', true],
  ['assigns nothing once several nodes were written', undefined, 'allocate', 'b', true],
])('beside a conflicting writer, Headwater %s', (_, conflictingNodes, activity, node, isRefused) => {
  const permission = new MutationPermission({ ...noPauses, conflictingWriter: 'atWork', conflictingNodes });

  expect(permission.refusal(activity, node) !== undefined).toBe(isRefused);
});

test('an operation that belongs to no node is not paused for one node', () => {
  const permission = new MutationPermission({
    ...noPauses,
    conflictingWriter: 'atWork',
    conflictingNodes: ['a'],
  });

  expect(permission.refusal('allocate')).toBeUndefined();
  expect(permission.refusal('release')).toBe('conflictingWriter');
});
