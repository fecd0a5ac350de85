import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import {
  type CiliumNodeReading,
  readCiliumNode,
} from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import { shownBy, shownTo } from '../../../../src/kubernetes/cilium-node/shown-addresses.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { azureSection } from '../../../../src/providers/azure/cilium-node-section.ts';
import type { StatusContext } from '../../../../src/providers/contract/cilium-node-section.ts';
import type { Subnet } from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { view } from '../../node/allocation-facts.ts';
import {
  idOf,
  infrastructure,
  instanceId,
  network,
  nic,
  otherSubnet,
  published,
  publishedBefore,
  section,
  subnet,
} from './published.ts';

const [a, b, c] = ['10.0.0.10', '10.0.0.9', '10.0.1.10'];
const nothing: ReadonlySet<string> = new Set();

function statusOf(items: readonly NetworkInterface[], how: Partial<StatusContext> = {}): Json {
  const shown = { usePrimaryAddress: false, unfit: nothing, retired: nothing, excluded: nothing };
  return section.status(view(items), { infrastructure, ...shown, ...how }) as Json;
}

function reading(status: Json, spec?: Json): CiliumNodeReading {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1' };
  const azure = spec === undefined ? {} : { azure: spec };
  return readCiliumNode(
    { metadata, spec: { 'instance-id': instanceId, ...azure }, status: { azure: status } },
    section,
  );
}

function nodeWith(status: Json, spec?: Json): CiliumNode {
  const read = reading(status, spec);
  if (read.kind !== 'node') throw new Error(JSON.stringify(read.problems));
  return read.node;
}

describe('the status of interfaces on Azure', () => {
  test('gives agents all that they need, in the order of ids and addresses', () => {
    const items = [nic('eth1', { primaryAddress: '10.0.0.5' }), nic('eth0', { addresses: [a, b] })];

    expect(statusOf(items)).toEqual({
      interfaces: [published('eth0', [a, b]), published('eth1', [], { ip: '10.0.0.5' })],
    });
  });

  test.each<[string, Partial<NetworkInterface>, Partial<StatusContext>, readonly string[]]>([
    ['none of an interface that has only its primary address', {}, {}, []],
    ['the primary address if pods may have it', {}, { usePrimaryAddress: true }, ['10.0.0.4']],
    ['none that is excluded', { addresses: [a, b] }, { excluded: new Set([a]) }, [b]],
    ['none of an unfit interface', { addresses: [a] }, { unfit: new Set([idOf('eth0')]) }, []],
    [
      'the retired ones of an unfit interface',
      { addresses: [a, b] },
      { unfit: new Set([idOf('eth0')]), retired: new Set([a, '10.0.0.4']) },
      [a, '10.0.0.4'],
    ],
    ['all while the interface is changing', { addresses: [a], condition: 'changing' }, {}, [a]],
    ['none that agents cannot decode', { addresses: ['x', '', '10.0.0.300', '010.0.0.1', a, a] }, {}, [a]],
  ])('has addresses: %s', (_, change, how, expected) => {
    expect(statusOf([nic('eth0', change)], how)).toEqual({ interfaces: [published('eth0', expected)] });
  });

  test('has the prefix and the gateway of the one of its subnet that the interface is in', () => {
    const several = {
      ...infrastructure.subnets.get(subnet),
      cidr: '10.9.0.0/24',
      otherCidrs: ['10.0.0.0/16'],
    };
    const known = { ...infrastructure, subnets: new Map([[subnet, several as Subnet]]) };
    const items = [nic('eth0'), nic('eth1', { primaryAddress: '10.9.0.4' })];

    const status = statusOf(items, { infrastructure: known });
    const restored = section.restore(instanceId, status, '');
    const again = statusOf(items, { infrastructure: { ...infrastructure, ...restored } });

    expect(status).toMatchObject({
      interfaces: [
        { cidr: '10.0.0.0/16', gateway: '10.0.0.1', subnet: { cidr: '10.0.0.0/16' } },
        { cidr: '10.9.0.0/24', gateway: '10.9.0.1', subnet: { cidr: '10.9.0.0/24' } },
      ],
    });
    expect(again).toEqual(status);
  });

  test('says which interface failed, and keeps what it has', () => {
    const items = [nic('eth0', { addresses: [a], condition: 'failed' })];

    expect(statusOf(items)).toEqual({ interfaces: [published('eth0', [a], { state: 'failed' })] });
  });

  test('names the subnet of each address', () => {
    const items = [nic('eth0', { addresses: [a, c], addressSubnets: new Map([[c, otherSubnet]]) })];

    expect(statusOf(items)).toMatchObject({
      interfaces: [
        {
          addresses: [
            { ip: a, subnet },
            { ip: c, subnet: otherSubnet },
          ],
        },
      ],
    });
  });

  test('has nothing malformed of an interface whose primary address or subnet is unknown', () => {
    const items = [nic('eth0', { primaryAddress: '', subnetId: otherSubnet }), nic('eth1', { mac: '' })];

    const { ip: _ip, cidr: _cidr, gateway: _gateway, ...rest } = published('eth0');
    expect(statusOf(items)).toEqual({ interfaces: [{ ...rest, subnet: { id: otherSubnet } }] });
  });

  test.each([
    ['with a MAC address and a known subnet', {}, true],
    ['not without a MAC address', { mac: '' }, false],
    ['not in an unknown subnet', { subnetId: otherSubnet }, false],
  ])('can hold an interface %s', (_, change, expected) => {
    expect(section.isShowable(nic('eth0', change), infrastructure)).toBe(expected);
  });

  const addresses = fc.uniqueArray(fc.integer({ min: 5, max: 250 }), { maxLength: 30 });

  test('restores the interfaces that it was made of', () => {
    fc.assert(
      fc.property(fc.array(addresses, { maxLength: 4 }), (rows) => {
        const items = rows.map((row, index) =>
          nic(`eth${index}`, { addresses: row.map((last) => `10.0.${index}.${last}`).toSorted() }),
        );

        const restored = section.restore(instanceId, statusOf(items), '');

        expect(restored.interfaces).toEqual(items);
        expect([...restored.subnets.keys()]).toEqual(items.length === 0 ? [] : [subnet]);
      }),
    );
  });
});

