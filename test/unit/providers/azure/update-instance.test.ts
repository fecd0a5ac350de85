import { describe, expect, test } from '@jest/globals';
import { UnreadableAnswer } from '../../../../src/network/bounded-body.ts';
import { callErrorOf } from '../../../../src/providers/azure/call-error.ts';
import type { InstanceUpdate } from '../../../../src/providers/azure/update-instance.ts';
import { answerInstead, azureRig, type AzureRig, group, vmId } from './azure-rig.ts';

const update = 'VirtualMachineScaleSetVMs.Update';
const instanceId = vmId(0);

async function adding(rig: AzureRig, count: number, change: Partial<InstanceUpdate> = {}) {
  const { instanceId: id = instanceId } = change;
  const [item] = (await rig.observe({ kind: 'instances', instanceIds: [id] })).interfaces;
  if (item === undefined) throw new Error('no interface is shown');
  return {
    instanceId: id,
    operationId: 'aaaaaaaa-1111',
    interfaceId: item.id,
    count,
    ...change,
  };
}

async function addressesOf(rig: AzureRig, id = instanceId): Promise<readonly string[]> {
  const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [id] });
  return interfaces.flatMap(({ addresses }) => addresses);
}

function puts(rig: AzureRig) {
  return rig.sent.filter(({ request }) => request.method === 'PUT');
}

