import { expect, test } from '@jest/globals';
import {
  type Activity,
  MutationPermission,
  noStops,
} from '../../../../src/providers/gate/mutation-permission.ts';

test.each<[string, readonly string[] | undefined, Activity, string, boolean]>([
  ['assigns nothing to the only node that was written', ['a'], 'give', 'a', true],
  ['assigns to the other nodes', ['a'], 'give', 'b', false],
  ['writes no CiliumNode if only that one was written by others', ['a'], 'publish', 'a', true],
  ['writes those of the others', ['a'], 'publish', 'b', false],
  ['takes nothing away', ['a'], 'takeAway', 'b', true],
  ['assigns nothing once several nodes were written', undefined, 'give', 'b', true],
])('beside a conflicting writer, Headwater %s', (_, foreignlyWritten, activity, node, isRefused) => {
  const permission = new MutationPermission({ ...noStops, conflictingWriter: 'atWork', foreignlyWritten });

  expect(permission.of(node).refusal(activity) !== undefined).toBe(isRefused);
});

test('an operation that belongs to no node is not paused for one node', () => {
  const permission = new MutationPermission({
    ...noStops,
    conflictingWriter: 'atWork',
    foreignlyWritten: ['a'],
  });

  expect(permission.refusal('give')).toBeUndefined();
  expect(permission.refusal('takeAway')).toBe('conflictingWriter');
});
