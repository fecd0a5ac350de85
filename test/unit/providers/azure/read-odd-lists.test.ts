import { describe, expect, test } from '@jest/globals';
import { type Json, type JsonObject, valueAt } from '../../../../src/runtime/json.ts';
import { answerInstead, azureRig, group, vmId } from './azure-rig.ts';

const listOfSet = 'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces';
const topology = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/24 }] }]
scaleSets: [{ name: pool, count: 30, interfaces: [{ name: nic0, subnet: a, addresses: 2 }] }]
machines: [{ name: single, interfaces: [{ name: nic0, subnet: a, addresses: 1 }] }]
`;
const singleId = `${group}/providers/microsoft.compute/virtualmachines/single`.toLowerCase();
const pool = Array.from({ length: 30 }, (_, number) => vmId(number));
const all = (instanceIds: readonly string[]) => ({ kind: 'all', networkIds: [], instanceIds }) as const;
const some = (instanceIds: readonly string[]) => ({ kind: 'instances', instanceIds }) as const;

function holders({ interfaces }: Awaited<ReturnType<ReturnType<typeof azureRig>['observe']>>) {
  return new Set(interfaces.flatMap(({ attachment }) => attachment?.instanceId ?? []));
}

describe('a read of instances', () => {
  test.each([
    ['all', all(pool)],
    ['some', some(pool.slice(0, 15))],
  ])('is told of %s although an interface comes twice in a list', async (_, scope) => {
    const rig = azureRig({ topology });
    answerInstead(rig, listOfSet, (body) => {
      const [first = null, ...others] = valueAt(body, 'value') as readonly Json[];
      return { ...(body as JsonObject), value: [first, first, ...others] };
    });

    const observed = await rig.observe(scope);

    expect(observed.failed).toEqual({});
    // Refreshes confirm what a listing lacks.
    const lacking = scope.kind === 'all' ? 1 : 0;
    expect(holders(observed).size).toBe(scope.instanceIds.length - lacking);
  });

  const odd: readonly (readonly [string, Json, string])[] = [
    ['is nothing', null, 'it is no object'],
    ['is a text', 'nic', 'it is no object'],
    ['has no id', { properties: {} }, 'its id is ""'],
    ['has a number for an id', { id: 7, properties: {} }, 'its id is 7'],
    [
      'has a number for its VM',
      { id: `${group}/providers/Microsoft.Network/networkInterfaces/x`, properties: { virtualMachine: 7 } },
      'its VM is 7',
    ],
    [
      'has no properties',
      { id: `${group}/providers/Microsoft.Network/networkInterfaces/x` },
      'its properties are no object',
    ],
  ];

  test.each(odd)('proves nothing of what it lacks where an item of a list %s', async (_, item, problem) => {
    const rig = azureRig({ topology });
    const append = (body: Json | undefined): Json => {
      const items = valueAt(body, 'value') as readonly Json[];
      return { ...(body as JsonObject), value: [...items, item] };
    };
    const ofOne = 'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces';
    answerInstead(rig, listOfSet, append);
    answerInstead(rig, ofOne, append);

    const many = await rig.observe(some(pool.slice(0, 15)));
    const one = await rig.observe(some(pool.slice(0, 1)));

    const unclear = [many, one].map(({ pages }) => pages.flatMap((page) => page.unclear ?? []));
    expect([many.failed, one.failed]).toEqual([{}, {}]);
    expect([holders(many).size, holders(one).size]).toEqual([15, 1]);
    expect(unclear.map(([first]) => first?.instanceIds.toSorted())).toEqual([
      pool.slice(0, 15).toSorted(),
      pool.slice(0, 1),
    ]);
    expect(unclear.flat()).toEqual(
      [listOfSet, ofOne].map((operation) =>
        expect.objectContaining({ count: 1, problem: `an item of ${operation}: ${problem}` }),
      ),
    );
  });

  test('does not take a VM for one without interfaces whose list has only something else', async () => {
    const rig = azureRig({ topology });
    answerInstead(rig, 'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces', (body) => ({
      ...(body as JsonObject),
      value: [null],
    }));

    const observed = await rig.observe(some(pool.slice(0, 1)));

    expect(observed.instances).toEqual([]);
    expect(observed.failed).toEqual({ [pool[0] ?? '']: 'UnreadableAnswer' });
  });

  test('shows the others of a VM that names something else as its interface, too', async () => {
    const rig = azureRig({ topology });
    answerInstead(rig, 'VirtualMachines.Get', (body) => {
      const profile = valueAt(body, 'properties', 'networkProfile') as JsonObject;
      const links = [...(profile['networkInterfaces'] as readonly Json[]), { id: '/nonsense' }];
      const properties = { networkProfile: { ...profile, networkInterfaces: links } };
      return { ...(body as JsonObject), properties };
    });

    const observed = await rig.observe(some([singleId]));

    expect(observed.failed).toEqual({});
    expect(holders(observed)).toEqual(new Set([singleId]));
  });
});