describe('a published status on Azure', () => {
  test('of an older operator restores what it names, with an unknown primary address', () => {
    const { interfaces, subnets, networks } = section.restore(
      instanceId,
      { interfaces: [publishedBefore('eth0', [a, b])] },
      '',
    );

    expect(interfaces).toEqual([
      nic('eth0', { primaryAddress: '', addresses: [a, b], securityGroupIds: [] }),
    ]);
    expect([...subnets.values()]).toMatchObject([{ id: subnet, cidr: '10.0.0.0/16', networkId: network }]);
    expect([...networks.keys()]).toEqual([network]);
  });

  test('is restored in the one spelling of each id', () => {
    const lower = azureSection({ of: (id) => id.toLowerCase() });

    const { interfaces, subnets } = lower.restore(instanceId, { interfaces: [published('eth0', [a])] }, '');

    expect(interfaces).toMatchObject([{ id: idOf('eth0').toLowerCase(), subnetId: subnet.toLowerCase() }]);
    expect([...subnets.keys()]).toEqual([subnet.toLowerCase()]);
  });

  test.each<[string, Json]>([
    ['nothing', null],
    ['a text', 'x'],
    ['a list', []],
    ['interfaces in a map', { interfaces: { eth0: published('eth0') } }],
    ['invalid interfaces', { interfaces: [null, 'x', 7, [], {}] }],
    ['no id', { interfaces: [published('eth0', [a], { id: '' })] }],
    ['no MAC address', { interfaces: [published('eth0', [a], { mac: null })] }],
    ['a subnet that is none', { interfaces: [published('eth0', [], { subnet: { id: 'subnet-1' } })] }],
  ])('restores nothing when it has %s', (_, status) => {
    expect(section.restore(instanceId, status, '').interfaces).toEqual([]);
  });

  const status = { more: 1, interfaces: [published('eth0', [a, b]), published('eth1', [c])] };

  test.each<[string, readonly string[], readonly Json[]]>([
    ['nothing', [], status.interfaces],
    ['an address', [a], [published('eth0', [b]), published('eth1', [c])]],
    [
      'all addresses of an interface',
      [c],
      [published('eth0', [a, b]), published('eth1', [], { addresses: [] })],
    ],
    ['an interface', [idOf('eth0')], [published('eth1', [c])]],
  ])('stays as it is without what is gone: %s', (_, gone, interfaces) => {
    expect(section.without(status, (id) => gone.includes(id))).toEqual({ more: 1, interfaces });
  });
});

