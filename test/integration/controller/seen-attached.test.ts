import { describe, expect, test } from '@jest/globals';
import type { MsRange } from '../../../src/simulator/cloud/topology-fields.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const protocols = ['crd-allocator', 'multi-pool'] as const;
const exactly = (ms: number): MsRange => ({ min: ms, max: ms });
/** The cloud attaches at once, and shows attachments as late as the test sets. */
const atOnce = { attachMs: exactly(0) };

/** Nodes that need a second interface each. */
function worldOf(
  protocol: (typeof protocols)[number],
  { count = 1, cloud = {}, preAllocate = 12 }: { count?: number; cloud?: object; preAllocate?: number } = {},
): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count })], ...cloud }),
    configure: () => ({ protocol, ipam: { preAllocate } }),
  });
}

function created({ changes }: WorldController): number {
  return changes.filter(({ action }) => action === 'CreateNetworkInterface').length;
}

/** When the first attachment was answered, in monotonic ms. */
function attachedAt({ changes }: WorldController): number {
  return changes.find(({ action }) => action === 'AttachNetworkInterface')?.at ?? NaN;
}

/** The second interface of the machine in the cloud. */
function second(world: World, machine: NodeFacts): string {
  return world.interfaces(machine)[1]?.id ?? '';
}

function offers(world: World, machine: NodeFacts, id: string): boolean {
  return id in world.enis(machine) || [...world.pool(machine).values()].includes(id);
}

/** Hides the second interface of each instance from every read. */
function hideFurther(output: object): object {
  const { NetworkInterfaces: items } = output as {
    NetworkInterfaces?: { Attachment?: { DeviceIndex?: number } }[];
  };
  if (items === undefined) return output;
  return { ...output, NetworkInterfaces: items.filter((item) => item.Attachment?.DeviceIndex !== 1) };
}

