import { describe, expect, test } from '@jest/globals';
import { azureRig, context, type AzureRig } from './azure-rig.ts';

const instanceId =
  '/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/nodes/providers/microsoft.compute/virtualmachinescalesets/pool/virtualmachines/0';

async function primaryOf(rig: AzureRig, id = instanceId) {
  const { interfaces } = await rig.observe({ kind: 'instances', instanceIds: [id] });
  const [first] = interfaces;
  if (first === undefined) throw new Error('no interface is shown');
  return first;
}

describe('an update of a scale-set VM', () => {
  test('resolves with the addresses that the instance has then', async () => {
    const rig = azureRig();
    const before = await primaryOf(rig);

    const outcome = await rig.ended(
      rig.begin({
        kind: 'updateInstance',
        instanceId,
        operationId: 'aaaaaaaa-1111',
        add: [{ interfaceId: before.id, subnetId: before.subnetId, count: 3 }],
      }),
    );

    const after = await primaryOf(rig);
    const added = after.addresses.filter((address) => !before.addresses.includes(address));
    expect(added).toHaveLength(3);
    expect(outcome).toEqual({
      kind: 'done',
      answer: { kind: 'updated', instanceId, added: [{ interfaceId: before.id, addresses: added }] },
    });
    expect(context.signal.aborted).toBe(false);
  });
});
