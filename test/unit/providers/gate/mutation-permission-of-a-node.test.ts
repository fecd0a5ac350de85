import { expect, test } from '@jest/globals';
import {
  type Activity,
  MutationPermission,
  noPauses,
} from '../../../../src/providers/gate/mutation-permission.ts';

test.each<[string, readonly string[] | undefined, Activity, string, boolean]>([
  ['gives nothing to the node that alone was written', ['a'], 'allocate', 'a', true],
  ['gives to the others', ['a'], 'allocate', 'b', false],
  ['writes no CiliumNode that alone was written by others', ['a'], 'publish', 'a', true],
  ['writes those of the others', ['a'], 'publish', 'b', false],
  ['takes nothing from anybody', ['a'], 'release', 'b', true],
  ['gives to nobody once several were written', undefined, 'allocate', 'b', true],
])('beside a conflicting writer it %s', (_, conflictingNodes, activity, node, isRefused) => {
  const permission = new MutationPermission({ ...noPauses, conflictingWriter: 'atWork', conflictingNodes });

  expect(permission.of(node).refusal(activity) !== undefined).toBe(isRefused);
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