describe('an update of a scale-set VM', () => {
  test('resolves with the addresses that the instance has then', async () => {
    const rig = azureRig();
    const operation = await adding(rig, 3);
    const before = await addressesOf(rig);

    const outcome = await rig.ended(rig.begin(operation));

    const added = (await addressesOf(rig)).filter((address) => !before.includes(address));
    const { interfaceId } = operation;
    expect(added).toHaveLength(3);
    expect(outcome).toEqual({
      kind: 'done',
      answer: { kind: 'allocated', interfaceId, instanceId, addresses: added, prefixes: [] },
    });
  });

  test('changes only the configurations of its interface, and names them by the operation', async () => {
    const rig = azureRig();
    const { body: before } = await rig.send('GET', `${group}/${vmId(0).split('/').slice(5).join('/')}`);

    await rig.ended(rig.begin(await adding(rig, 2)));

    const [{ request } = {}] = puts(rig);
    const configured = JSON.stringify(request?.body).match(/Cilium-[a-z0-9-]+/g);
    expect(configured).toEqual(['Cilium-aaaaaaaa-0', 'Cilium-aaaaaaaa-1']);
    expect(request?.ifMatch).toBe(before['etag']);
    expect(JSON.stringify(request?.body)).not.toContain('imageReference');
  });

  test('sends nothing if the answer about the instance is about another one', async () => {
    const rig = azureRig();
    const operation = await adding(rig, 2);
    const { body: other } = await rig.send('GET', `${group}/${vmId(1).split('/').slice(5).join('/')}`);
    answerInstead(rig, 'VirtualMachineScaleSetVMs.Get', () => other);

    const outcome = await rig.ended(rig.begin(operation));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'unreadable' } });
    expect(puts(rig)).toEqual([]);
  });

  test.each([
    ['VirtualMachineScaleSetVMs.Get', instanceId],
    ['Interfaces.Get', `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase()],
  ])('sends nothing that others could not forestall: %s shows no etag', async (operation, id) => {
    const rig = azureRig();
    const asked = await adding(rig, 2, { instanceId: id });
    const send = rig.api.send.bind(rig.api);
    rig.api.send = async (request, sending) => {
      const answer = await send(request, sending);
      return request.operation === operation ? { ...answer, etag: undefined } : answer;
    };

    const outcome = await rig.ended(rig.begin(asked));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'unreadable', action: operation } });
    expect(puts(rig)).toEqual([]);
  });

  test('that is repeated adds nothing twice', async () => {
    const rig = azureRig();
    const operation = await adding(rig, 2);

    const first = await rig.ended(rig.begin(operation));
    const second = await rig.ended(rig.begin(operation));

    expect(second).toEqual(first);
    expect(puts(rig)).toHaveLength(1);
  });

  test('ends by what the VM shows if its role may not read the progress of operations', async () => {
    const rig = azureRig();
    const operation = await adding(rig, 2);
    const message = "The client does not have authorization to perform action 'a/b/read'";
    rig.fault('Operations.Get', { kind: 'error', code: 'AuthorizationFailed', status: 403, message });

    const outcome = await rig.ended(rig.begin(operation));

    expect(outcome).toMatchObject({
      kind: 'done',
      answer: { addresses: [expect.anything(), expect.anything()] },
    });
    expect(rig.counts()['Operations.Get']).toBe(1);
  });

  test.each([
    ['elsewhere', 'https://example.com/operations/1'],
    ['to nothing', 'nonsense'],
  ])('ends by what the VM shows if the answer leads %s for its progress', async (_, progressUrl) => {
    const rig = azureRig();
    const operation = await adding(rig, 2);
    const send = rig.api.send.bind(rig.api);
    rig.api.send = async (request, sending) => {
      const { url } = request;
      if (url === progressUrl) throw callErrorOf(new UnreadableAnswer('it leads to example.com'), false);
      const answer = await send(request, sending);
      return request.method === 'PUT' ? { ...answer, progressUrl } : answer;
    };

    const outcome = await rig.ended(rig.begin(operation));

    expect(outcome).toMatchObject({ kind: 'done' });
    expect(rig.time.monotonic()).toBeLessThan(60_000);
  });

  test('reads the model again if somebody changed it meanwhile', async () => {
    const rig = azureRig();
    rig.fault(update, { kind: 'error', code: 'PreconditionFailed', status: 412, message: 'changed' }, 1);

    const outcome = await rig.ended(rig.begin(await adding(rig, 2)));

    expect(outcome.kind).toBe('done');
    expect(puts(rig)).toHaveLength(2);
    expect(rig.counts()['VirtualMachineScaleSetVMs.Get']).toBe(2);
  });

  test('gives up after three PUTs that somebody else forestalled', async () => {
    const rig = azureRig();
    rig.fault(update, { kind: 'error', code: 'PreconditionFailed', status: 412, message: 'changed' });

    const outcome = await rig.ended(rig.begin(await adding(rig, 2)));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'conflict' } });
    expect(puts(rig)).toHaveLength(3);
  });

  test('sends nothing to an instance that is changing, and gives its tokens back', async () => {
    const rig = azureRig();
    const operation = await adding(rig, 1);
    const first = rig.begin(operation);
    await rig.time.advance(5000);

    const second = await rig.ended(rig.begin({ ...operation, operationId: 'bbbbbbbb-1' }));

    expect(second).toMatchObject({ kind: 'failed', failure: { kind: 'conflict', code: 'ModelIsChanging' } });
    expect(puts(rig)).toHaveLength(1);
    const tokens = rig.rateLimiter
      .levels()
      .find(({ action }) => action.startsWith(`${update}-per-VM`))?.tokens;
    expect(tokens).toBeGreaterThan(11);
    expect((await rig.ended(first)).kind).toBe('done');
  });

  test.each([
    ['a scale-set VM', instanceId],
    ['a VM of its own', `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase()],
  ])('brings %s no more than it may have, with what its model has unread', async (_, id) => {
    const rig = azureRig();
    const operation = await adding(rig, 2, { instanceId: id });
    await rig.ended(rig.begin({ ...operation, max: 2 }));
    const next = { ...operation, operationId: 'bbbbbbbb-1', count: 1 };

    const beyond = await rig.ended(rig.begin({ ...next, max: 2 }));
    const within = await rig.ended(rig.begin({ ...next, max: 3 }));

    expect(beyond).toMatchObject({ kind: 'failed', failure: { kind: 'conflict', code: 'ModelIsChanging' } });
    expect(within.kind).toBe('done');
    expect(puts(rig)).toHaveLength(2);
  });

  test.each([
    ['that was deleted meanwhile', vmId(99), 'instanceGone'],
    ['of a scale set that is not there', vmId(0, 'gone'), 'unknown'],
    ['whose id does not parse', 'nonsense', 'invalid'],
  ])('of an instance %s fails and sends nothing', async (_, id, kind) => {
    const rig = azureRig();
    const operation = await adding(rig, 1);

    const outcome = await rig.ended(rig.begin({ ...operation, instanceId: id }));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
    expect(puts(rig)).toEqual([]);
  });

  test('of a full subnet fails as a whole', async () => {
    const rig = azureRig();
    const before = await addressesOf(rig);

    const outcome = await rig.ended(rig.begin(await adding(rig, 40)));

    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'subnetExhausted' } });
    expect(await addressesOf(rig)).toEqual(before);
  });

  test('that Azure accepted and could not carry out fails with its reason', async () => {
    const rig = azureRig();
    rig.fault(update, { kind: 'failed', code: 'SubnetIsFull', message: 'no address is left' }, 1);

    const outcome = await rig.ended(rig.begin(await adding(rig, 2)));

    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { kind: 'subnetExhausted', action: update, message: 'no address is left' },
    });
  });

  test('that takes longer than 10 minutes is a failure', async () => {
    const rig = azureRig({ behaviour: `${quick}\ntimes: { machineMs: 900000 }` });

    const outcome = await rig.ended(rig.begin(await adding(rig, 2)));

    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { code: 'OperationNotEnded', kind: 'conflict' },
    });
  });

  test('that a shutdown leaves behind may still take effect', async () => {
    const rig = azureRig();
    const stop = new AbortController();
    const outcome = rig.begin(await adding(rig, 2), { signal: stop.signal });
    await rig.time.advance(8000);

    stop.abort();

    expect(await rig.ended(outcome)).toMatchObject({ kind: 'ambiguous' });
  });
});

