import { describe, expect, test } from '@jest/globals';
import {
  isObject,
  type Json,
  type JsonObject,
  textAt,
  valueAt,
} from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { type ApiWrite, startController, type WorldController } from '../../support/world-controller.ts';

/** A fleet of both protocols that starts, takes load, loses some of it and is upgraded. */
async function busyWorld(): Promise<{ world: World; controller: WorldController }> {
  const types = ['m5.large', 'm5.xlarge', 'c5.large', 'm5.large'];
  const world = new World({
    cloud: testCloud({ instances: types.map((type, index) => instance({ name: `worker-${index}`, type })) }),
    configure: (index) => ({ protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool' }),
  });
  const controller = startController(world);
  const forever = new AbortController().signal;
  const { workload } = world.cluster;
  void workload.start();
  void workload.run({ kind: 'steady', name: 'web', arrivalsPerMinute: 10, meanLifetime: 120_000 }, forever);
  void workload.run(
    { kind: 'burst', name: 'batch', at: 60_000, pods: 24, over: 3000, lifetime: 90_000 },
    forever,
  );
  void workload.run({ kind: 'rolling-upgrade', name: 'upgrade', at: 240_000, every: 45_000 }, forever);
  await world.advance(600_000);
  return { world, controller };
}

/** Paths of the values in a patch. */
function leavesOf(patch: Json, path: readonly string[] = []): (readonly string[])[] {
  if (!isObject(patch) || Object.keys(patch).length === 0) return [path];
  return Object.entries(patch).flatMap(([name, value]) => leavesOf(value ?? null, [...path, name]));
}

/** The parts of a patch that change nothing in the state from which it was computed. */
function idleParts({ body, path }: ApiWrite, base: JsonObject | undefined): string[] {
  const { metadata: _, ...parts } = body;
  return leavesOf(parts)
    .filter((leaf) => {
      const before = valueAt(base, ...leaf) ?? null;
      return JSON.stringify(before) === JSON.stringify(valueAt(parts, ...leaf));
    })
    .map((leaf) => `${path} ${leaf.join('.')}`);
}

describe('writes of CiliumNodes', () => {
  test('show no address before its interface and none on two nodes, and each changes something', async () => {
    const { world, controller } = await busyWorld();

    const answered = controller.publications.filter(({ status }) => status === 200);
    const idle = answered.flatMap((write) => {
      const name = write.path.split('/')[5] ?? '';
      const base = textAt(write.body, 'metadata', 'resourceVersion');
      return idleParts(write, world.history.at(name, base));
    });

    expect(answered.length).toBeGreaterThan(30);
    expect(idle).toEqual([]);
    expect(world.history.states.length).toBeGreaterThan(100);
    expect(world.broken()).toEqual([]);
  });

  test('are computed only for what changes, however often a node is reconciled', async () => {
    const { controller } = await busyWorld();
    const runsOf = async (family: string): Promise<number> =>
      (await controller.metric(`cilium_operator_ipam_${family}_duration_seconds_count`)) ?? NaN;

    expect(await runsOf('k8s_sync')).toBeGreaterThan(20);
    expect(await runsOf('k8s_sync')).toBeLessThanOrEqual(controller.publications.length);
    expect(await runsOf('deficit_resolver')).toBeGreaterThan(controller.publications.length);
  });

  test('leave fields of agents alone', async () => {
    const { controller } = await busyWorld();

    const allowed = [
      /^metadata\.(uid|resourceVersion)$/,
      /^spec\.ipam\.pool\./,
      /^spec\.ipam\.pre-allocate$/,
      /^status\.eni\.enis\./,
      /^status\.ipam\.operator-status(\.error)?$/,
    ];
    const others = controller.publications
      .flatMap(({ body }) => leavesOf(body))
      .map((leaf) => leaf.join('.'))
      .filter((leaf) => !allowed.some((pattern) => pattern.test(leaf)));

    expect(others).toEqual([]);
  });

  test('end with the changes, as calls do: an idle hour costs its share of the listings and nothing else', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 4 })] }) });
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);
    const before = { calls: controller.calls.length, writes: controller.writes.length };

    await world.advance(3_600_000);

    const calls = controller.calls.slice(before.calls).map(({ action }) => action);
    const writes = controller.writes.slice(before.writes).map(({ path }) => path);
    expect(writes.filter((path) => !path.includes('/leases/'))).toEqual([]);
    expect(calls.filter((action) => !action.startsWith('Describe'))).toEqual([]);
    expect(calls.length).toBeLessThanOrEqual(60);
    expect(world.broken()).toEqual([]);
  });
});
