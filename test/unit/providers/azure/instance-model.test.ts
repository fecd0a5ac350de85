import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import {
  type Edit,
  holdsAll,
  namesFor,
  withAdditionsToInterface,
  withAdditionsToVm,
} from '../../../../src/providers/azure/instance-model.ts';

const subnetId = '/subscriptions/s/subnets/a';
const groups = [{ id: '/subscriptions/s/asgs/web' }];

function interfaceModel(name: string, count = 1): JsonObject {
  const configurations = Array.from({ length: count }, (_, index) => ({
    name: `ipconfig${index}`,
    properties: {
      primary: index === 0,
      subnet: { id: subnetId },
      applicationSecurityGroups: groups,
      newerField: 1,
    },
  }));
  return {
    name,
    newerField: { kept: [1, null] },
    properties: {
      provisioningState: 'Succeeded',
      primary: true,
      ipConfigurations: configurations,
      newer: 'kept',
    },
  };
}

function vmModel(interfaces: readonly JsonObject[], properties: JsonObject = {}): JsonObject {
  return {
    location: 'x',
    newerField: 'kept',
    properties: {
      provisioningState: 'Succeeded',
      storageProfile: { imageReference: { id: '/gallery' }, osDisk: { newer: true } },
      networkProfileConfiguration: { networkInterfaceConfigurations: interfaces, newer: 1 },
      ...properties,
    },
  };
}

function modelIn(edit: Edit): JsonObject {
  if (edit.kind === 'refused') throw new Error(edit.problem);
  return edit.model;
}

const additions = [
  { name: 'nic1', count: 1 },
  { name: 'NIC0', count: 2 },
];
const names = namesFor(additions, 'abcdef01-2345-6789');

describe('the names of an update', () => {
  test('come from its id and are unique within it', () => {
    expect([...names]).toEqual([
      ['nic1', ['Cilium-abcdef01-0']],
      ['NIC0', ['Cilium-abcdef01-1', 'Cilium-abcdef01-2']],
    ]);
  });
});

describe('a model with additions', () => {
  const before = vmModel([interfaceModel('nic0'), interfaceModel('nic1')]);

  test('differs from the model only in configurations and the image reference', () => {
    const after = modelIn(withAdditionsToVm(before, additions, names));

    const added = (name: string): JsonObject => ({
      name,
      properties: {
        subnet: { id: subnetId },
        privateIPAddressVersion: 'IPv4',
        applicationSecurityGroups: groups,
      },
    });
    const grown = (model: JsonObject, ...more: readonly JsonObject[]): JsonObject => {
      const properties = model['properties'] as JsonObject;
      const known = properties['ipConfigurations'] as readonly JsonObject[];
      return { ...model, properties: { ...properties, ipConfigurations: [...known, ...more] } };
    };
    expect(after).toEqual(
      vmModel(
        [
          grown(interfaceModel('nic0'), added('Cilium-abcdef01-1'), added('Cilium-abcdef01-2')),
          grown(interfaceModel('nic1'), added('Cilium-abcdef01-0')),
        ],
        { storageProfile: { osDisk: { newer: true } } },
      ),
    );
    expect(before).toEqual(vmModel([interfaceModel('nic0'), interfaceModel('nic1')]));
  });

  test('gets only what it lacks', () => {
    const once = modelIn(withAdditionsToVm(before, additions, names));

    const twice = modelIn(withAdditionsToVm(once, additions, names));

    expect(twice).toEqual(once);
    expect([holdsAll(before, names), holdsAll(once, names)]).toEqual([false, true]);
  });

  test('of an interface of its own asks for a dynamic address', () => {
    const after = modelIn(withAdditionsToInterface(interfaceModel('n'), { name: 'n', count: 1 }, ['x']));

    expect(JSON.stringify(after)).toContain(
      JSON.stringify({
        name: 'x',
        properties: {
          subnet: { id: subnetId },
          privateIPAllocationMethod: 'Dynamic',
          privateIPAddressVersion: 'IPv4',
          applicationSecurityGroups: groups,
        },
      }),
    );
    expect(holdsAll(after, new Map([['n', ['x']]]))).toBe(true);
  });

  test.each([
    ['that lacks the interface', vmModel([interfaceModel('other')]), 'InterfaceNotInModel'],
    [
      'that is being upgraded',
      vmModel([interfaceModel('nic0')], { provisioningState: 'Updating' }),
      'ModelIsChanging',
    ],
    [
      'that is being deleted',
      vmModel([interfaceModel('nic0')], { provisioningState: 'Deleting' }),
      'BeingDeleted',
    ],
    [
      'of an interface with 255 configurations',
      vmModel([interfaceModel('nic0', 255)]),
      'TooManyConfigurations',
    ],
    [
      'of a VM with 255 configurations on two interfaces',
      vmModel([interfaceModel('nic0', 128), interfaceModel('nic1', 127)]),
      'TooManyConfigurations',
    ],
    ['without a state', vmModel([interfaceModel('nic0')], { provisioningState: null }), 'UnreadableAnswer'],
    ['without a network', vmModel([], { networkProfileConfiguration: null }), 'UnreadableAnswer'],
    ['of an interface without configurations', vmModel([interfaceModel('nic0', 0)]), 'UnreadableAnswer'],
  ])('is not made of one %s', (_, model, code) => {
    const two = [{ name: 'nic0', count: 2 }];

    expect(withAdditionsToVm(model, two, namesFor(two, 'a'))).toMatchObject({ kind: 'refused', code });
  });

  test('is made of one whose last change failed', () => {
    const failed = vmModel([interfaceModel('nic0')], { provisioningState: 'Failed' });
    const one = [{ name: 'nic0', count: 1 }];

    expect(withAdditionsToVm(failed, one, namesFor(one, 'a')).kind).toBe('edited');
  });
});
