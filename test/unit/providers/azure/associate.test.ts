import { withoutReadOnly } from '../../../../src/providers/azure/read-only-members.ts';
import { describe, expect, test } from '@jest/globals';
import { associate } from '../../../../src/providers/azure/associate.ts';
import { callOf } from '../../../../src/providers/azure/arm-client.ts';
import { FailedModels } from '../../../../src/providers/azure/failed-models.ts';
import { admittedFor } from '../../../../src/providers/azure/model-change.ts';
import { PublicAddresses } from '../../../../src/providers/azure/public-addresses.ts';
import { PublicIpPrefixes } from '../../../../src/providers/azure/public-ip-prefixes.ts';
import type { Outcome } from '../../../../src/providers/contract/operations.ts';
import { lossesOf } from '../../../../src/simulator/arm/losses.ts';
import { azureRig, type AzureRig, context, group, vmId } from './azure-rig.ts';

const update = 'VirtualMachineScaleSetVMs.Update';
const single = `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase();
const vmPath = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/0`;

const topology = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
publicIpPrefixes:
  - { name: other, block: 203.0.113.0/30, tags: { pool: other } }
  - { name: egress, block: 203.0.113.8/31, tags: { pool: egress, more: yes } }
scaleSets: [{ name: pool, count: 3, interfaces: [{ name: nic0, subnet: a }, { name: nic1, subnet: a }] }]
machines: [{ name: single, interfaces: [{ name: nic0, subnet: a }] }]
`;

const tags = { pool: 'egress' };

function rigWith(behaviour?: string) {
  const rig = azureRig({ topology, ...(behaviour !== undefined && { behaviour }) });
  const { client, changes, spellings, time: clock } = rig;
  const publicAddresses = new PublicAddresses(client, clock);
  const prefixes = new PublicIpPrefixes(client, spellings, clock);
  prefixes.note({ kind: 'vm', subscriptionId: group.split('/')[2] ?? '', resourceGroup: 'nodes', name: '' });
  const failedModels = new FailedModels(clock, 20_000);
  const parts = { client, changes, spellings, failedModels };
  const interfaceOf = async (instanceId: string) => {
    const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [instanceId] });
    const primary = interfaces.find(({ attachment }) => attachment?.deviceIndex === 0);
    if (primary === undefined) throw new Error(`${instanceId} shows no interface`);
    return primary;
  };
  const left = async () => (await rig.ended(prefixes.read(tags, context))).addresses;
  const associateWith = async (instanceId: string): Promise<Outcome> => {
    const { id: interfaceId } = await interfaceOf(instanceId);
    const addressId = (await left())[0]?.id ?? '';
    const admitted = admittedFor(instanceId);
    if (admitted !== undefined) await rig.gate.admit([callOf(admitted)], { ...context, instanceId });
    const operation = { instanceId, interfaceId, addressId, publicAddress: '' };
    return rig.ended(associate(parts, publicAddresses, { kind: 'associateStaticIP', ...operation }, context));
  };
  return { ...rig, interfaceOf, left, associateWith };
}

function puts({ sent }: Pick<AzureRig, 'sent'>) {
  return sent.filter(({ request }) => request.method === 'PUT');
}

describe('a public IP prefix', () => {
  test('offers what it has left to those who ask for some of its tags', async () => {
    const rig = rigWith();
    const before = await rig.left();
    await rig.associateWith(vmId(0));
    const between = await rig.left();
    await rig.associateWith(vmId(1));

    expect(before.map(({ id, taken }) => [id.split('/').at(-1), taken])).toEqual([
      ['egress#0', false],
      ['egress#1', false],
    ]);
    expect(between.map(({ id }) => id.split('/').at(-1))).toEqual(['egress#1']);
    expect((await rig.left()).map(({ taken }) => taken)).toEqual([true]);
  });
});

describe('a resource group without a public IP prefix', () => {
  const list = 'PublicIPPrefixes.List';
  const subscriptionId = group.split('/')[2] ?? '';
  const inGroup = (resourceGroup: string) =>
    ({ kind: 'vm', subscriptionId, resourceGroup, name: '' }) as const;

  /** A node names this group, too. */
  function rigBeside(resourceGroup: string) {
    const subscriptions = `subscriptions: [{ id: ${subscriptionId}, groups: [nodes, others] }]`;
    const rig = azureRig({ topology: topology + subscriptions });
    const prefixes = new PublicIpPrefixes(rig.client, rig.spellings, rig.time);
    prefixes.note(inGroup(resourceGroup));
    prefixes.note(inGroup('nodes'));
    const read = async (wanted = tags) => (await rig.ended(prefixes.read(wanted, context))).addresses;
    return { ...rig, read };
  }

  test('that does not exist keeps no other one from being used, and is asked once', async () => {
    const rig = rigBeside('gone');

    expect((await rig.read()).map(({ taken }) => taken)).toEqual([false, false]);
    expect(await rig.read({ pool: 'none' })).toEqual([]);
    expect(rig.counts()[list]).toBe(3);
  });

  test('that Azure does not show keeps no other one from being used, and is no proof that it has none', async () => {
    const rig = rigBeside('others');
    rig.fault(list, { kind: 'error', code: 'AuthorizationFailed', status: 403, message: 'no' }, 1);
    expect((await rig.read()).map(({ taken }) => taken)).toEqual([false, false]);

    rig.fault(list, { kind: 'error', code: 'AuthorizationFailed', status: 403, message: 'no' }, 1);
    await expect(rig.read({ pool: 'none' })).rejects.toMatchObject({
      failure: { code: 'AuthorizationFailed' },
    });
  });
});

describe('an association on Azure', () => {
  test('gives the primary interface an address of the prefix, by one PUT that changes nothing else', async () => {
    const rig = rigWith();
    const before = (await rig.send('GET', vmPath)).body;

    const outcome = await rig.associateWith(vmId(0));

    const { id: interfaceId, publicAddress } = await rig.interfaceOf(vmId(0));
    expect(publicAddress).toBe('203.0.113.8');
    expect(outcome).toEqual({
      kind: 'done',
      answer: { kind: 'staticIPAssociated', interfaceId, instanceId: vmId(0), publicAddress },
    });
    expect(puts(rig).map(({ request }) => [request.operation, request.ifMatch !== undefined])).toEqual([
      [update, true],
    ]);
    const sent = puts(rig)[0]?.request.body ?? {};
    expect(lossesOf(withoutReadOnly(update, before), sent)).toEqual([
      'properties.storageProfile.imageReference',
    ]);
  });

  test('that is repeated sends nothing more', async () => {
    const rig = rigWith();
    await rig.associateWith(vmId(0));

    const again = await rig.associateWith(vmId(0));

    expect(again.kind).toBe('done');
    expect(puts(rig)).toHaveLength(1);
  });

  test.each(['before', 'after'] as const)(
    'whose answer is lost %s it took effect is found, or repeated, once',
    async (effect) => {
      const rig = rigWith();
      rig.fault(update, { kind: 'lost', effect, connection: 'drop', delayMs: 0 }, 1);

      const first = await rig.associateWith(vmId(0));
      const second = await rig.associateWith(vmId(0));

      expect([first.kind, second.kind]).toEqual([effect === 'before' ? 'done' : 'ambiguous', 'done']);
      expect((await rig.left()).map(({ id }) => id.split('/').at(-1))).toEqual(['egress#1']);
    },
  );

  test('of a prefix without an address left fails, and leaves nothing that keeps later changes from succeeding', async () => {
    const rig = rigWith();
    await rig.associateWith(vmId(0));
    await rig.associateWith(vmId(1));

    const full = await rig.associateWith(vmId(2));
    await rig.time.advance(30_000);
    const { id: interfaceId } = await rig.interfaceOf(vmId(2));
    const growth = {
      instanceId: vmId(2),
      operationId: 'aaaaaaaa',
      interfaceId,
      count: 2,
    };
    const later = await rig.ended(rig.begin(growth));

    expect(full).toMatchObject({
      kind: 'failed',
      failure: { kind: 'conflict', code: 'PublicIpPrefixOutOfIpAddressesForVMScaleSet' },
    });
    // Another prefix may do.
    expect(full).not.toMatchObject({ failure: { about: expect.anything() as unknown } });
    expect(later.kind).toBe('done');
    expect((await rig.interfaceOf(vmId(2))).publicAddress).toBeUndefined();
  });

  test('of a VM outside scale sets is refused with the reason, and sends nothing', async () => {
    const rig = rigWith();

    const outcome = await rig.associateWith(single);

    expect(outcome).toMatchObject({ kind: 'failed', failure: { code: 'NotInScaleSet', about: 'instance' } });
    expect(puts(rig)).toHaveLength(0);
  });

  test('that others made stays, and its address is not looked up', async () => {
    const rig = azureRig({
      topology: topology.replaceAll('name: nic0, subnet: a', 'name: nic0, subnet: a, publicAddress: true'),
    });

    const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [vmId(0), vmId(1)] });

    expect(interfaces.map(({ publicAddress }) => publicAddress)).toEqual(['', undefined, '', undefined]);
    expect(Object.keys(rig.counts()).filter((name) => name.startsWith('Public'))).toEqual([]);
  });

  test('is known again by a process that has just started, by one read', async () => {
    const rig = rigWith();
    await rig.associateWith(vmId(0));
    const other = azureRig({ topology });
    Object.assign(other.api, { send: rig.api.send.bind(rig.api) });

    for (let times = 0; times < 3; times++) {
      const { interfaces } = await other.observe({ kind: 'all', networkIds: [], instanceIds: [vmId(0)] });
      expect(interfaces[0]?.publicAddress).toBe('203.0.113.8');
    }

    const reads = rig.sent.filter(({ request }) => request.operation.startsWith('PublicIPAddresses'));
    // One by each process.
    expect(reads).toHaveLength(2);
  });
});
