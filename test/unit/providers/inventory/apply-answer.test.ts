import { describe, expect, test } from '@jest/globals';
import { whenAttached, whenChanged, whenReleased } from '../../../../src/providers/inventory/apply-answer.ts';
import { firstRecord } from '../../../../src/providers/inventory/apply-reading.ts';
import type { InterfaceRecord } from '../../../../src/providers/inventory/interface-record.ts';
import { eni } from '../../node/allocation-facts.ts';

const endedAt = 1000;

/** `a` was released at 1, `b` is missing since 2, `c` was added at 3. */
function recordOf(addresses: readonly string[], prefixes: readonly string[] = []): InterfaceRecord {
  return {
    ...firstRecord({ ...eni(0), primaryAddress: '10.9.9.9', addresses, prefixes }, 0),
    released: new Map([['a', 1]]),
    missing: new Map([['b', 2]]),
    added: new Map([['c', 3]]),
  };
}

function shown({ interface: item, added, released, missing }: InterfaceRecord): unknown {
  const times = [added, released, missing].map((each) => Object.fromEntries(each));
  return [[...item.addresses, ...item.prefixes].join(' '), ...times];
}

describe('an interface after the answer to our own call', () => {
  test.each([
    ['new ones follow', ['c'], ['d'], [], 'c d', { c: 3, d: 1000 }, { a: 1 }, { b: 2 }],
    ['a released one is back', ['c'], ['a'], [], 'c a', { c: 3, a: 1000 }, {}, { b: 2 }],
    ['a missing one is there', ['b', 'c'], ['b'], [], 'b c', { c: 3, b: 1000 }, { a: 1 }, {}],
    ['the primary address does not count', ['c'], ['10.9.9.9'], [], 'c', { c: 3 }, { a: 1 }, { b: 2 }],
    [
      'members of a prefix do not count',
      [],
      ['10.0.0.17'],
      ['10.0.0.16/28'],
      '10.0.0.16/28',
      { c: 3, '10.0.0.16/28': 1000 },
      { a: 1 },
      { b: 2 },
    ],
  ])('has what an assignment gave it: %s', (_, has, addresses, prefixes, all, added, released, missing) => {
    const answer = {
      kind: 'allocated',
      interfaceId: 'eni-0',
      instanceId: 'i-1',
      addresses,
      prefixes,
    } as const;

    expect(shown(whenChanged(recordOf(has), answer, endedAt))).toEqual([all, added, released, missing]);
  });

  test.each([
    [['c'], 'b p/28', {}, { a: 1, c: 1000 }, { b: 2 }],
    [['b', 'p/28'], 'c', { c: 3 }, { a: 1, b: 1000, 'p/28': 1000 }, {}],
  ])('lacks what an unassignment took: %j', (taken, all, added, released, missing) => {
    const after = whenReleased(recordOf(['b', 'c'], ['p/28']), taken, endedAt);

    expect(shown(after)).toEqual([all, added, released, missing]);
  });

  test('has the public address that an association gave it', () => {
    const about = { interfaceId: 'eni-0', instanceId: 'i-1' };
    const answer = { kind: 'staticIPAssociated', ...about, publicAddress: '1.2.3.4' } as const;
    const after = whenChanged(recordOf([]), answer, endedAt);

    expect(after.interface.publicAddress).toBe('1.2.3.4');
    expect(after.added.get('1.2.3.4')).toBe(endedAt);
  });

  test('keeps its delete-on-termination when an attachment is answered', () => {
    const answer = { kind: 'attached', interfaceId: 'eni-0', instanceId: 'i-2', deviceIndex: 3 } as const;
    const protect = { kind: 'deleteOnTerminationSet', interfaceId: 'eni-0', instanceId: 'i-2' } as const;
    const before = whenChanged({ ...recordOf([]), absentSince: 5 }, protect, endedAt);

    const after = whenAttached(before, { ...answer, attachmentId: 'attach-9' }, endedAt);

    expect(after).toMatchObject({ asOf: endedAt, joinedAt: endedAt, absentSince: undefined });
    expect(after.interface.attachment).toEqual({
      id: 'attach-9',
      instanceId: 'i-2',
      deviceIndex: 3,
      networkCard: 0,
      state: 'attached',
      deleteOnTermination: true,
    });
  });

  test('has no attachment to change while it is detached', () => {
    const detached = firstRecord({ ...eni(0), attachment: undefined }, 0);

    const answer = { kind: 'detached', interfaceId: 'eni-0', instanceId: 'i-1' } as const;

    expect(whenChanged(detached, answer, endedAt).interface.attachment).toBeUndefined();
  });
});
