import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';
import type { JsonObject } from '../../../../src/providers/azure/arm-api.ts';
import { FailedModels } from '../../../../src/providers/azure/failed-models.ts';
import { ourNamesIn } from '../../../../src/providers/azure/instance-model.ts';
import type { ShownInterface } from '../../../../src/providers/azure/network-interface.ts';

const consistencyWindow = 30_000;
const instanceId = '/vm';

function model(names: readonly string[]): JsonObject {
  const properties = { ipConfigurations: names.map((name) => ({ name, properties: {} })) };
  const networkInterfaceConfigurations = [{ name: 'nic0', properties }];
  return {
    properties: {
      provisioningState: 'Failed',
      networkProfileConfiguration: { networkInterfaceConfigurations },
    },
  };
}

function shown(names: readonly string[]): readonly ShownInterface[] {
  const read = { interface: { condition: 'ready' }, names: new Set(names), publicAddressId: undefined };
  return [{ id: '/vm/networkInterfaces/nic0', instanceId, read } as unknown as ShownInterface];
}

describe('what a failed model asks for in vain', () => {
  const failed = { body: model(['Cilium-a', 'Cilium-b']), etag: '1' };

  test('is certain only if each of it has been missing for a consistency window', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels({ clock, consistencyWindow });
    const read = (names: readonly string[]): JsonObject | undefined =>
      models.cleaned(instanceId, failed, shown(names));

    expect(read(['Cilium-b'])).toBeUndefined();
    await clock.advance(consistencyWindow);
    expect(read([])).toBeUndefined();
    await clock.advance(1000);
    const left = read(['Cilium-b']);
    expect(left).toBeUndefined();
    await clock.advance(consistencyWindow);
    const cleaned = read(['Cilium-b']);

    expect(ourNamesIn(cleaned ?? {}).get('nic0')).toEqual(['Cilium-b']);
  });

  test('is forgotten with its instance', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels({ clock, consistencyWindow });
    const read = (): JsonObject | undefined => models.cleaned(instanceId, failed, shown([]));
    read();
    await clock.advance(consistencyWindow);

    models.keepOnly(new Set([instanceId]));
    const kept = read();
    models.keepOnly(new Set());

    expect(kept).toBeDefined();
    expect(read()).toBeUndefined();
  });
});
