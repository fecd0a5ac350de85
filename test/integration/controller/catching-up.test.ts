import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const lists = /ciliumnodes(\?(?!.*watch=).*)?$/;

interface Setup {
  readonly world: World;
  readonly second: WorldController;
  /** Answers lists of CiliumNodes again. */
  readonly allow: () => void;
}

/** The first process led and is gone; the second one gets the Lease, and may not list CiliumNodes. */
async function setUp(): Promise<Setup> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
  const first = startController(world, { identity: 'headwater-a' });
  await world.advance(1000);
  const second = startController(world, { identity: 'headwater-b' });
  void world.cluster.workload.start();
  await world.advance(60_000);
  const allow = world.refuse(403, 'GET', lists);
  first.stop();
  await world.until('the second has the Lease', () => second.controller.state === 'catchingUp', 60_000);
  return { world, second, allow };
}

describe('a leader that cannot list CiliumNodes', () => {
  test('says so, changes nothing, and starts as soon as it can', async () => {
    const { world, second, allow } = await setUp();
    await world.advance(10_000);

    expect(second.controller.unreadiness()).toMatch(/^it has the Lease and reads CiliumNodes: .+/);
    expect(second.changes).toEqual([]);
    expect(second.publications).toEqual([]);

    allow();
    await world.until('it leads', () => second.controller.state === 'leading', 60_000);
    expect(world.broken()).toEqual([]);
  });

  test('releases the Lease after a minute', async () => {
    const { world, second, allow } = await setUp();
    await world.advance(70_000);

    expect(await second.outcome).toBe('lost');
    expect(second.logged.map(({ message }) => message)).toContain(
      'cannot read CiliumNodes: releasing the Lease, exiting',
    );

    allow();
    const third = startController(world, { identity: 'headwater-c' });
    await world.until('the third leads', () => third.controller.state === 'leading', 10_000);
  });

  test('exits at once on a shutdown', async () => {
    const { world, second } = await setUp();
    second.stop();
    await world.advance(1000);

    expect(await second.outcome).toBe('stopped');
  });
});

describe('a leader whose lists of CiliumNodes take long', () => {
  test('waits for them, whatever failed before', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    const first = startController(world, { identity: 'headwater-a' });
    await world.advance(1000);
    const second = startController(world, { identity: 'headwater-b' });
    void world.cluster.workload.start();
    await world.advance(60_000);
    const allow = world.refuse(503, 'GET', /ciliumnodes/);
    world.cluster.kubernetes.faults.closeWatches(/ciliumnodes/);
    await world.advance(5000);
    allow();
    const effect = { kind: 'delay', ms: 62_000 } as const;
    const clear = world.kubernetesFault({ method: 'GET', path: lists, effect });
    first.stop();
    await world.until('the second has the Lease', () => second.controller.state === 'catchingUp', 60_000);

    await world.until('it leads', () => second.controller.state === 'leading', 250_000);
    clear();

    expect(second.logged.map(({ message }) => message)).not.toContain(
      'cannot read CiliumNodes: releasing the Lease, exiting',
    );
  });

  test('waits for them: another process would wait as long', async () => {
    const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
    void world.cluster.workload.start();
    await world.advance(60_000);
    const clear = world.kubernetesFault({
      method: 'GET',
      path: lists,
      effect: { kind: 'delay', ms: 35_000 },
    });
    const leader = startController(world, { identity: 'headwater-a' });

    await world.until('it leads', () => leader.controller.state === 'leading', 250_000);
    clear();

    expect(leader.logged.map(({ message }) => message)).not.toContain(
      'cannot read CiliumNodes: releasing the Lease, exiting',
    );
  });
});
