import { describe, expect, test } from '@jest/globals';
import { textAt, listAt, objectAt } from '../../../../src/simulator/workload/json.ts';
import { ArmHand, oneMore } from '../../../support/arm-hand.ts';
import { callOf } from '../../../../src/providers/azure/arm-client.ts';
import { admittedFor } from '../../../../src/providers/azure/model-change.ts';
import { azureRig, type AzureRig, context, group, vmId } from './azure-rig.ts';

const update = 'VirtualMachineScaleSetVMs.Update';
const vmPath = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/0`;
const single = `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase();
const ownNic = `${group}/providers/Microsoft.Network/networkInterfaces/single-nic0`;

const twoInterfaces = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
scaleSets: [{ name: pool, count: 1, interfaces: [{ name: nic0, subnet: a }, { name: nic1, subnet: a }] }]
`;

/** Each interface of the instance with so many addresses of ours. */
async function grown(rig: AzureRig, count: number, instanceId = vmId(0)) {
  const before = (await rig.observe({ kind: 'instances', instanceIds: [instanceId] })).interfaces;
  for (const [index, { id: interfaceId }] of before.entries())
    await rig.ended(rig.begin({ instanceId, operationId: `aaaaaaa${index}-1`, interfaceId, count }));
  await rig.time.advance(30_000);
  const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [instanceId] });
  return interfaces.map(({ id: interfaceId, addresses, associated = [] }) => ({
    instanceId,
    interfaceId,
    addresses: addresses.filter((address) => !associated.includes(address)),
  }));
}

async function only(rig: AzureRig, count: number, instanceId?: string) {
  const [first] = await grown(rig, count, instanceId);
  if (first === undefined) throw new Error('no interface is shown');
  return first;
}

async function addressesOf(rig: AzureRig, instanceId = vmId(0)): Promise<readonly string[]> {
  const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [instanceId] });
  return interfaces.flatMap(({ addresses }) => addresses);
}

function puts(rig: AzureRig) {
  return rig.sent.filter(({ request }) => request.method === 'PUT');
}

describe('a release on Azure', () => {
  test.each([
    ['a VM of a scale set', vmId(0), update],
    ['a VM of its own', single, 'Interfaces.CreateOrUpdate'],
  ])('takes exactly its addresses off %s, by one PUT', async (_, instanceId, call) => {
    const rig = azureRig();
    const held = await only(rig, 4, instanceId);
    const all = await addressesOf(rig, instanceId);
    const sentBefore = puts(rig).length;
    const addresses = held.addresses.slice(1, 3);

    const outcome = await rig.ended(rig.release({ ...held, addresses }));
    await rig.time.advance(30_000);

    expect(outcome).toEqual({
      kind: 'done',
      answer: { kind: 'released', instanceId, interfaceId: held.interfaceId, holdings: addresses },
    });
    expect(await addressesOf(rig, instanceId)).toEqual(all.filter((each) => !addresses.includes(each)));
    const sent = puts(rig).slice(sentBefore);
    expect(
      sent.map(({ request }) => [request.operation, request.effect, request.ifMatch !== undefined]),
    ).toEqual([[call, 'takesAway', true]]);
  });

  test('of several interfaces of a VM leaves by one PUT, and pays for one', async () => {
    const rig = azureRig({ topology: twoInterfaces });
    const held = await grown(rig, 3);
    const sentBefore = puts(rig).length;

    const outcomes = await rig.ended(
      Promise.all(held.map((each) => rig.release({ ...each, addresses: each.addresses.slice(0, 2) }))),
    );

    expect(held).toHaveLength(2);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done']);
    expect(puts(rig)).toHaveLength(sentBefore + 1);
    expect(await addressesOf(rig)).toHaveLength(2);
    await rig.time.advance(3_600_000);
    expect(
      rig.rateLimiter.levels().find(({ action }) => action.startsWith(`${update}-per-VM`))?.tokens ?? 12,
    ).toBe(12);
  });

  test('that comes while one is under way is refused as a conflict', async () => {
    const rig = azureRig();
    const held = await only(rig, 4);
    const [one = '', other = ''] = held.addresses;
    const first = rig.release({ ...held, addresses: [one] });
    await rig.time.advance(5000);

    const second = await rig.ended(rig.release({ ...held, addresses: [other] }));

    expect(second).toMatchObject({ kind: 'failed', failure: { kind: 'conflict', code: 'ModelIsChanging' } });
    expect((await rig.ended(first)).kind).toBe('done');
    expect(await addressesOf(rig)).toContain(other);
  });

  test('of what is gone already is done, and sends nothing', async () => {
    const rig = azureRig();
    const held = await only(rig, 2);
    await rig.ended(rig.release(held));
    await rig.time.advance(30_000);
    const sentBefore = puts(rig).length;

    const outcome = await rig.ended(rig.release(held));

    expect(outcome.kind).toBe('done');
    expect(puts(rig)).toHaveLength(sentBefore);
  });

  test('undoes nothing that a hand changed after the model was read', async () => {
    const rig = azureRig();
    const held = await only(rig, 2);
    const hand = new ArmHand(rig.gateway);
    const send = rig.api.send.bind(rig.api);
    let isFirst = true;
    rig.api.send = async (request, sending) => {
      if (request.method === 'PUT' && isFirst) {
        isFirst = false;
        await hand.change(vmPath, oneMore('by-hand'));
      }
      return send(request, sending);
    };

    const outcome = await rig.ended(rig.release({ ...held, addresses: held.addresses.slice(0, 1) }));

    await rig.time.advance(30_000);
    const interfaces = rig.cloud.interfacesOf(rig.cloud.machine(vmId(0)));
    const names = interfaces.flatMap(({ configurations }) => configurations.map(({ name }) => name));
    expect(puts(rig).at(-1)?.result).toBe('PreconditionFailed');
    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'conflict' } });
    expect(names).toEqual(expect.arrayContaining(['by-hand', 'Cilium-aaaaaaa0-0', 'Cilium-aaaaaaa0-1']));
  });

  test.each([
    ['that others made', 'by-hand', {}],
    ['with a load balancer', 'Cilium-balanced', { loadBalancerBackendAddressPools: [{ id: '/p' }] }],
  ])('refuses a configuration %s', async (_, name, more) => {
    const rig = azureRig();
    const held = await only(rig, 1, single);
    const hand = new ArmHand(rig.gateway);
    await hand.change(ownNic, (list) =>
      oneMore(name)(list).map((each) =>
        textAt(each, 'name') === name
          ? { ...objectAt(each), properties: { ...objectAt(each, 'properties'), ...more } }
          : each,
      ),
    );
    await rig.time.advance(30_000);
    const all = await addressesOf(rig, single);
    const foreign = all.filter((address) => !held.addresses.includes(address));
    const sentBefore = puts(rig).length;

    const outcome = await rig.ended(rig.release({ ...held, addresses: foreign }));

    const [shown] = (await rig.observe({ kind: 'instances', instanceIds: [single] })).interfaces;
    expect(foreign).toHaveLength(1);
    expect(shown?.associated).toEqual(foreign);
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { kind: 'invalid', code: 'ConfigurationNotOurs' },
    });
    expect(puts(rig)).toHaveLength(sentBefore);
  });

  test('never takes a primary address', async () => {
    const rig = azureRig();
    const held = await only(rig, 1);
    const [shown] = (await rig.observe({ kind: 'instances', instanceIds: [vmId(0)] })).interfaces;

    const outcome = await rig.ended(rig.release({ ...held, addresses: [shown?.primaryAddress ?? ''] }));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { code: 'ConfigurationNotOurs' } });
  });

  test('that Azure accepted and could not carry out has failed once the interface shows so', async () => {
    const rig = azureRig();
    const held = await only(rig, 2);
    rig.fault(update, { kind: 'failed', code: 'InternalError', message: 'broken' }, 1);

    const outcome = await rig.ended(rig.release(held));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { code: 'InternalError' } });
    expect(await addressesOf(rig)).toEqual(expect.arrayContaining([...held.addresses]));
  });

  test('that is half done is unclear; repeated, it ends what it began', async () => {
    const rig = azureRig();
    const held = await only(rig, 4);
    rig.fault(update, { kind: 'failed', code: 'InternalError', message: 'broken', isHalfDone: true }, 1);

    const first = await rig.ended(rig.release(held));
    const half = await addressesOf(rig);
    const second = await rig.ended(rig.release(held));
    await rig.time.advance(20_000);
    const third = await rig.ended(rig.release(held));

    expect(first.kind).toBe('ambiguous');
    expect(held.addresses.filter((address) => half.includes(address))).toHaveLength(2);
    expect([second.kind, third.kind]).toEqual(['failed', 'done']);
    expect((await addressesOf(rig)).filter((address) => held.addresses.includes(address))).toEqual([]);
  });

  test.each([
    ['after it took effect', 'before', 'done'],
    ['before it takes effect', 'after', 'ambiguous'],
  ] as const)('whose answer is lost %s is judged by the model', async (_, effect, kind) => {
    const rig = azureRig();
    const held = await only(rig, 3);
    rig.fault(update, { kind: 'lost', effect, connection: 'drop', delayMs: 0 }, 1);

    const outcome = await rig.ended(rig.release(held));

    await rig.time.advance(60_000);
    expect(outcome.kind).toBe(kind);
    expect((await rig.ended(rig.release(held))).kind).toBe('done');
    expect((await addressesOf(rig)).filter((address) => held.addresses.includes(address))).toEqual([]);
  });

  test('is not sent if the reads before it took too long', async () => {
    const rig = azureRig();
    const held = await only(rig, 2);
    const sentBefore = puts(rig).length;
    rig.fault('Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces', { kind: 'slow', ms: 18_000 }, 1);

    const outcome = await rig.ended(rig.release(held));

    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { kind: 'throttled', code: 'PreparationTooSlow' },
    });
    expect(puts(rig)).toHaveLength(sentBefore);
  });

  test('that somebody came before is not sent again if its tokens come too late', async () => {
    const rig = azureRig();
    const held = await only(rig, 2);
    const sentBefore = puts(rig).length;
    const request = admittedFor(held.instanceId, 'takesAway');
    const calls = request === undefined ? [] : [callOf(request)];
    // The limit of the VM has a token each 15 s from now on.
    while (rig.rateLimiter.expectedWait(calls, 'high') === 0) {
      await rig.rateLimiter.tokens(calls, context);
      for (const call of calls) rig.rateLimiter.sent(call);
    }
    rig.fault(update, { kind: 'error', code: 'PreconditionFailed', status: 412, message: 'changed' }, 1);
    rig.fault('Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces', { kind: 'slow', ms: 2000 });

    const outcome = await rig.ended(rig.release(held));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { code: 'PreparationTooSlow' } });
    expect(puts(rig)).toHaveLength(sentBefore + 1);
  });

  test.each([
    ['that was deleted meanwhile', vmId(99), 'instanceGone'],
    ['whose id does not parse', 'nonsense', 'invalid'],
  ])('of an instance %s fails and sends nothing', async (_, instanceId, kind) => {
    const rig = azureRig();
    const held = await only(rig, 1);
    const sentBefore = puts(rig).length;

    const outcome = await rig.ended(rig.release({ ...held, instanceId }));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
    expect(puts(rig)).toHaveLength(sentBefore);
  });
});

describe('the model of a VM whose last change failed', () => {
  /** What the failed change asked for and did not get is still in the model. */
  async function failed(rig: AzureRig) {
    const held = await only(rig, 2);
    rig.fault(update, { kind: 'failed', code: 'SubnetIsFull', message: 'full', isHalfDone: true }, 1);
    const add = { interfaceId: held.interfaceId, count: 4 };
    const outcome = await rig.ended(rig.begin({ instanceId: vmId(0), operationId: 'ffffffff-1', ...add }));
    expect(outcome.kind).toBe('ambiguous');
    return { held, add };
  }

  async function names(rig: AzureRig): Promise<readonly string[]> {
    const { body } = await rig.send('GET', vmPath);
    const profile = objectAt(body, 'properties', 'networkProfileConfiguration');
    const [first = {}] = listAt(profile, 'networkInterfaceConfigurations');
    return listAt(first, 'properties', 'ipConfigurations').map((each) => textAt(each, 'name'));
  }

  test('loses what never came to be by the next release, once that is certain', async () => {
    const rig = azureRig();
    const { held } = await failed(rig);

    const early = await rig.ended(rig.release(held));
    await rig.time.advance(20_000);
    const later = await rig.ended(rig.release(held));

    expect(early).toMatchObject({ kind: 'failed', failure: { kind: 'conflict' } });
    expect(later.kind).toBe('done');
    expect((await names(rig)).filter((name) => name.startsWith('Cilium-'))).toEqual([
      'Cilium-ffffffff-0',
      'Cilium-ffffffff-1',
    ]);
  });

  test('is grown by what is asked for, and by nothing that never came to be', async () => {
    const rig = azureRig();
    const { add } = await failed(rig);
    const again = { instanceId: vmId(0), operationId: 'eeeeeeee-1', ...add };

    const began = rig.time.monotonic();
    const outcome = await rig.ended(rig.begin(again));

    expect(outcome.kind).toBe('done');
    expect(rig.time.monotonic() - began).toBeGreaterThanOrEqual(20_000);
    expect((await names(rig)).filter((name) => name.startsWith('Cilium-f'))).toHaveLength(2);
    expect((await names(rig)).filter((name) => name.startsWith('Cilium-e'))).toHaveLength(4);
  });

  test('keeps what a release did not remove, when it is grown', async () => {
    const rig = azureRig();
    const held = await only(rig, 4);
    rig.fault(update, { kind: 'failed', code: 'InternalError', message: 'broken', isHalfDone: true }, 1);
    expect((await rig.ended(rig.release(held))).kind).toBe('ambiguous');
    const before = await addressesOf(rig);

    const growth = {
      instanceId: vmId(0),
      operationId: 'eeeeeeee-1',
      interfaceId: held.interfaceId,
      count: 2,
    };
    const outcome = await rig.ended(rig.begin(growth));

    await rig.time.advance(30_000);
    expect(outcome.kind).toBe('done');
    expect(before.filter((each) => held.addresses.includes(each))).toHaveLength(2);
    expect(await addressesOf(rig)).toEqual(expect.arrayContaining([...before]));
  });
});
