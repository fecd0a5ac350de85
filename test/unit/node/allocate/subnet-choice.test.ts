import { describe, expect, test } from '@jest/globals';
import type { RouteTable, Subnet } from '../../../../src/providers/contract/infrastructure.ts';
import type { NodeRequirements } from '../../../../src/node/demand/node-requirements.ts';
import { chooseSubnet, type SubnetChoice } from '../../../../src/node/allocate/subnet-choice.ts';
import { infrastructure, requirements, subnet } from '../allocation-facts.ts';
import { failure } from '../outcomes.ts';

function table(id: string, networkId: string, ...subnetIds: string[]): RouteTable {
  return { id, networkId, subnetIds };
}

interface Setup {
  readonly subnets: readonly Subnet[];
  readonly free: Readonly<Record<string, number>>;
  readonly routeTables?: readonly RouteTable[];
  readonly node?: Partial<NodeRequirements>;
  readonly minUseful?: number;
}

function choose({ subnets, free, routeTables = [], node = {}, minUseful = 2 }: Setup): SubnetChoice {
  return chooseSubnet(requirements({ nodeSubnetId: '', ...node }), {
    infrastructure: infrastructure(subnets, { routeTables }),
    free: (id) => free[id] ?? 0,
    fullInterface: 10,
    minUseful,
  });
}

/** The id of the chosen subnet, or the kind of the result. */
function outcome(setup: Setup): string {
  const choice = choose(setup);
  return choice.kind === 'chosen' ? choice.subnet.id : choice.kind;
}

describe('a choice among the subnets of network and zone', () => {
  const subnets = [
    subnet('s-1', { tags: { tag: '1' } }),
    subnet('s-2', { networkId: 'vpc-2', zone: 'us-east-1a', tags: { tag: '1' } }),
    subnet('s-3', { tags: { tag: '2' } }),
    subnet('s-4', { zone: 'us-west-1b', tags: { tag: '1' } }),
  ];
  const free = { 's-1': 10, 's-2': 20, 's-3': 5, 's-4': 90 };

  test.each<[string, Partial<NodeRequirements>, string]>([
    ['the fullest wins by default', {}, 's-1'],
    ['one that is named wins', { subnetIds: ['s-3'] }, 's-3'],
    ['of several that are named the one with most', { subnetIds: ['s-3', 's-1'] }, 's-1'],
    ['one that is named in another network does not count', { subnetIds: ['s-2'] }, 's-1'],
    ['one that is named in another zone does not count', { subnetIds: ['s-4'] }, 's-1'],
    ['one that carries the tags wins', { subnetTags: { tag: '2' } }, 's-3'],
    ['one that lacks one of the tags does not count', { subnetTags: { tag: '2', more: '1' } }, 's-1'],
    ['names come before tags', { subnetIds: ['s-3'], subnetTags: { tag: '1' } }, 's-3'],
    [
      'names that match nothing leave it to the tags',
      { subnetIds: ['s-9'], subnetTags: { tag: '2' } },
      's-3',
    ],
    [
      'where names are strict, none that match leave it to nothing',
      { subnetIds: ['s-9'], subnetTags: { tag: '2' }, strictSubnets: true },
      'noSubnetMatches',
    ],
    [
      'where tags are strict, none that match leave it to nothing',
      { subnetTags: { tag: '3' }, strictSubnets: true },
      'noSubnetMatches',
    ],
    [
      'where names are strict and there are none, tags do',
      { subnetTags: { tag: '2' }, strictSubnets: true },
      's-3',
    ],
    ['where both are strict and there are none, the fullest wins', { strictSubnets: true }, 's-1'],
    ['nothing of another network', { networkId: 'vpc-9' }, 'noSubnetMatches'],
    ['nothing of another zone', { zone: 'us-west-1c' }, 'noSubnetMatches'],
    ['one in another zone is found from there', { zone: 'us-west-1b' }, 's-4'],
  ])('follows the rules: %s', (_, node, expected) => {
    expect(outcome({ subnets, free, node })).toBe(expected);
  });
});

