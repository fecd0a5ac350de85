import { describe, expect, test } from '@jest/globals';
import { InstanceOwnership } from '../../../../src/manager/claims/instance-ownership.ts';
import { NodeIdentities } from '../../../../src/manager/claims/node-identities.ts';
import type { InstanceView } from '../../../../src/providers/contract/facts.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { eni, view } from '../../node/allocation-facts.ts';

const address = '10.0.0.5';

/** A Node: its instance, and its addresses. */
type NodeOf = readonly [instanceId: string | undefined, ...addresses: readonly string[]];

interface Setup {
  readonly nodes?: Readonly<Record<string, NodeOf>>;
  readonly views?: Readonly<Record<string, InstanceView>>;
  readonly networkId?: string;
}

/** By default, Node `a` and instance `i-1` have the address. */
class Rig {
  readonly identities = new NodeIdentities();
  readonly views: Map<string, InstanceView>;
  readonly ownership: InstanceOwnership;

  constructor({ nodes = { a: [undefined, address] }, views = { 'i-1': shown() }, networkId }: Setup = {}) {
    for (const [name, node] of Object.entries(nodes)) this.identities.set(name, identity(node));
    this.views = new Map(Object.entries(views));
    const inventory = { view: (id: string) => this.views.get(id) };
    this.ownership = new InstanceOwnership({ identities: this.identities, inventory, networkId });
    this.ownership.instancesChanged(this.views.keys());
  }

  /** The Node of that name changes. Returns the instances that belong to another Node since. */
  set(name: string, node: NodeOf | undefined): readonly string[] {
    const { addresses } = this.identities.set(name, node && identity(node));
    const changed = this.ownership.addressesChanged(addresses);
    return [...changed, ...(this.ownership.mustSeek ? this.ownership.seek(this.views.keys()) : [])];
  }

  /** The cloud shows an instance anew; undefined once it is not served. */
  show(id: string, shown: InstanceView | undefined): readonly string[] {
    if (shown === undefined) this.views.delete(id);
    else this.views.set(id, shown);
    return [...this.ownership.instancesChanged([id])];
  }

  isVerified(name = 'a', id = 'i-1'): boolean {
    return this.ownership.isVerified(name, id);
  }
}

function identity([instanceId, ...addresses]: NodeOf) {
  return { instanceId, addresses, createdAt: 1 };
}

function primary(change: Partial<NetworkInterface> = {}): NetworkInterface {
  return { ...eni(0), primaryAddress: address, ...change };
}

function shown(change: Partial<InstanceView> = {}, ...others: readonly NetworkInterface[]): InstanceView {
  return { ...view([primary(), ...others]), presence: 'shown', ...change };
}

/** An instance whose own address is another one. */
function other(change: Partial<NetworkInterface> = {}): InstanceView {
  return { ...view([primary({ primaryAddress: '10.0.0.9', ...change })]), presence: 'shown' };
}

const only = (id: string, change: Partial<NetworkInterface>): InstanceView => ({
  ...view([primary(change)]),
  id,
  presence: 'shown',
});

