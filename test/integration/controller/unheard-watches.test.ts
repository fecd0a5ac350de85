// A controller that can read and write Kubernetes, renew its Lease and call the cloud, and hears nothing of its watches.
import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const flags = { 'aws-release-excess-ips': 'true', 'resync-interval': '30s', 'excess-ip-release-delay': '5s' };

/** A node whose pods have left: its addresses are hidden, and none is unassigned yet. */
async function shrinkingNode(): Promise<{ world: World; controller: WorldController }> {
  const world = new World({
    cloud: testCloud({ instances: [instance()] }),
    configure: () => ({ protocol: 'multi-pool' }),
  });
  const controller = startController(world, { flags });
  await world.startAgents();
  await world.advance(60_000);
  for (let index = 0; index < 15; index++)
    void world.cluster.workload.createPod({ name: `pod-${index}`, placement: 'spread' });
  await world.advance(120_000);
  for (let index = 0; index < 15; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
  const offered = world.pool(world.machine()).size;
  await world.until('addresses are hidden', () => world.pool(world.machine()).size < offered, 600_000);
  return { world, controller };
}

describe('a controller that hears nothing of a watch', () => {
  test.each([['ciliumnodes'], ['nodes'], ['pods']])(
    'says so, and takes nothing away, until it hears of it again: %s',
    async (resource) => {
      const { world, controller } = await shrinkingNode();
      const machine = world.machine();
      const held = world.held(machine).length;
      const path = new RegExp(`/${resource}\\?.*watch=true.*allowWatchBookmarks`);

      const end = world.kubernetesFault({ path, times: Infinity, effect: { kind: 'dropBefore' } });
      world.cluster.kubernetes.faults.cutWatches(path);
      await world.advance(600_000);
      const [unready, meanwhile] = [controller.controller.unreadiness(), world.held(machine).length];
      end();
      await world.advance(600_000);

      expect(unready).toMatch(`it hears nothing of ${resource} from the API server, for `);
      expect(meanwhile).toBe(held);
      expect(controller.controller.unreadiness()).toBeUndefined();
      expect(world.held(machine).length).toBeLessThan(held);
      expect(world.broken()).toEqual([]);
    },
  );

  test('is ready while its watches only end and begin again', async () => {
    const { world, controller } = await shrinkingNode();
    const seen = new Set<string | undefined>();

    for (let second = 0; second < 300; second++) {
      await world.advance(1000);
      seen.add(controller.controller.unreadiness());
    }

    expect([...seen]).toEqual([undefined]);
  });
});
