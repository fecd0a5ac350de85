import { describe, expect, test } from '@jest/globals';
import { attachedCidrs } from '../../../../../src/simulator/workload/attached-cidrs.ts';
import { azure } from '../../../../../src/simulator/workload/clouds/azure.ts';
import type { Json, JsonObject } from '../../../../../src/simulator/workload/json.ts';
import type { NodeFacts, Protocol } from '../../../../../src/simulator/workload/node-facts.ts';
import { newOwnNode, renewedOwnNode } from '../../../../../src/simulator/workload/own-node.ts';
import { resolveInterface } from '../../../../../src/simulator/workload/routing-facts.ts';

const network = '/subscriptions/s/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/main';
const facts: NodeFacts = {
  cloud: 'azure',
  name: 'node-1',
  instanceId:
    '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/pool/virtualmachines/0',
  instanceType: 'Standard_D4s_v5',
  vpcId: network.toLowerCase(),
  zone: '',
  subnetId: `${network}/subnets/a`,
  primaryAddress: '10.0.0.4',
  protocol: 'crd-allocator',
};

const whole = {
  id: 'nic-1',
  name: 'nic0',
  mac: '00-0D-3A-00-00-01',
  ip: '10.0.0.4',
  subnet: { id: `${network}/subnets/a`, cidr: '10.0.0.0/24' },
  cidr: '10.0.0.0/24',
  gateway: '10.0.0.1',
  addresses: [
    { ip: '10.0.0.5', subnet: `${network}/subnets/a`, state: 'succeeded' },
    { ip: '10.0.0.6', subnet: `${network}/subnets/a`, state: 'updating' },
  ],
};

function nodeWith(change: JsonObject): JsonObject {
  return { status: { azure: { interfaces: [{ ...whole, ...change }] } } };
}

describe('the CiliumNode of an agent on Azure', () => {
  test('has nothing of a cloud but the instance, unless an interface is configured', () => {
    expect(newOwnNode(facts, 'uid-1')['spec']).toEqual({
      'instance-id': facts.instanceId,
      addresses: [{ type: 'InternalIP', ip: '10.0.0.4' }],
      ipam: {},
    });
    const told = newOwnNode({ ...facts, azure: { interfaceName: 'nic1' } }, 'uid-1');
    expect(told['spec']).toMatchObject({ azure: { 'interface-name': 'nic1' } });
  });

  test('keeps the pool and the status of others when the agent starts again', () => {
    const found = { metadata: {}, spec: { ipam: { pool: { '10.0.0.5': {} } } }, status: { azure: {} } };

    expect(renewedOwnNode(facts, 'uid-1', found)).toMatchObject({ spec: found.spec, status: found.status });
  });

  test('belongs to a Node that names the instance as the cloud spells it', () => {
    expect(azure.providerIdOf(facts)).toBe(
      'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/0',
    );
  });

  test.each([
    ['a whole interface', {}, true],
    ['no address yet', { ip: '', addresses: [] }, true],
    ['a malformed address', { addresses: [{ ip: '10.0.0', state: 'succeeded' }] }, false],
    ['a malformed primary address', { ip: 'ten' }, false],
    ['a malformed gateway', { gateway: '10.0.0.1/24' }, false],
    ['a malformed CIDR', { subnet: { cidr: '10.0.0.0' } }, false],
    ['an address that is no text', { addresses: [{ ip: 5 }] }, false],
  ] satisfies [string, JsonObject, boolean][])('can be decoded or not: %s', (_, change, expected) => {
    expect(azure.isReadable(nodeWith(change))).toBe(expected);
  });

  test('names its network, whatever the case of the ids', () => {
    expect(azure.networkOf(nodeWith({}))).toBe(facts.vpcId);
    expect(azure.networkOf(nodeWith({ subnet: undefined }))).toBe(facts.vpcId);
  });
});

describe('an agent on Azure', () => {
  const protocols = ['crd-allocator', 'multi-pool'] as const satisfies readonly Protocol[];

  test.each([
    ['no MAC address', { mac: '' }, 'MAC address', 'MAC address'],
    ['no gateway', { gateway: '' }, 'gateway', 'gateway'],
    ['no subnet', { subnet: {} }, undefined, 'subnet CIDR'],
    ['nothing but the subnet', { cidr: undefined }, undefined, undefined],
    ['everything', {}, undefined, undefined],
  ] satisfies [string, JsonObject, string | undefined, string | undefined][])(
    'finds what it needs for an address, or says what is missing: %s',
    (_, change, asked, unasked) => {
      const found = protocols.map((protocol) => {
        const resolution = resolveInterface(azure.interfacesOf(nodeWith(change), protocol), 'nic-1');
        return resolution.kind === 'resolved' ? undefined : resolution.reason;
      });

      expect(found).toEqual(
        [asked, unasked].map((gap) => (gap === undefined ? undefined : `ENI nic-1 has no ${gap}`)),
      );
    },
  );

  test('takes its CIDR from the field that its protocol knows', () => {
    const cidrsIn = (change: JsonObject): Json =>
      protocols.map((protocol) => azure.interfacesOf(nodeWith(change), protocol)[0]?.cidrs ?? []);

    expect(cidrsIn({ cidr: undefined })).toEqual([[], ['10.0.0.0/24']]);
    expect(cidrsIn({ subnet: undefined })).toEqual([['10.0.0.0/24'], []]);
  });

  test('uses no address in a state other than succeeded', () => {
    const cidrs = attachedCidrs(azure.interfacesOf(nodeWith({}), 'multi-pool'), azure.exclusionOf({}));

    expect([...cidrs.keys()]).toEqual(['10.0.0.5/32']);
  });

  test('drops what older ones do not know when it writes the status', () => {
    const status = { azure: { interfaces: [whole] } };
    const kept = { ...whole, ip: undefined, subnet: undefined };

    expect(azure.writtenBack(status, 'crd-allocator')).toEqual({ azure: { interfaces: [kept] } });
    expect(azure.writtenBack(status, 'multi-pool')).toBe(status);
  });
});