describe.each(protocols)('beside an agent of %s, a new interface', (protocol) => {
  test('is offered once a read shows it attached, and no second one is created meanwhile', async () => {
    const world = worldOf(protocol, { cloud: { times: { attachMs: exactly(2500) } } });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.until('it is attached', () => !Number.isNaN(attachedAt(controller)));

    await world.until('it is offered', () => offers(world, machine, second(world, machine)), 20_000);
    const waited = world.clock.monotonic() - attachedAt(controller);
    await world.advance(60_000);

    expect(waited).toBeGreaterThan(2500);
    expect(waited).toBeLessThan(8500);
    expect(world.pool(machine).size).toBe(12);
    expect(created(controller)).toBe(1);
    expect(world.broken()).toEqual([]);
  });

  test('is offered although the reads lag, and no read counts it as missing', async () => {
    const world = worldOf(protocol, {
      cloud: { times: atOnce, consistency: { listingLagMs: exactly(10_000) } },
    });
    const machine = world.machine();
    const controller = startController(world, { flags: { 'resync-interval': '60s' } });
    await world.advance(20_000);
    await world.announce(machine);
    await world.until('it is attached', () => !Number.isNaN(attachedAt(controller)));

    await world.advance(9000);
    const early = {
      offered: offers(world, machine, second(world, machine)),
      inDeficit: deficitOf(controller),
    };
    await world.until('it is offered', () => world.pool(machine).size === 12, 30_000);
    await world.advance(180_000);

    expect(early).toEqual({ offered: false, inDeficit: [expect.objectContaining({ wanted: 3 })] });
    expect(world.pool(machine).size).toBe(12);
    expect(controller.changes.map(({ action }) => action).toSorted()).toEqual([
      'AssignPrivateIpAddresses',
      'AttachNetworkInterface',
      'CreateNetworkInterface',
      'ModifyNetworkInterfaceAttribute',
    ]);
    expect(world.broken()).toEqual([]);
  });

  test('is reported by the node while no read shows it, and offered once one does', async () => {
    let isHidden = true;
    const world = worldOf(protocol, { cloud: { times: atOnce } });
    const machine = world.machine();
    const controller = startController(world, {
      tamper: (_, output) => (isHidden ? hideFurther(output) : output),
    });
    await world.announce(machine);
    await world.until('it is attached', () => !Number.isNaN(attachedAt(controller)));
    const id = second(world, machine);

    await world.advance(28_000);
    const before = { error: world.operatorError(machine), created: created(controller) };
    await world.advance(20_000);
    const after = { error: world.operatorError(machine), offered: offers(world, machine, id) };
    const blocked = await controller.metric('headwater_blocked{resource="node",reason="InterfaceNotShown"}');
    const events = world.events(machine.name);
    isHidden = false;
    await world.advance(60_000);

    expect(before).toEqual({ error: '', created: 1 });
    expect(after).toEqual({ error: expect.stringContaining(id), offered: false });
    expect(after.error).toMatch(/^check in the cloud whether interface .* detach it if it is stuck/);
    expect(blocked).toBe(1);
    expect(events).toContainEqual(expect.stringMatching(/^CiliumNode InterfaceNotShown: /));
    expect(offers(world, machine, id)).toBe(true);
    expect(world.operatorError(machine)).toBe('');
    expect(created(controller)).toBe(1);
    expect(world.broken()).toEqual([]);
  });

  test('is offered by the next leader when the one that attached it dies before a read shows it', async () => {
    const world = worldOf(protocol, { cloud: { times: { attachMs: exactly(3000) } } });
    const machine = world.machine();
    const first = startController(world, { identity: 'headwater-a' });
    await world.announce(machine);
    await world.until('it is attached', () => !Number.isNaN(attachedAt(first)));
    await world.advance(500);
    const early = offers(world, machine, second(world, machine));

    first.kill();
    const next = startController(world, { identity: 'headwater-b' });
    await world.advance(120_000);

    expect(early).toBe(false);
    expect(world.pool(machine).size).toBe(12);
    expect(created(first) + created(next)).toBe(1);
    expect(world.interfaces(machine)).toHaveLength(2);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

function deficitOf({ controller }: WorldController): readonly unknown[] {
  return controller.status().inDeficit ?? [];
}

test('200 nodes that attach an interface each within a second need at most ten reads, a second apart', async () => {
  const world = worldOf('multi-pool', {
    count: 200,
    // The subnet of the nodes has no room for these.
    preAllocate: 8,
    cloud: {
      limits: { throttle: false },
      latency: { scale: 0.1 },
      consistency: { visibilityDelayMs: exactly(0) },
    },
  });
  const ample = [
    'AssignPrivateIpAddresses',
    'AttachNetworkInterface',
    'CreateNetworkInterface',
    'ModifyNetworkInterfaceAttribute',
  ];
  const controller = startController(world, {
    flags: {
      'parallel-alloc-workers': '400',
      'cloud-quota-overrides': ample.map((action) => `${action}=1000:200`).join(','),
    },
  });

  for (const machine of world.machines) await world.announce(machine);
  await world.advance(60_000);

  const attached = controller.changes.filter(({ action }) => action === 'AttachNetworkInterface');
  const [from = 0, to = 0] = [attached[0]?.at, attached.at(-1)?.at];
  const reads = controller.calls.filter(({ at, action }) => at >= from && action.startsWith('Describe'));
  const gaps = reads.slice(1).map(({ at }, index) => at - (reads[index]?.at ?? 0));
  expect(attached.length).toBeGreaterThan(190);
  expect(to - from).toBeLessThan(1000);
  expect(world.machines.map((machine) => world.pool(machine).size)).toEqual(Array<number>(200).fill(8));
  expect(reads.length).toBeLessThanOrEqual(10);
  // The calls are a second apart; their answers take a little more or less.
  expect(Math.min(...gaps)).toBeGreaterThan(900);
  expect(world.broken()).toEqual([]);
});