describe('a choice of the own subnet of the node', () => {
  const subnets = [subnet('own'), subnet('peer'), subnet('other'), subnet('far', { zone: 'us-west-1b' })];
  const routeTables = [
    table('rtb-0', 'vpc-2', 'own', 'other'),
    table('rtb-1', 'vpc-1', 'own', 'peer', 'far', 'unknown'),
    table('rtb-2', 'vpc-1', 'other'),
  ];

  test.each([
    ['is taken as long as it has a full interface', { own: 10, peer: 50, other: 90, far: 99 }, 'own'],
    ['then the one of its route table with most', { own: 9, peer: 50, other: 90, far: 99 }, 'peer'],
    ['among which it competes', { own: 9, peer: 8, other: 90, far: 99 }, 'own'],
    ['and nothing beyond its route table', { own: 1, peer: 1, other: 90, far: 99 }, 'subnetsExhausted'],
  ])('%s', (_, free, expected) => {
    expect(outcome({ subnets, free, routeTables, node: { nodeSubnetId: 'own' } })).toBe(expected);
  });

  test.each([
    ['without a route table of its own all compete', [table('rtb-2', 'vpc-1', 'other', 'peer')], 'other'],
    ['without a peer in its zone all compete', [table('rtb-1', 'vpc-1', 'own', 'far')], 'other'],
    [
      'peers of several tables compete',
      [table('a', 'vpc-1', 'own', 'peer'), table('b', 'vpc-1', 'own', 'other')],
      'other',
    ],
  ])('compares by route tables: %s', (_, tables, expected) => {
    const free = { own: 9, peer: 50, other: 90 };

    expect(outcome({ subnets, free, routeTables: tables, node: { nodeSubnetId: 'own' } })).toBe(expected);
  });

  test('yields to rules for names and tags', () => {
    const free = { own: 50, peer: 5, other: 5 };
    const node = { nodeSubnetId: 'own', subnetIds: ['peer'] };

    expect(outcome({ subnets, free, node })).toBe('peer');
  });

  test('follows its route table although the subnet is not known', () => {
    const setup = { subnets: subnets.slice(1), free: { peer: 5, other: 90 }, routeTables };

    expect(outcome({ ...setup, node: { nodeSubnetId: 'own' } })).toBe('peer');
  });
});

describe('a filter of the subnet choice', () => {
  const free = { a: 50, b: 20 };

  test.each<[string, Partial<NodeRequirements>]>([
    ['by default', {}],
    ['among those that are named', { subnetIds: ['a', 'b'] }],
    ['among those with tags', { subnetTags: { pods: 'yes' } }],
    ["for the node's own subnet", { nodeSubnetId: 'a' }],
  ])('restricts the choice %s', (_, node) => {
    const subnets = [
      subnet('a', { eligible: false, tags: { pods: 'yes' } }),
      subnet('b', { tags: { pods: 'yes' } }),
    ];

    expect(outcome({ subnets, free, node })).toBe('b');
  });

  test('is reported when it leaves nothing', () => {
    expect(outcome({ subnets: [subnet('a', { eligible: false })], free })).toBe('noSubnetMatches');
  });
});

describe('a subnet in the choice', () => {
  test.each([
    [0, 'subnetsExhausted'],
    [1, 'subnetsExhausted'],
    [2, 'a'],
  ])('needs two free addresses: with %i the choice is %s', (free, expected) => {
    expect(outcome({ subnets: [subnet('a')], free: { a: free } })).toBe(expected);
  });

  test('wins a tie by its id', () => {
    const subnets = ['c', 'a', 'b'].map((id) => subnet(id));

    expect(outcome({ subnets, free: { a: 5, b: 5, c: 5 } })).toBe('a');
  });
});

describe('a choice without a result', () => {
  test('names the exhausted subnets', () => {
    const subnets = [subnet('b'), subnet('a'), subnet('c', { zone: 'elsewhere' })];

    expect(choose({ subnets, free: { c: 50 } })).toEqual({
      kind: 'subnetsExhausted',
      subnetIds: ['a', 'b'],
      selection: 'all in us-west-1a',
    });
  });

  test.each([
    [{ subnetIds: ['a', 'x'] }, 'all in us-west-1a among the ids a, x'],
    [{ subnetTags: { team: 'red' } }, 'all in us-west-1a with the tags team=red'],
    [{ subnetTags: { team: 'blue' } }, 'all in us-west-1a'],
  ])('says by what the exhausted subnets were chosen: %j', (node, selection) => {
    const subnets = [subnet('a', { tags: { team: 'red' } }), subnet('b')];

    expect(choose({ subnets, free: {}, node })).toMatchObject({ selection });
  });

  test('names what the rule required', () => {
    const node = { subnetIds: ['s-1', 's-2'], subnetTags: { a: '1', b: '2' } };

    expect([choose({ subnets: [], free: {} }), choose({ subnets: [], free: {}, node })]).toEqual([
      { kind: 'noSubnetMatches', wanted: 'a subnet of vpc-1 in us-west-1a' },
      {
        kind: 'noSubnetMatches',
        wanted: 'a subnet of vpc-1 in us-west-1a, or with one of the ids s-1, s-2, or with the tags a=1, b=2',
      },
    ]);
  });
});