describe('an instance whose Node has no provider ID', () => {
  test.each<[string, Setup]>([
    ['has the address of that Node as its own', {}],
    ['is in the only network that is served', { networkId: 'vpc-1' }],
    ['has one of several addresses of that Node', { nodes: { a: [undefined, '192.168.0.1', address] } }],
    ['has other interfaces with other addresses', { views: { 'i-1': shown({}, eni(1, 3)), 'i-2': other() } }],
    [
      'has an address that an instance of another network has, of which none is served',
      { views: { 'i-1': shown(), 'i-2': only('i-2', { networkId: 'vpc-2' }) }, networkId: 'vpc-1' },
    ],
  ])('is verified if it %s', (_, setup) => {
    expect(new Rig(setup).isVerified()).toBe(true);
  });

  test.each<[string, Setup]>([
    ['the cloud has not answered about it', { views: { 'i-1': shown({ read: false }) } }],
    ['the cloud does not show it', { views: { 'i-1': shown({ presence: 'notFound' }) } }],
    [
      'the cloud shows it without its own interface',
      { views: { 'i-1': shown({ presence: 'withoutPrimary' }) } },
    ],
    ['it is terminated', { views: { 'i-1': shown({ presence: 'terminated' }) } }],
    [
      'only its CiliumNode shows the interface',
      { views: { 'i-1': shown({ unseen: new Set([primary().id]), possiblyGone: new Set([primary().id]) }) } },
    ],
    ['its interface may be gone', { views: { 'i-1': shown({ possiblyGone: new Set([primary().id]) }) } }],
    ['the address is another one', { views: { 'i-1': other() } }],
    ['the address is a secondary one', { views: { 'i-1': other({ addresses: [address] }) } }],
    ['the address is in a prefix', { views: { 'i-1': other({ prefixes: ['10.0.0.0/28'] }) } }],
    [
      'the address is that of a secondary interface',
      {
        views: {
          'i-1': { ...other(), interfaces: [...other().interfaces, { ...eni(1), primaryAddress: address }] },
        },
      },
    ],
    [
      'another interface of it has the address too',
      { views: { 'i-1': shown({}, { ...eni(1), addresses: [address] }) } },
    ],
    [
      'another interface of it has the address in a prefix',
      { views: { 'i-1': shown({}, { ...eni(1), prefixes: ['10.0.0.0/28'] }) } },
    ],
    [
      'another instance has the address',
      { views: { 'i-1': shown(), 'i-2': other({ addresses: [address] }) } },
    ],
    ['another instance has the address as its own', { views: { 'i-1': shown(), 'i-2': shown() } }],
    ['another Node has the address', { nodes: { a: [undefined, address], b: [undefined, address] } }],
    [
      'another Node with a provider ID has the address',
      { nodes: { a: [undefined, address], b: ['i-2', address] } },
    ],
    [
      'another Node names it by its provider ID',
      { nodes: { a: [undefined, address], b: ['i-1', '10.0.0.9'] } },
    ],
    ['its Node names another instance by its provider ID', { nodes: { a: ['i-2', address] } }],
    ['the address is that of another Node alone', { nodes: { a: [undefined], b: [undefined, address] } }],
    ['it is in a network that is not served', { networkId: 'vpc-2' }],
    [
      'instances of two networks are served, which may have the same addresses',
      { views: { 'i-1': shown(), 'i-2': only('i-2', { networkId: 'vpc-2', primaryAddress: '10.0.0.9' }) } },
    ],
  ])('is not verified while %s', (_, setup) => {
    expect(new Rig(setup).isVerified()).toBe(false);
  });
});

describe('an instance that the cloud hides', () => {
  const views = { 'i-1': shown({ presence: 'notFound' }) };

  test.each<[string, Setup['nodes'] & {}, boolean]>([
    ['may belong to a Node that names none', { a: [undefined, address] }, true],
    ['may belong to any Node while none is known', {}, true],
    ['belongs to no Node that is not there', { b: [undefined, address] }, false],
    ['belongs to no Node that names another one', { a: ['i-2', address] }, false],
    ['belongs to the Node that names it', { a: ['i-1', address] }, true],
    ['belongs to no other Node than the one that names it', { a: [undefined, address], b: ['i-1'] }, false],
  ])('%s', (_, nodes, expected) => {
    expect(new Rig({ nodes, views }).ownership.isPossible('a', 'i-1')).toBe(expected);
  });

  test('belongs to no other Node than the one whose address it has, as the cloud showed it before', () => {
    const rig = new Rig({ nodes: { a: [undefined, '10.0.0.7'], b: [undefined, address] } });
    rig.show('i-1', shown({ presence: 'notFound' }));

    expect([rig.ownership.isPossible('a', 'i-1'), rig.ownership.isPossible('b', 'i-1')]).toEqual([
      false,
      true,
    ]);
  });
});

describe('a claim that only a CiliumNode makes to the address', () => {
  test.each<[string, InstanceView]>([
    ['an interface', { ...other({ addresses: [address] }), unseen: new Set([primary().id]) }],
    ['an address', { ...other({ addresses: [address] }), unseen: new Set([address]) }],
    ['a prefix', { ...other({ prefixes: ['10.0.0.0/28'] }), unseen: new Set(['10.0.0.0/28']) }],
  ])('is no evidence against an instance, if it shows %s', (_, claim) => {
    expect(new Rig({ views: { 'i-1': shown(), 'i-2': claim } }).isVerified()).toBe(true);
  });
});

describe('an instance with a provider ID', () => {
  test.each<[string, Setup['nodes'], boolean]>([
    ['is verified for the one Node that names it, whatever its addresses', { a: ['i-1'] }, true],
    ['is verified for no Node while two name it', { a: ['i-1', address], b: ['i-1'] }, false],
    ['is not verified for a Node of another name', { b: ['i-1', address] }, false],
  ])('%s', (_, nodes = {}, expected) => {
    expect(new Rig({ nodes }).isVerified()).toBe(expected);
  });
});

