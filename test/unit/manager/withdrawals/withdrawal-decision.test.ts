import { describe, expect, test } from '@jest/globals';
import {
  type CloudMatch,
  cloudMatchOf,
  type NodeMember,
  isWithinLimit,
  tokenOf,
} from '../../../../src/manager/withdrawals/withdrawal-decision.ts';

const minute = 60_000;
const now = 100 * minute;

function ids(count: number, from = 0): ReadonlySet<string> {
  return new Set(Array.from({ length: count }, (_, index) => `i-${from + index}`));
}

/** The first `using` instances use addresses. */
function fleet(count: number, using = count): Pick<NodeMember, 'hasNode' | 'instanceId' | 'usesAddresses'>[] {
  return [...ids(count)].map((instanceId, index) => ({
    hasNode: true,
    instanceId,
    usesAddresses: index < using,
  }));
}

/** CiliumNodes without a Node that report addresses in use. */
function madeUp(count: number): ReturnType<typeof fleet> {
  return fleet(count).map((member, index) => ({
    ...member,
    hasNode: false,
    instanceId: `i-made-up-${index}`,
  }));
}

function admitted(count: number, minutesAgo: number, from = 50): ReadonlyMap<string, number> {
  return new Map([...ids(count, from)].map((id) => [id, now - minutesAgo * minute]));
}

interface Row {
  readonly members: ReturnType<typeof fleet>;
  readonly missing: ReadonlySet<string>;
  readonly suspected?: ReadonlySet<string>;
  readonly before?: ReadonlyMap<string, number>;
  readonly passes: boolean;
}

describe('withdrawals by absence', () => {
  test.each<[title: string, row: Row]>([
    ['3 of 100 nodes', { members: fleet(100), missing: ids(3), passes: true }],
    ['4 of 100 nodes', { members: fleet(100), missing: ids(4), passes: true }],
    ['5 of 100 nodes', { members: fleet(100), missing: ids(5), passes: true }],
    ['6 of 100 nodes', { members: fleet(100), missing: ids(6), passes: false }],
    [
      '4 of 100 nodes, of which 60 use addresses',
      { members: fleet(100, 60), missing: ids(4), passes: false },
    ],
    ['3 of 60 nodes', { members: fleet(60), missing: ids(3), passes: true }],
    ['4 of 60 nodes', { members: fleet(60), missing: ids(4), passes: false }],
    ['100 of 2,000 nodes', { members: fleet(2000), missing: ids(100), passes: true }],
    ['101 of 2,000 nodes', { members: fleet(2000), missing: ids(101), passes: false }],
    [
      '4 of 60 nodes beside 1,000 invented ones',
      { members: [...fleet(60), ...madeUp(1000)], missing: ids(4), passes: false },
    ],
    [
      '2 of 2 nodes beside an invented one',
      { members: [...fleet(2), ...madeUp(1)], missing: ids(2), passes: false },
    ],
    ['the only node', { members: fleet(1), missing: ids(1), passes: true }],
    ['1 of 2 nodes', { members: fleet(2), missing: ids(1), passes: true }],
    ['2 of 2 nodes', { members: fleet(2), missing: ids(2), passes: false }],
    ['3 of 3 nodes', { members: fleet(3), missing: ids(3), passes: false }],
    ['the two of 3 nodes that use addresses', { members: fleet(3, 2), missing: ids(2), passes: false }],
    ['2 of 2 nodes of which none uses addresses', { members: fleet(2, 0), missing: ids(2), passes: false }],
    ['the only one of 3 nodes that uses addresses', { members: fleet(3, 1), missing: ids(1), passes: true }],
    [
      '3 of 100 nodes after 2 others 9 minutes ago',
      { members: fleet(100), missing: ids(3), before: admitted(2, 9), passes: true },
    ],
    [
      '3 of 100 nodes after 3 others 9 minutes ago',
      { members: fleet(100), missing: ids(3), before: admitted(3, 9), passes: false },
    ],
    [
      '3 of 100 nodes after 3 others 10 minutes ago',
      { members: fleet(100), missing: ids(3), before: admitted(3, 10), passes: true },
    ],
    [
      '5 of 100 nodes after the same 5',
      { members: fleet(100), missing: ids(5), before: admitted(5, 1, 0), passes: true },
    ],
    [
      'the second of 2 nodes a minute after the first',
      { members: fleet(2), missing: ids(1), before: admitted(1, 1, 1), passes: false },
    ],
    [
      '1 of 100 nodes while something of 5 others was missed once',
      { members: fleet(100), missing: ids(1), suspected: ids(6), passes: false },
    ],
    [
      '1 of 100 nodes while something of 4 others was missed once',
      { members: fleet(100), missing: ids(1), suspected: ids(5), passes: true },
    ],
    ['nothing at a scale-down of 60 %', { members: fleet(40), missing: ids(0), passes: true }],
    ['nothing in a zone that ends', { members: fleet(0), missing: ids(0), passes: true }],
    [
      'nothing in a node group that is renewed under stable names',
      { members: fleet(100), missing: ids(0), before: admitted(6, 1), passes: true },
    ],
  ])(
    'pass as long as they are few: %s',
    (_, { members, missing, suspected = new Set(), before = new Map(), passes }) => {
      const passed = isWithinLimit({
        instanceIds: missing,
        suspected: () => suspected,
        admitted: before,
        members,
        now,
      });

      expect(passed).toBe(passes);
    },
  );
});

describe('the decision whether a cloud is the right one', () => {
  const members = (presences: readonly NodeMember['presence'][]) =>
    presences.map((presence) => ({ hasNode: true, presence }));

  test.each<[title: string, members: ReturnType<typeof members>, direction: CloudMatch]>([
    ['none of 2 is found', members(['notFound', 'notFound']), 'wrong'],
    ['the only one is not found', members(['notFound']), 'wrong'],
    ['2 of 3 are not found', members(['notFound', 'shown', 'notFound']), 'wrong'],
    ['1 of 2 is not found', members(['notFound', 'shown']), 'right'],
    ['an instance without its primary interface is found', members(['withoutPrimary']), 'right'],
    ['a terminated instance is found', members(['terminated', 'terminated', 'notFound']), 'right'],
    ['2 of 3 are not read yet', members(['unread', 'unread', 'notFound']), 'unknown'],
    ['2 of 3 are not read yet and one is shown', members(['unread', 'unread', 'shown']), 'unknown'],
    ['half are not read yet', members(['unread', 'shown']), 'right'],
    ['there is no node', [], 'empty'],
    ['no node has a Kubernetes Node', members(['notFound', 'notFound']).map(withoutNode), 'empty'],
    [
      'those that are not found have no Kubernetes Node',
      [...members(['notFound', 'notFound']).map(withoutNode), ...members(['shown'])],
      'right',
    ],
  ])('is made by the instances that it shows: %s', (_, fleetMembers, match) => {
    expect(cloudMatchOf(fleetMembers)).toBe(match);
  });

  function withoutNode<T extends object>(member: T) {
    return { ...member, hasNode: false };
  }
});

describe('the token of a set', () => {
  test('is the same for the same instances in any order', () => {
    expect(tokenOf(new Set(['i-2', 'i-1']), 5)).toBe(tokenOf(new Set(['i-1', 'i-2']), 5));
    expect(tokenOf(ids(2), 5)).toMatch(/^[\da-f]{10}$/);
  });

  test('differs for other instances, and for the same ones at another time', () => {
    const tokens = [tokenOf(ids(2), 5), tokenOf(ids(3), 5), tokenOf(ids(2), 6)];

    expect(new Set(tokens).size).toBe(3);
  });
});
