import { describe, expect, test } from '@jest/globals';
import { BusyWorld } from '../../support/busy-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';

const flags = { 'aws-release-excess-ips': 'true' };

describe.each(['crd-allocator', 'multi-pool'] as const)('a new leader beside an agent of %s', (protocol) => {
  test.each<{ what: string; foreign: object; eni?: object }>([
    { what: 'is a trunk', foreign: { type: 'trunk' } },
    { what: 'another service manages', foreign: { requesterManaged: true } },
    {
      what: 'has the tags that exclude it',
      foreign: { tags: { role: 'storage' } },
      eni: { excludeInterfaceTags: { role: 'storage' } },
    },
  ])('releases nothing of an interface that $what', async ({ foreign, eni = {} }) => {
    const interfaces = [{ deviceIndex: 1, addresses: 3, ...foreign }];
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
