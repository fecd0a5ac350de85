import { ComputeManagementClient } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import { createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';
import { describe, expect, test } from '@jest/globals';
import type { ArmRequest } from '../../../src/providers/azure/arm-api.ts';
import { isObject, type Json, type JsonObject } from '../../../src/runtime/json.ts';
import { parseInstanceId, parseInterfaceId, parseSubnetId } from '../../../src/providers/azure/ids.ts';
import {
  type Edit,
  namesFor,
  withAdditionsToInterface,
  withAdditionsToVm,
} from '../../../src/providers/azure/instance-model.ts';
import * as requests from '../../../src/providers/azure/requests.ts';
import { armRig, groupPath, subnetPath, vmPath } from '../../unit/simulator/arm/arm-rig.ts';

const subscription = '00000000-0000-0000-0000-000000000001';
const { send } = armRig(`
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
scaleSets:
  - { name: pool, count: 2, image: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/x/images/y/versions/1.0.0, interfaces: [{ name: nic0, subnet: a, addresses: 1, applicationSecurityGroups: [web] }] }
machines:
  - { name: single, interfaces: [{ name: nic0, subnet: a, applicationSecurityGroups: [web] }] }
`);

interface Captured {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** Answers with what is given, and keeps the requests. */
function capturing(answer: JsonObject): { readonly httpClient: HttpClient; readonly captured: Captured[] } {
  const captured: Captured[] = [];
  const httpClient: HttpClient = {
    sendRequest: (request) => {
      const { method, url, headers, body } = request;
      captured.push({
        method,
        url: new URL(url),
        headers: headers.toJSON(),
        body: typeof body === 'string' ? (JSON.parse(body) as Json) : null,
      });
      const content = JSON.stringify(answer);
      const answered = createHttpHeaders({ 'content-type': 'application/json' });
      return Promise.resolve({ request, status: 200, headers: answered, bodyAsText: content });
    },
  };
  return { httpClient, captured };
}

const credential = {
  getToken: () => Promise.resolve({ token: 't', expiresOnTimestamp: Date.now() + 3_600_000 }),
};

function clientsFor(answer: JsonObject) {
  const { httpClient, captured } = capturing(answer);
  return {
    compute: new ComputeManagementClient(credential, subscription, { httpClient }),
    network: new NetworkManagementClient(credential, subscription, { httpClient }),
    captured,
  };
}

function refOf<K extends 'scaleSetVm' | 'vm'>(kind: K, path: string) {
  const ref = parseInstanceId(groupPath + path);
  if (ref?.kind !== kind) throw new Error(`${path} is no ${kind}`);
  return ref as Extract<NonNullable<ReturnType<typeof parseInstanceId>>, { kind: K }>;
}

const vm = refOf('scaleSetVm', vmPath);
const single = refOf('vm', '/providers/Microsoft.Compute/virtualMachines/single');
const subnetId = groupPath + subnetPath;
const interfacePath = `${groupPath}/providers/Microsoft.Network/networkInterfaces/single-nic0`;
const interfaceId = parseInterfaceId(interfacePath);
const subnetRef = parseSubnetId(subnetId);
if (interfaceId === undefined || subnetRef === undefined) throw new Error('an id cannot be parsed');

type Clients = ReturnType<typeof clientsFor>;

async function first<T>(items: AsyncIterable<T>): Promise<void> {
  for await (const item of items) {
    void item;
    return;
  }
}

const reads: readonly (readonly [string, ArmRequest, (clients: Clients) => Promise<unknown>])[] = [
  [
    'VM of a scale set',
    requests.scaleSetVm(vm),
    ({ compute }) => compute.virtualMachineScaleSetVMs.get('nodes', 'pool', '0'),
  ],
  [
    'a scale set',
    requests.scaleSet(vm),
    ({ compute }) => compute.virtualMachineScaleSets.get('nodes', 'pool'),
  ],
  ['a VM', requests.standaloneVm(single), ({ compute }) => compute.virtualMachines.get('nodes', 'single')],
  [
    'the interfaces of a scale set',
    requests.scaleSetInterfaces(vm),
    ({ network }) =>
      first(network.networkInterfaces.listVirtualMachineScaleSetNetworkInterfaces('nodes', 'pool')),
  ],
  [
    'the interfaces of a VM of a scale set',
    requests.scaleSetVmInterfaces(vm),
    ({ network }) =>
      first(network.networkInterfaces.listVirtualMachineScaleSetVMNetworkInterfaces('nodes', 'pool', '0')),
  ],
  [
    'the interfaces of a group',
    requests.interfacesInGroup(vm),
    ({ network }) => first(network.networkInterfaces.list('nodes')),
  ],
  [
    'interface',
    requests.oneInterface(interfaceId),
    ({ network }) => network.networkInterfaces.get('nodes', 'single-nic0'),
  ],
  ['a subnet', requests.subnet(subnetRef), ({ network }) => network.subnets.get('nodes', 'main', 'a')],
];

function sameUrl({ url }: ArmRequest): string {
  return new URL(url, 'https://management.azure.com').href.toLowerCase();
}

describe('a request of ours', () => {
  test.each(reads)('for %s is that of the typed operation', async (_, request, call) => {
    const clients = clientsFor({ value: [], id: '/x' });

    await call(clients);

    const [typed] = clients.captured;
    expect(typed?.method).toBe(request.method);
    expect(typed?.url.href.toLowerCase()).toBe(sameUrl(request));
  });

  test('that updates a VM of a scale set says what the typed operation says', async () => {
    const model = withReadOnlyMembers((await send('GET', vmPath)).body);
    const additions = [{ name: 'nic0', count: 2 }];
    const names = namesFor(additions, 'aaaaaaaa-1');
    const etag = '"7"';
    const body = edited(withAdditionsToVm(model, additions, names));
    const ours = requests.replacing(requests.scaleSetVm(vm), 'VirtualMachineScaleSetVMs.Update', {
      body,
      etag,
    });
    const { compute, captured } = clientsFor(model);

    const typedModel = await compute.virtualMachineScaleSetVMs.get('nodes', 'pool', '0');
    const [configured] = present(typedModel.networkProfileConfiguration?.networkInterfaceConfigurations);
    const configurations = present(configured?.ipConfigurations);
    const { applicationSecurityGroups } = present(configurations[0]);
    for (const name of present(names.get('nic0')))
      configurations.push({
        name,
        subnet: { id: subnetId },
        privateIPAddressVersion: 'IPv4',
        ...(applicationSecurityGroups && { applicationSecurityGroups }),
      });
    delete present(typedModel.storageProfile).imageReference;
    await compute.virtualMachineScaleSetVMs.update('nodes', 'pool', '0', typedModel, { ifMatch: etag });

    const typed = putIn(captured);
    expect(sameUrl(ours)).toBe(typed.url.href.toLowerCase());
    expect(typed.headers['if-match']).toBe(ours.ifMatch);
    expect(missingIn(ours.body, typed.body)).toEqual([]);
    expect(missingIn(typed.body, present(ours.body))).toEqual([]);
    expect(addedOver(model, body)).toEqual([
      'properties.networkProfileConfiguration.networkInterfaceConfigurations.0.properties.ipConfigurations.2',
      'properties.networkProfileConfiguration.networkInterfaceConfigurations.0.properties.ipConfigurations.3',
    ]);
  });

  test('that updates an interface says what the typed operation says', async () => {
    const { body: model } = await send('GET', interfacePath);
    const addition = { name: 'single-nic0', count: 1 };
    const names = present(namesFor([addition], 'aaaaaaaa-1').get('single-nic0'));
    const body = edited(withAdditionsToInterface(model, addition, names));
    const read = requests.oneInterface(interfaceId);
    const ours = requests.replacing(read, 'Interfaces.CreateOrUpdate', { body, etag: undefined });
    const { network, captured } = clientsFor(model);

    const typedModel = await network.networkInterfaces.get('nodes', 'single-nic0');
    const configurations = present(typedModel.ipConfigurations);
    configurations.push({
      name: present(names[0]),
      subnet: { id: subnetId },
      privateIPAllocationMethod: 'Dynamic',
      privateIPAddressVersion: 'IPv4',
      applicationSecurityGroups: present(configurations[0]?.applicationSecurityGroups),
    });
    await network.networkInterfaces.createOrUpdate('nodes', 'single-nic0', typedModel);

    const typed = putIn(captured);
    expect(sameUrl(ours)).toBe(typed.url.href.toLowerCase());
    expect(missingIn(ours.body, typed.body)).toEqual([]);
    expect(missingIn(typed.body, present(ours.body))).toEqual([]);
    expect(addedOver(model, body)).toEqual(['properties.ipConfigurations.1']);
  });
});

const identity = {
  type: 'UserAssigned',
  principalId: 'p',
  tenantId: 't',
  userAssignedIdentities: { '/subscriptions/s/identities/kubelet': { principalId: 'p', clientId: 'c' } },
};

/** What Azure may show of a VM besides what its model does. */
function withReadOnlyMembers(model: JsonObject): JsonObject {
  const { properties } = model;
  return {
    ...model,
    identity,
    zones: ['1'],
    resources: [{ id: '/extension' }],
    systemData: { createdBy: 'somebody' },
    properties: {
      ...(isObject(properties) ? properties : {}),
      modelDefinitionApplied: 'VirtualMachineScaleSet',
      timeCreated: '2026-01-01T00:00:00Z',
      virtualMachineResourceId: '/subscriptions/s/virtualMachines/m',
      osProfile: {
        windowsConfiguration: { enableVMAgentPlatformUpdates: true, enableAutomaticUpdates: true },
        linuxConfiguration: { enableVMAgentPlatformUpdates: true },
      },
    },
  };
}

test('keeps what is written that the typed operation does not know', () => {
  const unknown = {
    laterField: 1,
    properties: { laterProfile: { id: 'x' }, provisioningState: 'Succeeded' },
  };
  const read = requests.scaleSetVm(vm);

  const { body } = requests.replacing(read, 'VirtualMachineScaleSetVMs.Update', {
    body: unknown,
    etag: undefined,
  });

  expect(body).toEqual({ laterField: 1, properties: { laterProfile: { id: 'x' } } });
});

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('something is missing');
  return value;
}

function edited(edit: Edit): JsonObject {
  if (edit.kind === 'refused') throw new Error(edit.problem);
  return edit.model;
}

function putIn(captured: readonly Captured[]): Captured {
  return present(captured.find(({ method }) => method === 'PUT'));
}

/** Paths of what `wanted` says and `given` does not. */
function missingIn(given: Json | undefined, wanted: Json, path = ''): readonly string[] {
  if (Array.isArray(wanted)) {
    const list = Array.isArray(given) ? (given as readonly Json[]) : [];
    return (wanted as readonly Json[]).flatMap((item, index) =>
      missingIn(list[index], item, `${path}.${index}`),
    );
  }
  if (isObject(wanted))
    return Object.entries(wanted).flatMap(([name, item]) =>
      missingIn(isObject(given) ? given[name] : undefined, item ?? null, `${path}.${name}`),
    );
  return given === wanted ? [] : [path];
}

/** Paths of what `after` says more than `before`, not looking into what is new. */
function addedOver(before: Json | undefined, after: Json, path = ''): readonly string[] {
  if (before === undefined) return [path.slice(1)];
  if (Array.isArray(after))
    return (after as readonly Json[]).flatMap((item, index) =>
      addedOver((before as readonly Json[])[index], item, `${path}.${index}`),
    );
  if (!isObject(after)) return before === after ? [] : [path.slice(1)];
  return Object.entries(after).flatMap(([name, item]) =>
    addedOver((before as JsonObject)[name], item ?? null, `${path}.${name}`),
  );
}