const quick = `
limits: { throttle: false }
latency: { scale: 0 }
consistency: { listingLagMs: 0 }
`;

describe('a lost answer to an update', () => {
  test.each([
    ['that took effect resolves as if it had come', 'before', 'done'],
    ['that may never take effect leaves the update in doubt', 'after', 'ambiguous'],
    ['that takes effect later leaves the update in doubt', 'late', 'ambiguous'],
  ] as const)('%s', async (_, effect, kind) => {
    const rig = azureRig();
    rig.fault(update, { kind: 'lost', effect, connection: 'drop', delayMs: 30_000 }, 1);

    const outcome = await rig.ended(rig.begin(await adding(rig, 2)));

    expect(outcome.kind).toBe(kind);
    expect(puts(rig)).toHaveLength(1);
  });
});

describe('an update of a VM of its own', () => {
  test('goes through its interface', async () => {
    const rig = azureRig({
      topology: `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
machines: [{ name: single, interfaces: [{ name: nic0, subnet: a }, { name: nic1, subnet: a }] }]
`,
    });
    const id = `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase();
    const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [id] });

    const outcomes = await rig.ended(
      Promise.all(
        interfaces.map(({ id: interfaceId }, index) =>
          rig.begin({ instanceId: id, operationId: `ccccccc${index}`, interfaceId, count: 2 }),
        ),
      ),
    );

    const after = await rig.observe({ kind: 'instances', instanceIds: [id] });
    expect(outcomes).toMatchObject(
      after.interfaces.map(({ id: interfaceId, addresses }) => ({
        kind: 'done',
        answer: { interfaceId, addresses },
      })),
    );
    expect(after.interfaces.map(({ addresses }) => addresses.length)).toEqual([2, 2]);
  });
});

describe('updates of many instances', () => {
  test('are followed by lists of their scale set, at most 2.2 reads an update', async () => {
    const count = 100;
    const rig = azureRig({
      topology: `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/20 }] }]
scaleSets: [{ name: pool, count: ${count}, interfaces: [{ name: nic0, subnet: a }] }]
`,
      behaviour: `${quick}\ntimes: { machineMs: { min: 10000, max: 60000 } }`,
    });
    const ids = Array.from({ length: count }, (_, number) => vmId(number));
    const { interfaces } = await rig.observe({ kind: 'all', networkIds: [], instanceIds: ids });
    const begun = rig.sent.length;

    const outcomes = await rig.ended(
      Promise.all(
        interfaces.map(({ id, attachment }, index) =>
          rig.begin({
            instanceId: attachment?.instanceId ?? '',
            operationId: `${String(index).padStart(8, '0')}-x`,
            interfaceId: id,
            count: 8,
          }),
        ),
      ),
    );

    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['done']));
    const reads = rig.sent.slice(begun).filter(({ request }) => request.method === 'GET').length;
    expect(reads / count).toBeLessThanOrEqual(2.2);
    expect(rig.changes.size).toBe(0);
  });
});
