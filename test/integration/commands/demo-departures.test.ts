import { describe, expect, test } from '@jest/globals';
import { DepartureWatch, shownAddresses } from '../../../src/commands/demo/departure-watch.ts';
import type { Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';

const flags = { 'aws-release-excess-ips': 'true' };

describe('addresses that are being released', () => {
  test.each<{ protocol: Protocol; seen: readonly string[] }>([
    { protocol: 'crd-allocator', seen: ['marked', 'ready', 'released'] },
    { protocol: 'multi-pool', seen: ['hidden'] },
  ])('are counted as $seen for an agent of $protocol', async ({ protocol, seen }) => {
    const world = await BusyWorld.start({
      cloud: testCloud({ instances: [instance()] }),
      configure: () => ({ protocol }),
      setup: { flags },
      pods: 15,
    });
    const watch = new DepartureWatch(world.cluster);
    const before = watch.read();
    const held = world.held(world.machine()).length;
    const met = new Set<string>();
    await world.deleteLivingPods(12);

    await world.clock.runUntil(() => {
      for (const [name, count] of Object.entries(watch.read())) if (count > 0) met.add(name);
      return false;
    }, 600_000);

    expect(before).toEqual({ marked: 0, ready: 0, released: 0, refused: 0, hidden: 0, unassigned: 0 });
    expect([...met].toSorted()).toEqual([...seen, 'unassigned'].toSorted());
    expect(watch.read()).toEqual({ ...before, unassigned: held - world.held(world.machine()).length });
  });
});

test('the addresses that an agent may give to pods are its pool, or what its interfaces have', () => {
  const node = {
    spec: { ipam: { pool: { '10.0.0.1': {} } } },
    status: { eni: { enis: { 'eni-1': { addresses: ['10.0.0.2'] } } } },
  };

  expect(shownAddresses(node, 'crd-allocator')).toEqual(new Set(['10.0.0.1']));
  expect(shownAddresses(node, 'multi-pool')).toEqual(new Set(['10.0.0.2']));
});
