import { expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { type ApiWrite, startController } from '../../support/world-controller.ts';

/** Time that the API server takes for each write, in ms. */
const slowness = 2000;
const nodes = 60;

/** The most writes that were in flight at one instant. */
function maxAtOnce(writes: readonly ApiWrite[]): number {
  return Math.max(
    ...writes.map(({ at }) => writes.filter((other) => other.at <= at && at < other.at + slowness).length),
  );
}

test('a slow API server gets few writes at once, those of nodes with pending pods first', async () => {
  const instances = Array.from({ length: nodes }, (_, index) => instance({ name: `worker-${index}` }));
  const world = new World({ cloud: testCloud({ instances }) });
  const controller = startController(world);
  const { machines } = world;
  const waiting = machines.slice(-2);
  for (const machine of machines) await world.announce(machine);
  await world.until(
    'all have addresses',
    () => machines.every((each) => world.pool(each).size >= 8),
    600_000,
  );
  const before = controller.publications.length;
  for (const machine of machines.slice(0, -waiting.length)) await world.use(machine, 4);
  world.kubernetesFault({
    method: 'PATCH',
    path: /\/ciliumnodes\//,
    times: Infinity,
    effect: { kind: 'delay', ms: slowness },
  });

  await world.advance(1500);
  for (const machine of waiting) await world.addPods(machine, { count: 12, prefix: machine.name });
  const from = world.clock.monotonic();
  await world.until('those have more', () => waiting.every((each) => world.pool(each).size > 8));
  const withPendingPods = world.clock.monotonic() - from;
  await world.until('all have more', () => machines.every((each) => world.pool(each).size > 8));
  const together = world.clock.monotonic() - from;

  expect(maxAtOnce(controller.publications.slice(before))).toBeLessThanOrEqual(24);
  expect(withPendingPods).toBeLessThan(together / 2);
  const runs = await controller.metric('cilium_operator_ipam_k8s_sync_duration_seconds_count');
  // Each run writes status and pool, so changes in between need no further write.
  expect(runs).toBeLessThan(controller.publications.length / 2);
  expect(world.broken()).toEqual([]);
});
