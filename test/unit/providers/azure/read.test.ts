import { describe, expect, test } from '@jest/globals';
import { text } from '../../../../src/providers/azure/arm-api.ts';
import { type Json, type JsonObject, valueAt } from '../../../../src/runtime/json.ts';
import { answerInstead, azureRig, type AzureRig, group, vmId } from './azure-rig.ts';

const get = 'VirtualMachineScaleSetVMs.Get';
const listOfVm = 'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces';
const listOfSet = 'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces';
const error = (status: number, code: string) =>
  ({ kind: 'error', status, code, message: `so says ${code}` }) as const;

const topology = `
cloud: azure
subscriptions:
  - { id: 00000000-0000-0000-0000-000000000001, groups: [nodes, others] }
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24, listed: true }, { name: b, block: 10.0.1.0/24 }] }]
scaleSets:
  - { name: pool, count: 30, interfaces: [{ name: nic0, subnet: a, addresses: 2 }] }
  - { name: wide, count: 2, interfaces: [{ name: nic0, subnet: a }, { name: nic1, subnet: b, addresses: 1 }] }
machines:
  - { name: single, interfaces: [{ name: nic0, subnet: a, addresses: 1 }] }
  - { name: far, group: others, interfaces: [{ name: nic0, subnet: b }] }
`;
const singleId = `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase();
const farId = singleId.replace('resourcegroups/nodes', 'resourcegroups/others').replace('single', 'far');
const pool = Array.from({ length: 30 }, (_, number) => vmId(number));
const wide = [vmId(0, 'wide'), vmId(1, 'wide')];

const all = (instanceIds: readonly string[]) => ({ kind: 'all', networkIds: [], instanceIds }) as const;
const some = (instanceIds: readonly string[]) => ({ kind: 'instances', instanceIds }) as const;

function holders(rig: Awaited<ReturnType<AzureRig['observe']>>): ReadonlySet<string> {
  return new Set(rig.interfaces.flatMap(({ attachment }) => attachment?.instanceId ?? []));
}

describe('a read of all instances that nodes name', () => {
  test('lists each scale set and each resource group once, and each subnet once', async () => {
    const rig = azureRig({ topology });

    const observed = await rig.observe(all([...pool, ...wide, singleId, farId]));

    expect(holders(observed)).toEqual(new Set([...pool, ...wide, singleId, farId]));
    expect(rig.counts()).toEqual({ [listOfSet]: 2, 'Interfaces.List': 2, 'Subnets.Get': 2 });
    const networks = observed.pages.flatMap(({ network }) => [...(network?.subnets.values() ?? [])]);
    expect(networks.map(({ cidr }) => cidr).sort()).toEqual(['10.0.0.0/24', '10.0.1.0/24']);
  });

  test('asks once for a subnet that it may not read', async () => {
    const rig = azureRig({ topology });
    rig.fault('Subnets.Get', error(403, 'AuthorizationFailed'));

    const observed = await rig.observe(all([...pool, ...wide, singleId, farId]));

    expect(holders(observed).size).toBe(34);
    expect(rig.counts()['Subnets.Get']).toBe(2);
  });

  test('asks again for a subnet that was missing beside one that it may not read', async () => {
    const rig = azureRig({ topology });
    rig.fault('Subnets.Get', error(403, 'AuthorizationFailed'), 1);
    rig.fault('Subnets.Get', error(404, 'ResourceNotFound'), 1);

    const { pages } = await rig.observe(all([...wide, farId]));

    const networks = pages.flatMap(({ network }) => [...(network?.subnets.values() ?? [])]);
    expect(networks.map(({ cidr }) => cidr)).toEqual(['10.0.1.0/24']);
    expect(rig.counts()['Subnets.Get']).toBe(3);
  });

  test('reads four lists at a time', async () => {
    const sets = ['b', 'c', 'd', 'e'].map(
      (name) => `  - { name: ${name}, count: 1, interfaces: [{ name: nic0, subnet: a }] }`,
    );
    const rig = azureRig({ topology: topology.replace('machines:', `${sets.join('\n')}\nmachines:`) });
    const begun: number[] = [];
    rig.gateway.onCall = ({ name }) => {
      if (name.includes('List')) begun.push(rig.sent.length);
    };

    const named = [vmId(0), ...wide, ...['b', 'c', 'd', 'e'].map((set) => vmId(0, set))];
    const observed = await rig.observe(all(named));

    expect(holders(observed)).toEqual(new Set(named));
    expect(begun).toHaveLength(6);
    expect(begun.filter((answered) => answered === 0)).toHaveLength(4);
  });

  test('shows no instance that no node names', async () => {
    const rig = azureRig({ topology });

    expect(holders(await rig.observe(all([vmId(3)])))).toEqual(new Set([vmId(3)]));
  });

  test('counts the reserved and the used addresses of a subnet', async () => {
    const rig = azureRig({ topology });

    const { pages } = await rig.observe(all(wide));

    const [a] = pages
      .flatMap(({ network }) => [...(network?.subnets.values() ?? [])])
      .filter(({ id }) => id.endsWith('/a'));
    // 30 VMs with 3 addresses, 2 with 1, and the single one with 2.
    expect(a?.freeAddresses).toBe(256 - 5 - 90 - 2 - 2);
  });

  test.each([
    ["'fd00::/64'", 0],
    ["'10.0.9.0/25', 'fd00::/64'", 128 - 5],
    ["'10.0.9.0/25', '10.0.9.128/25'", 2 * (128 - 5)],
    ["'10.0.9.0/30'", 0],
  ])('counts what all prefixes of a subnet have, with %s, too', async (others, more) => {
    const [plain, several] = await Promise.all(
      ['', `, otherPrefixes: [${others}]`].map(async (change) => {
        const rig = azureRig({
          topology: topology.replace('block: 10.0.0.0/24', (block) => block + change),
        });
        const { pages } = await rig.observe(all(wide));
        const subnets = pages.flatMap(({ network }) => [...(network?.subnets.values() ?? [])]);
        return subnets.find(({ id }) => id.endsWith('/a'))?.freeAddresses ?? 0;
      }),
    );

    expect(several).toBe((plain ?? 0) + more);
  });

  test('puts the primary interface first, and the others in order', async () => {
    const rig = azureRig({ topology });

    const { interfaces } = await rig.observe(all(wide));

    expect(interfaces.map(({ name, attachment }) => `${name} ${attachment?.deviceIndex}`).sort()).toEqual([
      'nic0 0',
      'nic0 0',
      'nic1 1',
      'nic1 1',
    ]);
  });

  test('goes on if one scale set cannot be read, and says nothing of its instances', async () => {
    const rig = azureRig({ topology });
    const gone = vmId(0, 'gone');

    const observed = await rig.observe(all([gone, vmId(1), singleId]));

    expect(observed.failed).toEqual({ [gone]: expect.any(String) });
    expect(holders(observed)).toEqual(new Set([vmId(1), singleId]));
    expect(observed.instances).toEqual([]);
  });

  test('shows nothing of a scale set without a VM', async () => {
    const rig = azureRig({ topology: topology.replace('wide, count: 2', 'wide, count: 0') });

    const observed = await rig.observe(all([...wide, vmId(1)]));

    expect(observed.failed).toEqual({});
    expect(observed.instances).toEqual([]);
    expect(holders(observed)).toEqual(new Set([vmId(1)]));
  });

  test('says nothing of any instance of a scale set whose second page is missing', async () => {
    const rig = azureRig({ topology, behaviour: `pageSize: 10\nlatency: { scale: 0 }` });
    let pages = 0;
    rig.gateway.onCall = ({ name }) => {
      if (name.endsWith('ListVirtualMachineScaleSetNetworkInterfaces') && ++pages === 2)
        rig.fault(listOfSet, error(500, 'InternalServerError'), 1);
    };

    const observed = await rig.observe(all([...pool, singleId]));

    expect(pages).toBe(2);
    expect(holders(observed)).toEqual(new Set([singleId]));
    expect(Object.keys(observed.failed)).toHaveLength(30);
  });

  test.each([
    ['subscription', 'SubscriptionNotFound', (id: string) => id.replace('000000000001', '000000000009')],
    ['resource group', 'ResourceGroupNotFound', (id: string) => id.replace('/nodes/', '/nowhere/')],
  ])('fails for instances of a %s that is not there', async (_, code, change) => {
    const rig = azureRig({ topology });
    const id = change(vmId(0));

    const observed = await rig.observe(all([id, vmId(1)]));

    expect(observed.failed).toEqual({ [id]: code });
    expect(holders(observed)).toEqual(new Set([vmId(1)]));
  });

  test('fails if not one of them can be read', async () => {
    const rig = azureRig({ topology });
    rig.fault(listOfSet, error(403, 'AuthorizationFailed'));

    await expect(rig.observe(all([vmId(0), ...wide]))).rejects.toThrow('AuthorizationFailed');
  });

  test('asks nothing about what is no instance, or is out of scope', async () => {
    const rig = azureRig({ topology, isInScope: ({ resourceGroup }) => resourceGroup === 'nodes' });

    const observed = await rig.observe(all(['i-0123456789abcdef0', 'x/../y', farId]));

    expect(rig.sent).toEqual([]);
    expect(observed.instances).toEqual([{ id: farId, state: 'unknown', managed: false }]);
  });
});

describe('a read of single instances', () => {
  test('takes one request for an instance of a scale set', async () => {
    const rig = azureRig({ topology });
    await rig.observe(some([vmId(2)]));

    await rig.observe(some([vmId(2)]));

    expect(rig.counts()).toEqual({ [listOfVm]: 2, 'Subnets.Get': 1 });
  });

  test('lists the scale set for many of its instances', async () => {
    const rig = azureRig({ topology });

    const observed = await rig.observe(some(pool.slice(0, 20)));

    expect(holders(observed).size).toBe(20);
    expect(rig.counts()).toEqual({ [listOfSet]: 1, 'Subnets.Get': 1 });
  });

  test.each([
    ['of a scale set', vmId(99)],
    ['of its own', singleId.replace('single', 'gone')],
  ])('knows that an instance %s is gone from its absence while its owner answers', async (_, id) => {
    const rig = azureRig({ topology });

    const observed = await rig.observe(some([id]));

    expect(observed.instances).toEqual([{ id, state: 'terminated', managed: true }]);
    expect(observed.failed).toEqual({});
  });

  test.each([
    ['scale set', 'VirtualMachineScaleSets.Get', 1, (number: number) => vmId(100 + number)],
    // The list of the group was read for them before.
    ['group', 'Interfaces.List', 2, (number: number) => singleId.replace('single', `gone-${number}`)],
  ])('asks their %s once about all that are gone', async (_, call, times, idOf) => {
    const rig = azureRig({ topology });
    const gone = Array.from({ length: 40 }, (__, number) => idOf(number));

    const { instances } = await rig.observe(some(gone));

    expect(instances).toEqual(gone.map((id) => ({ id, state: 'terminated', managed: true })));
    expect(rig.counts()[call]).toBe(times);
  });

  test('asks about instances that a list lacks', async () => {
    const rig = azureRig({ topology });

    const observed = await rig.observe(some([...pool.slice(0, 15), vmId(99)]));

    expect(holders(observed).size).toBe(15);
    expect(observed.instances).toEqual([{ id: vmId(99), state: 'terminated', managed: true }]);
  });

  test('knows that all are gone of a scale set without a VM', async () => {
    const rig = azureRig({ topology: topology.replace('wide, count: 2', 'wide, count: 0') });
    const ids = Array.from({ length: 12 }, (_, number) => vmId(number, 'wide'));

    const observed = await rig.observe(some(ids));

    expect(observed.instances).toEqual(ids.map((id) => ({ id, state: 'terminated', managed: true })));
    expect(observed.failed).toEqual({});
  });

  const missing = error(404, 'NotFound');
  test.each([
    ['is denied', [[listOfVm, error(403, 'AuthorizationFailed')]]],
    [
      'is denied to show the VM itself',
      [
        [listOfVm, missing],
        [get, error(403, 'AuthorizationFailed')],
      ],
    ],
    [
      'lacks its owner',
      [
        [listOfVm, missing],
        [get, missing],
        ['VirtualMachineScaleSets.Get', error(404, 'ResourceNotFound')],
      ],
    ],
    [
      'is denied to show its owner',
      [
        [listOfVm, missing],
        [get, missing],
        ['VirtualMachineScaleSets.Get', error(403, 'AuthorizationFailed')],
      ],
    ],
    ['fails', [[listOfVm, error(500, 'InternalServerError')]]],
  ] as const)('says nothing of an instance if the answer %s', async (_, faults) => {
    const rig = azureRig({ topology });
    for (const [operation, fault] of faults) rig.fault(operation, fault);

    const observed = await rig.observe(some([vmId(0)]));

    expect(observed.instances).toEqual([]);
    expect(Object.keys(observed.failed)).toEqual([vmId(0)]);
  });

  test.each<[string, Json]>([
    ['is about another interface', { id: `${group}/providers/Microsoft.Network/networkInterfaces/other` }],
    ['is an error beside status 200', { error: { code: 'InternalServerError', message: 'later' } }],
    ['is empty', null],
    ['is a list', []],
  ])('says nothing of a VM if the answer about its interface %s', async (_, body) => {
    const rig = azureRig({ topology });
    answerInstead(rig, 'Interfaces.Get', () => body);

    const observed = await rig.observe(some([singleId]));

    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({ [singleId]: 'UnreadableAnswer' });
  });

  const spoilt = { error: { code: 'InternalServerError', message: 'later' } };
  test.each([
    ['of a scale set', 'its scale set', vmId(99), 'VirtualMachineScaleSets.Get'],
    ['of its own', 'its group', singleId.replace('single', 'gone'), 'Interfaces.List'],
  ])('does not take an instance %s for gone if the answer about %s is an error', async (_, __, id, owner) => {
    const rig = azureRig({ topology });
    answerInstead(rig, owner, () => spoilt);

    const observed = await rig.observe(some([id]));

    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({ [id]: 'UnreadableAnswer' });
  });

  const withoutPrimary = (body: Json, instance: string): Json => {
    const isShown = (item: Json): boolean =>
      valueAt(item, 'properties', 'primary') !== true ||
      text(item, 'id')?.toLowerCase().startsWith(`${instance}/`) !== true;
    return { ...(body as JsonObject), value: (valueAt(body, 'value') as Json[]).filter(isShown) };
  };

  test('says nothing of a VM whose own list lacks its primary interface', async () => {
    const rig = azureRig({ topology });
    const id = vmId(0, 'wide');
    answerInstead(rig, listOfVm, (body) => withoutPrimary(body, id));

    const observed = await rig.observe(some([id]));

    expect(observed.interfaces).toEqual([]);
    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({ [id]: 'UnreadableAnswer' });
  });

  test.each([
    ['asks about a VM without a primary interface in a list of its scale set', some, 1, ['nic0', 'nic1']],
    ['shows the others of such a VM, when it reads all instances', all, undefined, ['nic1']],
  ])('%s', async (_, scope, reads, expected) => {
    const rig = azureRig({ topology: topology.replace('wide, count: 2', 'wide, count: 12') });
    const ids = Array.from({ length: 12 }, (__, number) => vmId(number, 'wide'));
    const id = vmId(3, 'wide');
    answerInstead(rig, listOfSet, (body) => withoutPrimary(body, id));

    const observed = await rig.observe(scope(ids));

    const own = observed.interfaces.filter(({ attachment }) => attachment?.instanceId === id);
    expect(own.map(({ name }) => name)).toEqual(expected);
    expect(rig.counts()[listOfVm]).toBe(reads);
    expect(holders(observed)).toEqual(new Set(ids));
    expect(observed.failed).toEqual({});
  });

  test('does not take an error for a VM without interfaces', async () => {
    const rig = azureRig({ topology });
    answerInstead(rig, listOfVm, () => ({ value: [] }));
    answerInstead(rig, get, () => spoilt);

    const observed = await rig.observe(some([vmId(0)]));

    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({ [vmId(0)]: 'UnreadableAnswer' });
  });

  test('cannot read an interface that a VM names and that names no VM', async () => {
    const rig = azureRig({ topology });
    answerInstead(rig, 'Interfaces.Get', (body) => {
      const properties = { ...(valueAt(body, 'properties') as JsonObject), virtualMachine: null };
      return { ...(body as JsonObject), properties };
    });

    const observed = await rig.observe(some([singleId]));

    const unusable = { kind: 'unreadableInterface', interface: { instanceId: singleId } };
    expect(observed.unusable).toMatchObject([unusable]);
    expect(observed.instances).toEqual([]);
  });

  test('cannot read an interface that a VM names and that Azure does not find, and shows the others', async () => {
    const rig = azureRig({
      topology: `${topology}\n`.replace(
        'name: single, interfaces: [',
        'name: single, interfaces: [{ name: nic1, subnet: b }, ',
      ),
    });
    const lost = `${group}/providers/Microsoft.Network/networkInterfaces/single-nic0`;
    rig.cloud.interfaces.delete(lost.toLowerCase());
    answerInstead(rig, 'VirtualMachines.Get', (body) => {
      const properties = valueAt(body, 'properties') as JsonObject;
      const profile = valueAt(properties, 'networkProfile') as JsonObject;
      const links = [...(profile['networkInterfaces'] as Json[]), { id: lost }];
      const networkProfile = { ...profile, networkInterfaces: links };
      return { ...(body as JsonObject), properties: { ...properties, networkProfile } };
    });

    const observed = await rig.observe(some([singleId]));

    expect(observed.interfaces.map(({ name }) => name)).toEqual(['single-nic1']);
    expect(observed.unusable).toMatchObject([
      {
        interface: { id: lost, instanceId: singleId, problem: 'its VM names it, and Azure does not find it' },
      },
    ]);
    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({});
  });

  test.each([
    ['that come again', (page: number) => String(page % 3), 'the same page came twice'],
    ['that never end', String, 'it has more than 2000 pages'],
  ])('ends at pages %s, says nothing, and names the reason', async (_, tokenOf, reason) => {
    const rig = azureRig({ topology, behaviour: 'limits: { throttle: false }\nlatency: { scale: 0 }' });
    let pages = 0;
    answerInstead(rig, listOfVm, () => ({
      value: [],
      nextLink: `https://management.azure.com${vmId(0)}/networkInterfaces?api-version=2018-10-01&next=${tokenOf(pages++)}`,
    }));

    const observed = await rig.observe(some([vmId(0)]));

    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({ [vmId(0)]: 'EndlessPages' });
    expect(observed.pages[0]?.failed?.[0]?.error.failure).toMatchObject({
      action: listOfVm,
      message: reason,
    });
    expect(pages).toBeLessThanOrEqual(2000);
  });

  test('keeps the spelling of every id, whatever case answers have', async () => {
    const rig = azureRig({ topology, behaviour: 'respelled: 0.5\nlatency: { scale: 0 }' });
    const reads = [await rig.observe(all(wide)), await rig.observe(some(wide)), await rig.observe(all(wide))];

    const ids = reads.map(({ interfaces }) =>
      interfaces.map(({ id, subnetId, networkId }) => `${id} ${subnetId} ${networkId}`).sort(),
    );
    expect(new Set(ids.map((each) => each.join('\n'))).size).toBe(1);
  });

  test('marks an interface that is changing', async () => {
    const rig = azureRig({ topology });
    const [before] = (await rig.observe(some([vmId(0)]))).interfaces;
    const add = { interfaceId: before?.id ?? '', count: 2 };
    const outcome = rig.begin({ instanceId: vmId(0), operationId: 'aaaaaaaa', ...add });
    await rig.time.advance(2000);

    const [during] = (await rig.observe(some([vmId(0)]))).interfaces;
    await rig.ended(outcome);
    const [after] = (await rig.observe(some([vmId(0)]))).interfaces;

    expect([before?.condition, during?.condition, after?.condition]).toEqual([
      undefined,
      'changing',
      undefined,
    ]);
    expect(after?.addresses).toHaveLength(4);
  });
});