describe('a choice for an interface with a prefix', () => {
  const subnets = [subnet('own'), subnet('other')];

  test.each([
    ['goes to the own subnet of the node if a prefix fits', { own: 17, other: 90 }, 'own'],
    ['goes elsewhere if none does', { own: 16, other: 17 }, 'other'],
    ['goes nowhere if none fits anywhere', { own: 16, other: 16 }, 'subnetsExhausted'],
  ])('%s', (_, free, expected) => {
    expect(outcome({ subnets, free, node: { nodeSubnetId: 'own' }, minUseful: 17 })).toBe(expected);
  });
});

describe('a choice while route tables cannot be read', () => {
  const subnets = [subnet('s-1', { tags: { tag: '1' } }), subnet('s-2')];
  const deniedIn = (id: string) => ({ denied: { routeTables: new Map([[id, failure('notAuthorized')]]) } });

  test.each<[string, Partial<NodeRequirements>, Readonly<Record<string, number>>, string]>([
    ['the own subnet serves while it has room', { nodeSubnetId: 's-1' }, { 's-1': 10, 's-2': 90 }, 's-1'],
    ['the own subnet serves with what it has left', { nodeSubnetId: 's-1' }, { 's-1': 2, 's-2': 90 }, 's-1'],
    ['nothing else is chosen', { nodeSubnetId: 's-1' }, { 's-1': 1, 's-2': 90 }, 'networkUnreadable'],
    [
      'nothing is chosen without an own one',
      { nodeSubnetId: 's-9' },
      { 's-1': 90, 's-2': 90 },
      'networkUnreadable',
    ],
    ['tags still decide', { nodeSubnetId: 's-2', subnetTags: { tag: '1' } }, { 's-1': 9 }, 's-1'],
    ['names still decide', { nodeSubnetId: 's-1', subnetIds: ['s-2'] }, { 's-2': 0 }, 'subnetsExhausted'],
  ])('is made where it can be: %s', (_, node, free, expected) => {
    const choice = chooseSubnet(requirements(node), {
      infrastructure: infrastructure(subnets, deniedIn(requirements().networkId)),
      free: (id) => free[id] ?? 0,
      fullInterface: 10,
      minUseful: 2,
    });

    expect(choice.kind === 'chosen' ? choice.subnet.id : choice.kind).toBe(expected);
    if (choice.kind === 'networkUnreadable') expect(choice.failure).toEqual(failure('notAuthorized'));
  });

  test('is made from all subnets if they are those of another network', () => {
    const choice = chooseSubnet(requirements({ nodeSubnetId: 's-1' }), {
      infrastructure: infrastructure(subnets, deniedIn('vpc-other')),
      free: (id) => ({ 's-1': 1, 's-2': 90 })[id] ?? 0,
      fullInterface: 10,
      minUseful: 2,
    });

    expect(choice).toMatchObject({ kind: 'chosen', subnet: { id: 's-2' } });
  });
});

test.each([
  ['zone', { unreadZones: new Map([['us-west-1a', failure('unreachable')]]) }],
  ['network', { unreadNetworks: new Map([[requirements().networkId, failure('unreachable')]]) }],
])('a choice in a %s that could not be read says nothing about what is there', (_, unread) => {
  const ask = (subnets: readonly Subnet[]): SubnetChoice =>
    chooseSubnet(requirements(), {
      infrastructure: infrastructure(subnets, unread),
      free: () => 100,
      fullInterface: 10,
      minUseful: 2,
    });

  expect(ask([])).toEqual({ kind: 'networkUnreadable', failure: failure('unreachable') });
  // This subnet is known from an earlier read.
  expect(ask([subnet('subnet-1')])).toMatchObject({ kind: 'chosen' });
});