describe('what verifies an instance by its address', () => {
  test.each<[string, (rig: Rig) => readonly string[], boolean, readonly string[]]>([
    ['ends when another Node gets the address', (rig) => rig.set('b', [undefined, address]), false, ['i-1']],
    [
      'ends when its Node gets another address',
      (rig) => rig.set('a', [undefined, '10.0.0.9']),
      false,
      ['i-1'],
    ],
    ['ends when its Node goes', (rig) => rig.set('a', undefined), false, ['i-1']],
    ['goes over to the provider ID', (rig) => rig.set('a', ['i-1', address]), true, ['i-1']],
    ['ends with another provider ID', (rig) => rig.set('a', ['i-2', address]), false, ['i-1']],
    [
      'ends when the cloud shows the address on another instance',
      (rig) => rig.show('i-2', other({ addresses: [address] })),
      false,
      ['i-1'],
    ],
    ['ends when the cloud shows another address', (rig) => rig.show('i-1', other()), false, ['i-1']],
    [
      'ends when it is terminated',
      (rig) => rig.show('i-1', shown({ presence: 'terminated' })),
      false,
      ['i-1'],
    ],
    [
      'ends when an instance of another network is served',
      (rig) => rig.show('i-2', only('i-2', { networkId: 'vpc-2', primaryAddress: '10.0.0.9' })),
      false,
      ['i-1'],
    ],
    ['lasts while a Node gets another address', (rig) => rig.set('b', [undefined, '10.0.0.7']), true, []],
    [
      'lasts while the cloud does not show the instance',
      (rig) => rig.show('i-1', { ...view([]), presence: 'notFound' }),
      true,
      [],
    ],
    [
      'lasts while a read omits its interface',
      (rig) => rig.show('i-1', shown({ possiblyGone: new Set([primary().id]) })),
      true,
      [],
    ],
    ['lasts while the instance changes hands', (rig) => rig.show('i-1', undefined), true, []],
  ])('%s', (_, change, expected, changed) => {
    const rig = new Rig();

    const named = change(rig);

    expect(rig.isVerified()).toBe(expected);
    expect([...new Set(named)]).toEqual(changed);
  });

  test.each<[string, Setup, (rig: Rig) => readonly string[]]>([
    ['its Node', { nodes: {} }, (rig) => rig.set('a', [undefined, address])],
    ['the address of its Node', { nodes: { a: [undefined] } }, (rig) => rig.set('a', [undefined, address])],
    ['the cloud’s answer', { views: {} }, (rig) => rig.show('i-1', shown())],
    [
      'the end of the other Node with its address',
      { nodes: { a: [undefined, address], b: [undefined, address] } },
      (rig) => rig.set('b', undefined),
    ],
    [
      'the end of the other Node that names it',
      { nodes: { a: [undefined, address], b: ['i-1', address] } },
      (rig) => rig.set('b', undefined),
    ],
    [
      'a newer read of the other instance that had its address',
      { views: { 'i-1': shown(), 'i-2': other({ addresses: [address] }) } },
      (rig) => rig.show('i-2', other()),
    ],
    [
      'the end of the other instance that had its address',
      { views: { 'i-1': shown(), 'i-2': other({ addresses: [address] }) } },
      (rig) => rig.show('i-2', undefined),
    ],
  ])('begins with %s', (_, setup, change) => {
    const rig = new Rig(setup);
    const before = rig.isVerified();

    const changed = change(rig);

    expect([before, rig.isVerified()]).toEqual([false, true]);
    expect(changed).toContain('i-1');
  });

  test('does not come back once a second network was seen, even if nothing of it is served any longer', () => {
    const rig = new Rig();
    rig.show('i-2', only('i-2', { networkId: 'vpc-2', primaryAddress: '10.0.0.9' }));

    rig.show('i-2', undefined);
    rig.show('i-1', shown());

    expect(rig.isVerified()).toBe(false);
  });

  test('waits until a new address was looked for on all instances', () => {
    const rig = new Rig({ nodes: {}, views: { 'i-2': other({ addresses: [address] }) } });
    const { addresses } = rig.identities.set('a', identity([undefined, address]));
    rig.ownership.addressesChanged(addresses);

    rig.show('i-1', shown());
    const before = rig.isVerified();
    rig.ownership.seek(rig.views.keys());

    expect([before, rig.isVerified()]).toEqual([false, false]);
  });
});

describe('the Node that an instance belongs to by its address', () => {
  test('decides between CiliumNodes, and only if one has its name', () => {
    const { ownership } = new Rig();

    expect(ownership.nodesOf('i-1', (name) => name === 'a')).toEqual(['a']);
    expect(ownership.nodesOf('i-1', () => false)).toEqual([]);
  });

  test('is no evidence that its CiliumNode has another instance', () => {
    const { ownership } = new Rig();

    expect(ownership.instanceOf('a', 'i-1')).toBe('i-1');
    expect(ownership.instanceOf('a', 'i-2')).toBeUndefined();
  });

  test('comes after the Nodes that name the instance', () => {
    const { ownership } = new Rig({ nodes: { a: [undefined, address], b: ['i-1'] } });

    expect(ownership.nodesOf('i-1', () => true)).toEqual(['b']);
  });
});
