import { describe, expect, test } from '@jest/globals';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import { objectAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { emptyAnswers, withInterfaces, withPrimariesOnly } from '../../support/torn-answers.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const flags = {
  'resync-interval': '60s',
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '60s',
};

/** A fleet that a former controller served, with some addresses in use; no controller leads now. */
async function served(count = 6): Promise<World> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count })] }) });
  const first = startController(world, { flags });
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(60_000);
  for (const machine of world.machines) await world.use(machine, 4);
  await world.advance(30_000);
  first.stop();
  await world.advance(30_000);
  return world;
}

interface Shown {
  readonly pool: ReadonlyMap<string, string>;
  readonly enis: unknown;
}

function shownBy(world: World, machines: readonly NodeFacts[] = world.machines): readonly Shown[] {
  return machines.map((machine) => ({ pool: world.pool(machine), enis: world.enis(machine) }));
}

/** Writes until then that change a pool or interfaces. */
function writesOfPools(controller: WorldController, until: number): readonly unknown[] {
  return controller.publications.filter(
    ({ at, body }) =>
      at <= until && ('pool' in objectAt(body, 'spec', 'ipam') || 'eni' in objectAt(body, 'status')),
  );
}

describe('a controller whose cloud does not show instances', () => {
  test.each<[string, RegExp, (action: string, output: object) => object]>([
    [
      'anything: another region or account',
      /is not found: check Headwater's region, account and role/,
      (action, output) => emptyAnswers[action] ?? output,
    ],
    [
      'any interface: a role that may not',
      /is running and shows no interface: check Headwater's region, account and role/,
      (action, output) => (action === 'DescribeNetworkInterfaces' ? { NetworkInterfaces: [] } : output),
    ],
    [
      'any primary interface, and serves what it shows',
      /^$/,
      (_, output) => withInterfaces(output, ({ Attachment }) => Attachment?.DeviceIndex !== 0),
    ],
  ])('leaves every pool and status as it is, for an hour: %s (%s)', async (_, says, tamper) => {
    const world = await served();
    const before = shownBy(world);
    let isBlind = true;

    const controller = startController(world, {
      identity: 'headwater-1',
      flags,
      tamper: (action, output) => (isBlind ? tamper(action, output) : output),
    });
    await world.advance(3_600_000);
    const until = world.clock.monotonic();
    const blind = {
      shown: shownBy(world),
      changes: controller.changes.length,
      errors: errorsOf(world),
      until,
    };
    isBlind = false;
    await world.advance(300_000);

    expect(blind.shown).toEqual(before);
    expect(blind.changes).toBe(0);
    expect(writesOfPools(controller, blind.until)).toEqual([]);
    for (const error of blind.errors) expect(error).toMatch(says);
    expect(errorsOf(world)).toEqual(world.machines.map(() => ''));
    expect(world.broken()).toEqual([]);
  });

  test('serves the other instances when some are not shown', async () => {
    const world = await served();
    const [hidden, shown] = [world.machine(0), world.machine(1)];
    const before = shownBy(world, [hidden]);

    startController(world, {
      identity: 'headwater-1',
      flags,
      tamper: (action, output) => {
        if (action === 'DescribeInstances') return { Reservations: [] };
        return withInterfaces(output, ({ Attachment }) => Attachment?.InstanceId !== hidden.instanceId);
      },
    });
    await world.use(shown, 8);
    await world.until('the other one grows', () => world.pool(shown).size >= 16, 30_000);
    await world.advance(900_000);

    expect(shownBy(world, [hidden])).toEqual(before);
    expect(world.operatorError(hidden)).toMatch(/is not found/);
    expect(world.operatorError(shown)).toBe('');
    expect(world.broken()).toEqual([]);
  });
});