describe('what a CiliumNode on Azure shows whose status holds', () => {
  const list = (...interfaces: readonly Json[]): Json => ({ interfaces });

  test.each<[string, Json, readonly string[], readonly string[], number]>([
    ['nothing', null, [], [], 0],
    ['no list', {}, [], [], 0],
    ['an empty list', list(), [], [], 0],
    ['an interface with only its primary address', list(published('eth0')), [], ['eth0'], 0],
    ['addresses', list(published('eth0', [a, b])), [a, b], ['eth0'], 0],
    ['several interfaces', list(published('eth0', [a]), published('eth1', [c])), [a, c], ['eth0', 'eth1'], 0],
    ['what an older operator wrote', list(publishedBefore('eth0', [a, b])), [a, b], ['eth0'], 0],
    [
      'an older agent dropped fields',
      list(published('eth0', [a], { ip: null, subnet: null })),
      [a],
      ['eth0'],
      0,
    ],
    [
      'an interface that is listed twice',
      list(published('eth0', [a]), published('eth0', [b])),
      [a, b],
      ['eth0'],
      0,
    ],
    [
      'an address in another state',
      list(published('eth0', [], { addresses: [{ ip: a, state: 'failed' }] })),
      [a],
      ['eth0'],
      0,
    ],
    ['an interface without a MAC address', list(published('eth0', [a], { mac: '' })), [a], ['eth0'], 0],
    ['an interface without an id', list({ addresses: [{ ip: a }] }), [a], [], 1],
    ['an interface whose id is a number', list({ id: 7, addresses: [{ ip: a }] }), [a], [], 1],
    ['an interface that is null', list(null, published('eth0', [a])), [a], ['eth0'], 1],
    ['an interface that is a text', list('eth0', published('eth0', [a])), [a], ['eth0'], 1],
    ['addresses in a text', list(published('eth0', [], { addresses: a })), [], ['eth0'], 1],
    ['addresses as texts', list(published('eth0', [], { addresses: [a, b] })), [], ['eth0'], 2],
    ['what is no address', list(published('eth0', ['x', '10.0.0.300', 'fd00::1', a])), [a], ['eth0'], 3],
    ['an address that is no text', list(published('eth0', [], { addresses: [{ ip: 7 }] })), [], ['eth0'], 1],
    ['an address with leading zeros', list(published('eth0', ['010.0.0.10'])), [], ['eth0'], 1],
  ])('%s', (_, status, shows, interfaces, warnings) => {
    const node = nodeWith(status);

    expect(shownBy({ kind: 'node', node }).addresses).toEqual(shows);
    expect([a, b, c].filter(shownTo(node))).toEqual([a, b, c].filter((address) => shows.includes(address)));
    expect([...node.status.interfaces.keys()].filter((id) => id !== '')).toEqual(interfaces.map(idOf));
    expect(node.warnings).toHaveLength(warnings);
  });

  test("another cloud's section: nothing of it is shown or kept", () => {
    const raw = {
      metadata: { name: 'n', uid: 'u', resourceVersion: '1' },
      spec: {},
      status: { eni: { enis: { 'eni-1': { addresses: [a] } } } },
    };

    const read = readCiliumNode(raw, section);

    expect(read).toMatchObject({ kind: 'node', node: { status: { interfaces: new Map() } } });
    expect(read.kind === 'node' && read.node.base.status).toEqual({});
  });

  test.each<[string, Json, Json | undefined, string]>([
    ['a list', [], undefined, 'status.azure: found a list of 0 where an object is accepted'],
    [
      'interfaces in a map',
      { interfaces: {} },
      undefined,
      'status.azure.interfaces: found an object where a list is accepted',
    ],
    ['nothing', null, 'x', 'spec.azure: found "x" where an object is accepted'],
    [
      'too many interfaces',
      { interfaces: Array.from({ length: 65 }, () => ({})) },
      undefined,
      'status.azure.interfaces: has 65 entries, and at most 64 are read',
    ],
    [
      'a name that breaks calls, in the spec,',
      null,
      { 'interface-name': 'a*' },
      'spec.azure.interface-name: found "a*" where a text of at most 512 characters without spaces and wildcards is accepted',
    ],
  ])('%s, cannot be read', (_, status, spec, said) => {
    const read = reading(status, spec);

    const problems = read.kind === 'unreadable' ? read.problems : [];
    expect(problems.map(({ field, problem }) => `${field}: ${problem}`)).toEqual([said]);
  });
});

describe('what a node on Azure asks for', () => {
  test.each<[string, JsonObject | undefined, string | undefined]>([
    ['any interface without a section', undefined, undefined],
    ['any interface with an empty section', {}, undefined],
    ['the interface that it names', { 'interface-name': 'eth1' }, 'eth1'],
  ])('is %s', (_, spec, interfaceName) => {
    const { section: asked, instanceId: named } = nodeWith(null, spec);

    expect(asked).toMatchObject({ missing: [], interfaceName });
    expect(asked).not.toMatchObject({ networkId: expect.anything() as unknown });
    expect(asked).not.toMatchObject({ zone: expect.anything() as unknown });
    expect(named).toBe(instanceId);
  });

  test('may name its instance in the obsolete place', () => {
    const raw = {
      metadata: { name: 'n', uid: 'u', resourceVersion: '1' },
      spec: { azure: { 'instance-id': instanceId } },
    };

    expect(readCiliumNode(raw, section)).toMatchObject({ kind: 'node', node: { instanceId } });
  });
});
