import { describe, expect, test } from '@jest/globals';
import { NodeIdentities } from '../../../../src/manager/claims/node-identities.ts';

function identities(
  ...nodes: readonly (readonly [name: string, instanceId: string | undefined, age: number])[]
) {
  const known = new NodeIdentities();
  for (const [name, instanceId, createdAt] of nodes) known.set(name, { instanceId, createdAt });
  return known;
}

describe('the identity of an instance', () => {
  test('is verified for the one Node that names it', () => {
    const known = identities(['a', 'i-1', 1], ['b', undefined, 1]);

    expect(known.isVerified('a', 'i-1')).toBe(true);
    expect(known.isVerified('b', 'i-1')).toBe(false);
    expect(known.isVerified('a', 'i-2')).toBe(false);
    expect(known.instanceOf('b')).toBeUndefined();
  });

  test('is verified for no node while two Nodes name it, of which the older comes first', () => {
    const known = identities(['a', 'i-1', 2], ['b', 'i-1', 1]);

    expect(known.nodesOf('i-1')).toEqual(['b', 'a']);
    expect(['a', 'b'].map((name) => known.isVerified(name, 'i-1'))).toEqual([false, false]);
  });

  test('is verified again once the other Node is gone', () => {
    const known = identities(['a', 'i-1', 2], ['b', 'i-1', 1]);

    const touched = known.set('b', undefined);

    expect([...touched.instanceIds]).toEqual(['i-1']);
    expect(known.isVerified('a', 'i-1')).toBe(true);
  });

  test('changes with the Node of the name', () => {
    const known = identities(['a', 'i-1', 1]);

    const touched = known.set('a', { instanceId: 'i-2', createdAt: 5 });

    expect([...touched.instanceIds].toSorted()).toEqual(['i-1', 'i-2']);
    expect(known.nodesOf('i-1')).toEqual([]);
    expect(known.isVerified('a', 'i-2')).toBe(true);
  });

  test('is unknown once nothing is known of Nodes', () => {
    const known = identities(['a', 'i-1', 1]);

    const touched = known.replace(new Map());

    expect([...touched.names]).toEqual(['a']);
    expect(known.isVerified('a', 'i-1')).toBe(false);
  });
});
