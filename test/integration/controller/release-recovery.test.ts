import { describe, expect, test } from '@jest/globals';
import { BusyWorld } from '../../support/busy-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';

const flags = { 'aws-release-excess-ips': 'true' };

describe.each(['crd-allocator', 'multi-pool'] as const)('a new leader beside an agent of %s', (protocol) => {
  test.each<{ what: string; traits: object; eni?: object }>([
    { what: 'is a trunk', traits: { type: 'trunk' } },
    { what: 'another service manages', traits: { requesterManaged: true } },
    {
      what: 'has the tags that exclude it',
      traits: { tags: { role: 'storage' } },
      eni: { excludeInterfaceTags: { role: 'storage' } },
    },
  ])('releases nothing of an interface that $what', async ({ traits, eni = {} }) => {
    const interfaces = [{ deviceIndex: 1, addresses: 3, ...traits }];
    const world = await BusyWorld.start({
      cloud: testCloud({ instances: [instance({ interfaces })] }),
      configure: () => ({ protocol, eni }),
      setup: { flags },
      pods: 4,
    });
    const [, before] = world.interfaces(world.machine());

    world.takeOver({ flags });
    await world.advance(900_000);

    const [, after] = world.interfaces(world.machine());
    expect(before?.addresses).toHaveLength(4);
    expect(after?.addresses).toEqual(before?.addresses);
    expect(world.waiting()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