describe('a choice for an interface with an IPv6 prefix', () => {
  const all = ['own', 'peer', 'other'];
  const routeTables = [table('rtb-1', 'vpc-1', 'own', 'peer')];

  test.each<[string, readonly string[], Readonly<Record<string, number>>, Partial<NodeRequirements>, string]>(
    [
      ['the own subnet serves if it offers one', ['own'], { own: 20, peer: 90 }, {}, 'own'],
      ['one with the same routes serves if only it offers one', ['peer'], { own: 20, peer: 5 }, {}, 'peer'],
      ['no other one does', ['other'], { own: 20, peer: 90, other: 90 }, {}, 'own'],
      ['IPv4 decides where the one that offers it is full', ['peer'], { own: 20, peer: 1 }, {}, 'own'],
      [
        'of those that are named, one that offers it',
        ['peer'],
        { own: 90, peer: 5 },
        { subnetIds: all },
        'peer',
      ],
      [
        'of those that are named, the fullest otherwise',
        [],
        { own: 20, peer: 90 },
        { subnetIds: all },
        'peer',
      ],
    ],
  )('%s', (_, offering, free, node, expected) => {
    const choice = chooseSubnet(requirements({ nodeSubnetId: 'own', ...node }), {
      infrastructure: infrastructure(
        all.map((id) => subnet(id)),
        { routeTables },
      ),
      free: (id) => free[id] ?? 0,
      fullInterface: 10,
      minUseful: 2,
      offersIpv6: (id) => offering.includes(id),
    });

    expect(choice.kind === 'chosen' ? choice.subnet.id : choice.kind).toBe(expected);
  });
});

describe('subnets without tags, whose tags another account may keep to itself', () => {
  const subnets = [
    subnet('s-1', { tags: { tag: '1' } }),
    subnet('s-2'),
    subnet('s-3', { zone: 'us-west-1b' }),
  ];

  test.each<[string, Partial<NodeRequirements>, readonly Subnet[], object]>([
    [
      'are named if none matches the tags of the node',
      { subnetTags: { tag: '2' }, strictSubnets: true },
      subnets,
      { kind: 'noSubnetMatches', untagged: ['s-2'] },
    ],
    [
      'are named beside a full one that matches',
      { subnetTags: { tag: '1' } },
      subnets,
      { kind: 'subnetsExhausted', subnetIds: ['s-1'], untagged: ['s-2'] },
    ],
    [
      'are named if an option excludes them',
      {},
      [subnet('s-2', { eligible: false })],
      { kind: 'noSubnetMatches', untagged: ['s-2'] },
    ],
    ['are not named where no tags decide', {}, subnets, { untagged: undefined }],
  ])('%s', (_, node, of, expected) => {
    expect({ untagged: undefined, ...choose({ subnets: of, free: {}, node }) }).toMatchObject(expected);
  });
});

describe('subnets whose tags could not be read', () => {
  const subnets = [
    subnet('s-1', { tags: { tag: '1' } }),
    subnet('s-2'),
    subnet('s-3', { zone: 'us-west-1b' }),
  ];
  const unread = { kind: 'networkUnreadable', failure: failure('notAuthorized') };

  test.each<[string, Partial<NodeRequirements>, readonly Subnet[], string, object]>([
    [
      'keep a node waiting that selects by tags which no other has',
      { subnetTags: { tag: '2' } },
      subnets,
      's-2',
      unread,
    ],
    [
      'keep one waiting that may use no others',
      { subnetTags: { tag: '2' }, strictSubnets: true },
      subnets,
      's-2',
      unread,
    ],
    [
      'keep one waiting if only they may carry the tags of an option',
      {},
      [subnet('s-2', { eligible: false })],
      's-2',
      unread,
    ],
    [
      'do not matter beside one with the tags',
      { subnetTags: { tag: '1' } },
      subnets,
      's-2',
      { subnet: { id: 's-1' } },
    ],
    [
      'do not matter to a node that names ids',
      { subnetIds: ['s-2'] },
      subnets,
      's-2',
      { subnet: { id: 's-2' } },
    ],
    [
      'do not matter where no tags decide',
      { nodeSubnetId: 's-1' },
      subnets,
      's-2',
      { subnet: { id: 's-1' } },
    ],
    [
      'do not matter in another zone',
      { subnetTags: { tag: '2' }, nodeSubnetId: 's-1' },
      subnets,
      's-3',
      { subnet: { id: 's-1' } },
    ],
  ])('%s', (_, node, of, id, expected) => {
    const choice = chooseSubnet(requirements(node), {
      infrastructure: infrastructure(of, { unreadTags: new Map([[id, failure('notAuthorized')]]) }),
      free: () => 90,
      fullInterface: 10,
      minUseful: 2,
    });

    expect(choice).toMatchObject(expected);
  });
});
