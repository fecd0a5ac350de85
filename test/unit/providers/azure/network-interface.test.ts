import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { inPlaces, readInterface } from '../../../../src/providers/azure/network-interface.ts';
import { Spellings } from '../../../../src/providers/azure/ids.ts';

const vm =
  '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/0';
const subnet = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/a';

function configuration(name: string, properties: JsonObject = {}): Json {
  return {
    name,
    properties: {
      privateIPAddress: '10.0.0.4',
      privateIPAddressVersion: 'IPv4',
      provisioningState: 'Succeeded',
      subnet: { id: subnet },
      ...properties,
    },
  };
}

const primary = configuration('ipconfig1', { primary: true });

function shown(properties: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    id: `${vm}/networkInterfaces/nic0`,
    name: 'nic0',
    properties: {
      primary: true,
      macAddress: '00-0D-3A-00-00-01',
      provisioningState: 'Succeeded',
      virtualMachine: { id: vm },
      networkSecurityGroup: { id: '/subscriptions/s/nsg' },
      ipConfigurations: [primary],
      ...properties,
    },
    ...more,
  };
}

function read(nic: Json) {
  const item = readInterface(nic, new Spellings());
  return item && inPlaces([item])[0];
}

function interfaceIn(nic: Json) {
  const observation = read(nic);
  return observation?.kind === 'interface' ? observation.interface : undefined;
}

