import { describe, expect, test } from '@jest/globals';
import { callOf } from '../../../../src/providers/azure/arm-client.ts';
import { azureAllocation } from '../../../../src/providers/azure/azure-allocation.ts';
import { admittedFor } from '../../../../src/providers/azure/model-change.ts';
import type { AllocationImplementation } from '../../../../src/providers/contract/cloud.ts';
import { allOf, azureRig, type AzureRig, context, group, observedIn, vmId } from './azure-rig.ts';

const single = `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase();

const withPrefix = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
publicIpPrefixes: [{ name: egress, block: 203.0.113.8/31, tags: { pool: egress } }]
scaleSets: [{ name: pool, count: 2, interfaces: [{ name: nic0, subnet: a }] }]
`;

interface Waits {
  readonly rig: AzureRig;
  readonly provider: AllocationImplementation;
  /** How long the next update of an instance would wait, in ms. */
  readonly wait: (instanceId: string) => number;
  /** Waits for one update of an instance, and sends it. */
  readonly spend: (instanceId: string) => Promise<void>;
}

function waits(topology?: string): Waits {
  const rig = azureRig(topology === undefined ? {} : { topology });
  const { api, gate, time: clock } = rig;
  const provider = azureAllocation({
    api,
    gate,
    clock,
    consistencyWindow: 20_000,
    place: undefined,
    isInScope: () => true,
  });
  return {
    rig,
    provider,
    wait: (instanceId) => provider.expectedWait(['allocateIPs'], 'high', instanceId),
    spend: async (instanceId) => {
      await provider.admit(['allocateIPs'], { ...context, instanceId });
      const update = admittedFor(instanceId);
      if (update !== undefined) rig.rateLimiter.sent(callOf(update));
    },
  };
}

describe('an operation on Azure', () => {
  test('is admitted only by the limits of its instance, so the caller names it', async () => {
    const { provider } = waits();

    await expect(provider.admit(['allocateIPs'], context)).rejects.toThrow('allocateIPs names no instance');
  });
});

describe('what is known of the public address of an instance', () => {
  test('is read once, and forgotten with the instance', async () => {
    const { rig, provider } = waits(withPrefix);
    const read = (instanceIds: readonly string[]) =>
      rig.ended(allOf(provider.observe({ kind: 'all', networkIds: [], instanceIds }, context)));
    const { interfaces } = observedIn(await read([vmId(0)]));
    const { addresses } = await rig.ended(provider.readPublicAddresses({ pool: 'egress' }, context));
    const within = { ...context, instanceId: vmId(0) };
    await provider.admit(['associateStaticIP'], within);
    const named = { interfaceId: interfaces[0]?.id ?? '', addressId: addresses[0]?.id ?? '' };
    const operation = { instanceId: vmId(0), ...named, publicAddress: '' };
    await rig.ended(provider.perform({ kind: 'associateStaticIP', ...operation }, within));
    const lookUp = 'PublicIPAddresses.GetVirtualMachineScaleSetPublicIPAddress';

    await read([vmId(0), vmId(1)]);
    const before = rig.counts()[lookUp];
    await read([vmId(1)]);
    await read([vmId(0), vmId(1)]);

    expect([before, rig.counts()[lookUp]]).toEqual([1, 2]);
  });
});

describe('the expected wait of an update on Azure', () => {
  test('is that of the instance, once its own limit is used up: twelve at once, then four a minute', async () => {
    const { rig, wait, spend } = waits();
    for (let updates = 0; updates < 11; updates++) await spend(vmId(0));
    const before = wait(vmId(0));
    await spend(vmId(0));

    expect(before).toBe(0);
    expect([wait(vmId(0)), wait(vmId(0).toUpperCase())]).toEqual([15_000, 15_000]);
    expect([wait(vmId(1)), wait(vmId(0, 'other')), wait(single)]).toEqual([0, 0, 0]);
    await rig.time.advance(5000);
    expect(wait(vmId(0))).toBeCloseTo(10_000, 6);
  });

  test('is that of the subscription, once all instances have used it up: 200 at once, then ten a second', async () => {
    const { wait, spend } = waits();
    for (let instance = 0; instance < 200; instance++) await spend(vmId(instance));

    expect([wait(vmId(0)), wait(vmId(500)), wait(single)]).toEqual([100, 100, 100]);
    expect(wait(vmId(0).replace('000000000001', '000000000002'))).toBe(0);
  });

  test('counts the updates that wait already', async () => {
    const { wait, spend, rig } = waits();
    for (let updates = 0; updates < 12; updates++) await spend(vmId(0));
    const waiting = spend(vmId(0));

    expect(wait(vmId(0))).toBe(30_000);
    await rig.ended(waiting);
  });

  test('is none for what Azure has no call for, and for what is no instance', async () => {
    const { provider, spend, wait } = waits();
    for (let updates = 0; updates < 12; updates++) await spend(vmId(0));

    expect(provider.expectedWait(['createInterface'], 'high', vmId(0))).toBe(0);
    expect(wait('i-0123456789abcdef0')).toBe(0);
  });
});
