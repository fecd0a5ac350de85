import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { FailedModels } from '../../../../src/providers/azure/failed-models.ts';
import { ourNamesIn } from '../../../../src/providers/azure/instance-model.ts';
import type { ShownInterface } from '../../../../src/providers/azure/network-interface.ts';

const consistencyWindow = 30_000;
const instanceId = '/vm';

function model(names: readonly string[]): JsonObject {
  const subnet = { id: '/subnet' };
  const properties = { ipConfigurations: names.map((name) => ({ name, properties: { subnet } })) };
  const networkInterfaceConfigurations = [{ name: 'nic0', properties }];
  return {
    properties: {
      provisioningState: 'Failed',
      networkProfileConfiguration: { networkInterfaceConfigurations },
    },
  };
}

function shown(names: readonly string[]): readonly ShownInterface[] {
  const releasable = new Map(names.map((name, index) => [`10.0.0.${index}`, name]));
  const condition = 'ready';
  const read = { interface: { condition }, names: new Set(names), releasable, publicAddressId: undefined };
  return [{ id: '/vm/networkInterfaces/nic0', instanceId, read } as unknown as ShownInterface];
}

describe('what a failed model asks for in vain', () => {
  const failed = { body: model(['Cilium-a', 'Cilium-b']), etag: '1' };

  test('is certain only if each of it has been missing for a consistency window', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels(clock, consistencyWindow);
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

  test('is not certain while any read shows it', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels(clock, consistencyWindow);
    const read = (): JsonObject | undefined => models.cleaned(instanceId, failed, shown(['Cilium-b']));
    read();
    await clock.advance(consistencyWindow - 1);

    models.noteShown(shown(['Cilium-b']));
    models.noteShown(shown(['Cilium-a', 'Cilium-b']));
    await clock.advance(1);
    const soon = read();
    await clock.advance(consistencyWindow);

    expect(soon).toBeUndefined();
    expect(ourNamesIn(read() ?? {}).get('nic0')).toEqual(['Cilium-b']);
  });

  test('does not cost an address whose removal failed, which may be in use again', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels(clock, consistencyWindow);
    const read = (): JsonObject | undefined =>
      models.cleaned(instanceId, failed, shown(['Cilium-a', 'Cilium-b', 'Cilium-c']));
    const soon = read();
    await clock.advance(consistencyWindow);

    expect(soon).toBeUndefined();
    expect(ourNamesIn(read() ?? {}).get('nic0')).toEqual(['Cilium-a', 'Cilium-b', 'Cilium-c']);
  });

  test('does not keep a removal from being repeated', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels(clock, consistencyWindow);
    const all = shown(['Cilium-a', 'Cilium-b', 'Cilium-c']);
    models.cleaned(instanceId, failed, all);
    await clock.advance(consistencyWindow);

    expect(models.cleaned(instanceId, failed, all, new Set(['10.0.0.2']))).toEqual(failed.body);
  });

  test.each<[string, readonly (readonly string[])[]]>([
    ['first', [['Cilium-a', 'Cilium-b']]],
    [
      'later',
      [
        ['Cilium-a', 'Cilium-b', 'Cilium-c'],
        ['Cilium-a', 'Cilium-b'],
      ],
    ],
  ])('does not cost what it lacks and a read lacks for a moment, %s', async (_, reads) => {
    const clock = new VirtualClock();
    const models = new FailedModels(clock, consistencyWindow);
    const read = async (names: readonly string[]): Promise<JsonObject | undefined> => {
      const cleaned = models.cleaned(instanceId, failed, shown(names));
      await clock.advance(consistencyWindow);
      return cleaned;
    };

    for (const names of reads) expect(await read(names)).toBeUndefined();
    const cleaned = await read(['Cilium-a', 'Cilium-b', 'Cilium-c']);

    expect(ourNamesIn(cleaned ?? {}).get('nic0')).toEqual(['Cilium-a', 'Cilium-b', 'Cilium-c']);
  });

  test('names the interface that cannot be understood', () => {
    const models = new FailedModels(new VirtualClock(), consistencyWindow);
    const other = {
      id: '/vm/networkInterfaces/nic1',
      instanceId,
      isPrimary: false,
      read: { problem: 'it names no VM' },
    };

    expect(() => models.cleaned(instanceId, failed, [...shown([]), other])).toThrow(
      'the last change of the VM failed, and what it left of nic1 is not known: it names no VM',
    );
  });

  test('is forgotten with its instance', async () => {
    const clock = new VirtualClock();
    const models = new FailedModels(clock, consistencyWindow);
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