describe('an interface of Azure', () => {
  test.each<[string, readonly JsonObject[], readonly number[]]>([
    ['alone, and says nothing', [{ primary: null }], [0]],
    ['alone, and says that it is not the primary one', [{ primary: false }], [1]],
    ['beside one that is not', [{ primary: true }, { primary: false }], [0, 1]],
    ['without a primary one beside it', [{ primary: false }, { primary: false }], [1, 2]],
  ])('has its place if it is shown %s', (_, all, places) => {
    const items = all.map((properties, index) =>
      readInterface(shown(properties, { id: `${vm}/networkInterfaces/nic${index}` }), new Spellings()),
    );
    const observed = inPlaces(items.flatMap((item) => item ?? []));

    expect(
      observed.map((each) => each.kind === 'interface' && each.interface.attachment?.deviceIndex),
    ).toEqual(places);
  });

  test('is read with its place, its network and its addresses', () => {
    const nic = shown({
      ipConfigurations: [primary, configuration('Cilium-1', { privateIPAddress: '10.0.0.5' })],
    });

    expect(interfaceIn(nic)).toMatchObject({
      name: 'nic0',
      mac: '00:0D:3A:00:00:01',
      subnetId: subnet,
      networkId: subnet.replace('/subnets/a', ''),
      primaryAddress: '10.0.0.4',
      addresses: ['10.0.0.5'],
      attachment: { instanceId: vm.toLowerCase(), deviceIndex: 0, networkCard: 0, state: 'attached' },
    });
    expect(interfaceIn(nic)).not.toHaveProperty('condition');
  });

  test('of no VM is not observed', () => {
    const id = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/nic0';

    expect(read(shown({ virtualMachine: null }, { id }))).toBeUndefined();
    expect(read(shown({ virtualMachine: { id: 'nonsense' } }, { id }))).toBeUndefined();
  });

  test.each([
    ['none', null, 'it names no VM'],
    ['what is no id', { id: 'nonsense' }, 'its VM is "nonsense"'],
    ['what is no VM', { id: subnet }, `its VM is "${subnet}"`],
  ])(
    'of a scale set is of the VM in its id, and unreadable, if its VM is %s',
    (_, virtualMachine, problem) => {
      const expected = { instanceId: vm.toLowerCase(), problem };

      expect(read(shown({ virtualMachine }))).toMatchObject({ interface: expected });
    },
  );

  test('with very many addresses is read', () => {
    const many = Array.from({ length: 60_000 }, (__, index) =>
      configuration(`c${index}`, {
        privateIPAddress: `10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
      }),
    );

    expect(interfaceIn(shown({ ipConfigurations: [primary, ...many] }))?.addresses).toHaveLength(60_000);
  });

  test('may have addresses of IPv6, which are not read and take up their places', () => {
    const other = configuration('v6', { privateIPAddressVersion: 'IPv6', privateIPAddress: 'fd00::4' });

    const found = interfaceIn(shown({ ipConfigurations: [other, primary] }));

    expect(found?.addresses).toEqual([]);
    expect(found?.placesTaken).toBe(1);
  });

  test('may have configurations without an address, which take up their places, too', () => {
    const other = configuration('x', { privateIPAddress: null, provisioningState: 'Failed' });

    expect(interfaceIn(shown({ ipConfigurations: [primary, other] }))?.placesTaken).toBe(1);
  });

  test('may get addresses for configurations without one, as long as it is changing', () => {
    const coming = configuration('x', { privateIPAddress: null, provisioningState: 'Updating' });

    expect(interfaceIn(shown({ ipConfigurations: [primary, coming] }))).not.toHaveProperty('placesTaken');
  });

  test('has no places taken by anything else than what it shows', () => {
    const other = configuration('x', { privateIPAddress: '10.0.0.5' });

    expect(interfaceIn(shown({ ipConfigurations: [primary, other] }))).not.toHaveProperty('placesTaken');
  });

  test('names the subnets of addresses that are elsewhere', () => {
    const elsewhere = subnet.replace('/a', '/b');
    const other = configuration('x', { privateIPAddress: '10.0.1.5', subnet: { id: elsewhere } });

    expect(interfaceIn(shown({ ipConfigurations: [primary, other] }))?.addressSubnets).toEqual(
      new Map([['10.0.1.5', elsewhere]]),
    );
  });

  test.each([
    ['a public address', { publicIPAddress: { id: 'p' } }],
    ['a pool of a load balancer', { loadBalancerBackendAddressPools: [{ id: 'p' }] }],
    ['a rule of a load balancer', { loadBalancerInboundNatRules: [{ id: 'p' }] }],
    ['a pool of an application gateway', { applicationGatewayBackendAddressPools: [{ id: 'p' }] }],
  ])('says which address has %s', (_, properties) => {
    const other = configuration('Cilium-1', { privateIPAddress: '10.0.0.5', ...properties });
    const item = interfaceIn(shown({ ipConfigurations: [primary, other] }));

    expect(item).toMatchObject({ addresses: ['10.0.0.5'], associated: ['10.0.0.5'], ofOthers: ['10.0.0.5'] });
  });

  test.each<[string, Json, string]>([
    ['nothing', null, 'a configuration is no object'],
    ['a text', 'Cilium-1', 'a configuration is no object'],
    ['one without a name', { properties: {} }, 'the configuration "" is in another form'],
    ['one without properties', { name: 'Cilium-1' }, 'the configuration "Cilium-1" is in another form'],
    [
      'one with a number for its address',
      configuration('Cilium-1', { privateIPAddress: 5 }),
      'the configuration "Cilium-1" is in another form',
    ],
    [
      'one with a text for its mark',
      configuration('Cilium-1', { privateIPAddress: '10.0.0.5', primary: 'true' }),
      'the configuration "Cilium-1" is in another form',
    ],
  ])(
    'cannot be read with %s among its configurations, so that nothing of it is missed',
    (_, odd, problem) => {
      const observation = read(shown({ ipConfigurations: [primary, odd] }));

      expect(observation).toMatchObject({ kind: 'unreadableInterface', interface: { problem } });
    },
  );

  test('says which addresses others made, and which of ours is no one else’s', () => {
    const others = [
      configuration('by-hand', { privateIPAddress: '10.0.0.5' }),
      configuration('Cilium-1', { privateIPAddress: '10.0.0.6', loadBalancerBackendAddressPools: [] }),
      configuration('cilium-1', { privateIPAddress: '10.0.0.7' }),
    ];

    expect(interfaceIn(shown({ ipConfigurations: [primary, ...others] }))?.ofOthers).toEqual([
      '10.0.0.5',
      '10.0.0.7',
    ]);
    expect(interfaceIn(shown())).not.toHaveProperty('ofOthers');
  });

  test.each([
    ['is ready if all of it is', 'Succeeded', 'Succeeded', undefined],
    ['is changing if it is updated', 'Updating', 'Succeeded', 'changing'],
    ['is changing if a configuration is', 'Succeeded', 'Updating', 'changing'],
    ['is changing in a state that is new to us', 'Dreaming', 'Succeeded', 'changing'],
    ['is ready if only its last change failed', 'Failed', 'Succeeded', undefined],
    ['is ready if its configurations show the failure of its last change', 'Failed', 'Failed', undefined],
    ['has failed if only a configuration with an address has', 'Succeeded', 'Failed', 'failed'],
  ] as const)('%s', (_, own, of, condition) => {
    const other = configuration('x', { privateIPAddress: '10.0.0.5', provisioningState: of });
    const nic = shown({ provisioningState: own, ipConfigurations: [primary, other] });

    expect(interfaceIn(nic)?.condition).toBe(condition);
  });

  test.each([
    ['while it is updated', 'Updating', 'Updating', undefined],
    ['after its last change failed', 'Failed', 'Failed', undefined],
    ['of which only that configuration failed', 'Succeeded', 'Failed', ['10.0.0.5']],
  ])('%s says which address a release leaves', (_, own, of, associated) => {
    const other = configuration('Cilium-1', { privateIPAddress: '10.0.0.5', provisioningState: of });

    const item = interfaceIn(shown({ provisioningState: own, ipConfigurations: [primary, other] }));

    expect(item?.addresses).toEqual(['10.0.0.5']);
    expect(item?.associated).toEqual(associated);
  });

  test('keeps an arriving configuration without an address to itself', () => {
    const arriving = configuration('x', { privateIPAddress: '', provisioningState: 'Updating' });

    const item = interfaceIn(shown({ ipConfigurations: [primary, arriving] }));

    expect(item?.addresses).toEqual([]);
    expect(item?.condition).toBe('changing');
  });

  test.each([
    ['without a MAC address', { macAddress: null }, 'it has no MAC address; its VM may be deallocated'],
    ['with a malformed MAC address', { macAddress: '00-0D' }, '"00:0D" is not a MAC address'],
    [
      'without an address',
      { ipConfigurations: [configuration('x', { primary: true, privateIPAddress: null })] },
      'its primary configuration has no address',
    ],
    [
      'without a subnet',
      { ipConfigurations: [configuration('x', { primary: true, subnet: null })] },
      'its primary configuration names no subnet',
    ],
    [
      'in a subnet that does not parse',
      { ipConfigurations: [configuration('x', { primary: true, subnet: { id: '/nowhere' } })] },
      '"/nowhere" is no subnet',
    ],
    [
      'with a malformed address',
      { ipConfigurations: [primary, configuration('x', { privateIPAddress: '10.0.0.300' })] },
      '"10.0.0.300" is not an IPv4 address',
    ],
    ['with an address twice', { ipConfigurations: [primary, configuration('x')] }, 'it has 10.0.0.4 twice'],
    ['without configurations', { ipConfigurations: null }, 'it has no IPv4 configuration'],
    ['without a state', { provisioningState: null }, 'its provisioningState is missing'],
  ])('%s is set aside with the reason', (_, properties, problem) => {
    expect(read(shown(properties))).toMatchObject({
      kind: 'unreadableInterface',
      interface: { instanceId: vm.toLowerCase(), deviceIndex: 0, problem },
    });
  });

  test('whose id does not parse is set aside with the reason', () => {
    expect(read(shown({}, { id: 'nic0' }))).toMatchObject({
      kind: 'unreadableInterface',
      interface: { id: 'nic0', problem: 'its id is "nic0"' },
    });
  });
});
