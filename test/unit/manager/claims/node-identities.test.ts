import { describe, expect, test } from '@jest/globals';
import { NodeIdentities } from '../../../../src/manager/claims/node-identities.ts';

function identities(
  ...nodes: readonly (readonly [
    name: string,
    instanceId: string | undefined,
    age: number,
    ...addresses: readonly string[],
  ])[]
) {
  const known = new NodeIdentities();
  for (const [name, instanceId, createdAt, ...addresses] of nodes)
    known.set(name, { instanceId, createdAt, addresses });
  return known;
}

describe('the Nodes that name an instance', () => {
  test('are those with its provider ID, the oldest first', () => {
    const known = identities(['a', 'i-1', 2], ['b', 'i-1', 1], ['c', undefined, 1]);

    expect(known.nodesOf('i-1')).toEqual(['b', 'a']);
    expect(known.nodesOf('i-2')).toEqual([]);
    expect(known.instanceOf('a')).toBe('i-1');
    expect(known.instanceOf('c')).toBeUndefined();
  });

  test('are fewer once one is gone', () => {
    const known = identities(['a', 'i-1', 2], ['b', 'i-1', 1]);

    const touched = known.set('b', undefined);

    expect([...touched.instanceIds]).toEqual(['i-1']);
    expect(known.nodesOf('i-1')).toEqual(['a']);
  });

  test('change with the Node of a name', () => {
    const known = identities(['a', 'i-1', 1]);

    const touched = known.set('a', { instanceId: 'i-2', createdAt: 5, addresses: [] });

    expect([...touched.instanceIds].toSorted()).toEqual(['i-1', 'i-2']);
    expect(known.nodesOf('i-1')).toEqual([]);
    expect(known.nodesOf('i-2')).toEqual(['a']);
  });

  test('are none once nothing is known of Nodes', () => {
    const known = identities(['a', 'i-1', 1, '10.0.0.1']);

    const touched = known.replace(new Map());

    expect([...touched.names]).toEqual(['a']);
    expect([...touched.addresses]).toEqual(['10.0.0.1']);
    expect(known.isKnown).toBe(false);
    expect(known.nodesOf('i-1')).toEqual([]);
    expect(known.withAddress('10.0.0.1')).toEqual([]);
  });
});

describe('the Nodes with an address', () => {
  test('are all that list it, whatever else they list', () => {
    const known = identities(['a', 'i-1', 1, '10.0.0.1'], ['b', undefined, 1, '10.0.0.2', '10.0.0.1']);

    expect(known.withAddress('10.0.0.1')).toEqual(['a', 'b']);
    expect(known.withAddress('10.0.0.2')).toEqual(['b']);
  });

  test('change with the addresses of a Node', () => {
    const known = identities(['a', undefined, 1, '10.0.0.1'], ['b', undefined, 1, '10.0.0.1']);

    const touched = known.set('a', { instanceId: undefined, createdAt: 1, addresses: ['10.0.0.3'] });

    expect([...touched.addresses]).toEqual(['10.0.0.1', '10.0.0.3']);
    expect(known.withAddress('10.0.0.1')).toEqual(['b']);
    expect(known.withAddress('10.0.0.3')).toEqual(['a']);
  });

  test.each<[string, readonly (string | undefined)[], boolean]>([
    ['no Node is known', [], false],
    ['every Node names an instance', ['i-1', 'i-2'], false],
    ['one Node names none', ['i-1', undefined], true],
  ])('matter or not when %s', (_, instanceIds, matters) => {
    const known = identities(...instanceIds.map((id, index) => [`node-${index}`, id, 1] as const));

    expect(known.someNameNone).toBe(matters);
  });
});