describe('a pool whose status was wiped while no controller led', () => {
  async function wiped(usesPrimary: boolean): Promise<World> {
    const more = { ...flags, 'use-primary-address': String(usesPrimary) };
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 4 })] }),
      configure: () => ({ eni: { usePrimaryAddress: usesPrimary }, ipam: { preAllocate: 12 } }),
    });
    const first = startController(world, { flags: more });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);
    for (const machine of world.machines) await world.use(machine, 12);
    await world.advance(120_000);
    first.stop();
    await world.advance(30_000);
    for (const machine of world.machines) await world.patchStatus(machine, { eni: { enis: null } });
    return world;
  }

  test.each([
    ['a torn answer', false, 60_000],
    ['a torn answer, primary addresses included', true, 60_000],
    ['a role that hides interfaces', false, 1_800_000],
  ])('loses nothing by %s, and gets its status back', async (_, usesPrimary, span) => {
    const world = await wiped(usesPrimary);
    const before = world.machines.map((machine) => world.pool(machine));
    let isTorn = true;
    startController(world, {
      identity: 'headwater-1',
      flags,
      tamper: (_, output) => (isTorn ? withPrimariesOnly(output) : output),
    });

    await world.advance(span);
    const blind = world.machines.map((machine) => world.pool(machine));
    isTorn = false;
    await world.advance(300_000);

    expect(blind).toEqual(before);
    for (const [index, machine] of world.machines.entries()) {
      const shown = Object.values(world.enis(machine)).flatMap((eni) => textsAt(eni, 'addresses'));
      expect(new Set(shown)).toEqual(new Set(before[index]?.keys()));
      expect(world.pool(machine)).toEqual(before[index]);
    }
  });

  test('loses what two complete reads no longer show', async () => {
    const world = await wiped(false);
    const machine = world.machine();
    const [, second] = world.interfaces(machine);
    const detach = { AttachmentId: second?.attachment?.id ?? '', Force: true };
    void world.cluster.ec2.gateway.call('DetachNetworkInterface', detach, { arn: 'arn' });
    await world.advance(5000);

    startController(world, { identity: 'headwater-1', flags });
    await world.advance(300_000);

    expect([...world.pool(machine).values()]).not.toContain(second?.id);
    expect(new Set(world.pool(machine).keys())).toEqual(new Set(world.held(machine)));
    expect(world.bugs).toEqual([]);
  });
});

function errorsOf(world: World): readonly string[] {
  return world.machines.map((machine) => world.operatorError(machine));
}

describe('an address of an instance that the cloud no longer knows', () => {
  test('is withdrawn there as soon as the cloud assigns it to another node, and everything else stays', async () => {
    const world = await served(2);
    const [lost, next] = [world.machine(0), world.machine(1)];
    const former = [...world.pool(lost).keys()];
    // No controller reads while it ends, so a new leader sees only that it is missing.
    terminate(world.cluster.ec2.network, [lost.instanceId]);
    await world.advance(2 * 3_600_000);
    const controller = startController(world, { identity: 'headwater-1', flags });
    await world.advance(60_000);
    const kept = world.pool(lost).size;

    await world.use(next, 8);
    const given = (): readonly string[] => former.filter((address) => world.held(next).includes(address));
    await world.until('the cloud gives some of them out again', () => given().length > 0, 60_000);
    await world.until(
      'the node offers all that it has',
      () => world.pool(next).size === world.held(next).length,
      20_000,
    );
    await world.advance(5000);

    expect(kept).toBe(former.length);
    expect([...world.pool(lost).keys()]).toEqual(former.filter((address) => !given().includes(address)));
    expect(controller.controller.status().inDeficit).toEqual([
      expect.objectContaining({ name: lost.name, reason: 'InstanceNotFound' }),
    ]);
    expect(world.bugs).toEqual([]);
  });
});

describe('a CiliumNode whose instance id became empty', () => {
  test('loses nothing, and is served again once the id is back', async () => {
    const world = await served(2);
    const before = shownBy(world);
    startController(world, { identity: 'headwater-1', flags });
    await world.advance(30_000);
    const machine = world.machine();

    await world.patch(machine, { spec: { 'instance-id': '' } });
    await world.advance(600_000);
    const meanwhile = shownBy(world);
    await world.patch(machine, { spec: { 'instance-id': machine.instanceId } });
    await world.advance(120_000);

    expect(meanwhile).toEqual(before);
    expect(shownBy(world)).toEqual(before);
    expect(world.broken()).toEqual([]);
  });
});

describe('an orphaned interface of this cluster', () => {
  const collecting = { ...flags, 'cluster-name': 'blue', 'eni-gc-interval': '60s' };

  /** Orphaned interfaces of a former leader. */
  async function withOrphans(): Promise<World> {
    const world = new World({
      cloud: testCloud({ instances: [instance({ count: 2 })] }),
      configure: () => ({ ipam: { preAllocate: 12 } }),
    });
    const first = startController(world, { flags: collecting });
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);
    first.kill();
    await world.advance(60_000);
    for (const { attachment } of world.machines.flatMap((machine) => world.interfaces(machine).slice(1))) {
      const detach = { AttachmentId: attachment?.id ?? '', Force: true };
      void world.cluster.ec2.gateway.call('DetachNetworkInterface', detach, { arn: 'arn' });
    }
    await world.advance(30_000);
    return world;
  }

  test('stays while the list of CiliumNodes succeeds and is empty', async () => {
    const world = await withOrphans();
    const orphans = world.orphaned().length;
    for (const machine of world.machines) await world.delete(machine);

    const second = startController(world, { identity: 'headwater-1', flags: collecting });
    await world.advance(900_000);

    expect(orphans).toBe(2);
    expect(world.orphaned()).toHaveLength(2);
    expect(second.changes).toEqual([]);
    expect(world.bugs).toEqual([]);
  });
});
