import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { textsAt } from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const reason = 'FreeAddressesNotTaken';
const withPrefixes = { 'aws-enable-prefix-delegation': 'true' };

/** The prefixes that the CiliumNode shows. */
function shownBlocks(world: World, machine: NodeFacts): readonly string[] {
  return Object.values(world.enis(machine)).flatMap((shown) => textsAt(shown as JsonObject, 'prefixes'));
}

/** Lists blocks, and requests this many addresses, as a multi-pool agent does. */
async function list(
  world: World,
  machine: NodeFacts,
  { cidrs, requested }: { cidrs: readonly string[]; requested: number },
): Promise<void> {
  const pools = {
    requested: [{ pool: 'default', needed: { 'ipv4-addrs': requested } }],
    allocated: [{ pool: 'default', cidrs: [...cidrs] }],
  };
  await world.patch(machine, { spec: { ipam: { pools } } });
}

/** The pod has its address, and runs. */
async function serve(world: World, name: string, address: string): Promise<void> {
  const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
  await world.call('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, { status });
}

function said({ controller }: WorldController): readonly (string | undefined)[] {
  return controller.status().warnings?.map(({ reason: each }) => each) ?? [];
}

describe('pods that wait on a node whose agent does not list a block that its status shows', () => {
  async function stuck(): Promise<{ world: World; machine: NodeFacts; controller: WorldController }> {
    const world = new World({ cloud: testCloud({ instances: [instance({ type: 'm5.large' })] }) });
    const machine = world.machine();
    const controller = startController(world, { flags: withPrefixes });
    await world.announce(machine);
    await world.request(machine, 38 + 8);
    await world.until('three blocks are shown', () => shownBlocks(world, machine).length === 3);
    // 32 addresses are in use, and 6 pods have asked for one in vain.
    await list(world, machine, { cidrs: shownBlocks(world, machine).slice(0, 2), requested: 38 + 8 });
    await world.addPods(machine, { count: 6 });
    return { world, machine, controller };
  }

  test('are a warning once its agent would have listed it, with one Event and a metric, and no deficit', async () => {
    const { world, machine, controller } = await stuck();
    const changes = controller.changes.length;

    await world.advance(89_000);
    const before = said(controller);
    await world.advance(2000);
    const status = controller.controller.status();
    await world.advance(10 * 60_000);

    expect(before).toEqual([]);
    expect(status.warnings).toEqual([
      {
        node: machine.name,
        reason,
        why: expect.stringMatching(/^restart the Cilium agent of this node: /),
        addresses: 16,
      },
    ]);
    expect(status.inDeficit).toEqual([]);
    expect(world.events(machine.name).toSorted()).toEqual([
      expect.stringMatching(`^CiliumNode ${reason}: `),
      expect.stringMatching(`^Node ${reason}: `),
    ]);
    expect(await controller.metric(`headwater_warnings{reason="${reason}"}`)).toBe(1);
    expect(await controller.metric('headwater_nodes{state="satisfied"}')).toBe(1);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.changes).toHaveLength(changes);
    expect(world.broken()).toEqual([]);
  });

  test('are none once a restarted agent lists the block and serves them', async () => {
    const { world, machine, controller } = await stuck();
    await world.advance(100_000);
    const before = said(controller);

    const blocks = shownBlocks(world, machine);
    for (let index = 0; index < 6; index++) await serve(world, `pod-${index}`, `10.0.9.${index}`);
    await list(world, machine, { cidrs: blocks, requested: 38 + 8 });
    await world.advance(100);

    expect([before, said(controller)]).toEqual([[reason], []]);
    expect(await controller.metric(`headwater_warnings{reason="${reason}"}`)).toBeUndefined();
    expect(world.broken()).toEqual([]);
  });
});

describe('pods that wait on a node with free addresses in its pool', () => {
  async function waiting(): Promise<{ world: World; machine: NodeFacts; controller: WorldController }> {
    const world = new World();
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
    await world.use(machine, 1);
    await world.until('9 addresses are offered', () => world.pool(machine).size === 9);
    await world.addPods(machine, { count: 3 });
    return { world, machine, controller };
  }

  test('are a warning after a minute, once, until they are served', async () => {
    const { world, machine, controller } = await waiting();
    const changes = controller.changes.length;

    await world.advance(59_000);
    const before = said(controller);
    await world.advance(2000);
    const after = controller.controller.status().warnings;
    await serve(world, 'pod-0', '10.0.9.0');
    await world.advance(5 * 60_000);
    const still = said(controller);
    await serve(world, 'pod-1', '10.0.9.1');
    await serve(world, 'pod-2', '10.0.9.2');
    await world.advance(100);

    expect([before, still, said(controller)]).toEqual([[], [reason], []]);
    expect(after).toEqual([
      {
        node: machine.name,
        reason,
        why: expect.stringMatching(/^restart the Cilium agent of this node, unless /),
        addresses: 8,
      },
    ]);
    expect(world.events(machine.name)).toHaveLength(2);
    expect(controller.changes).toHaveLength(changes);
    expect(world.broken()).toEqual([]);
  });

  test('are none while the agent serves one pod after the other', async () => {
    const { world, machine, controller } = await waiting();

    for (let round = 0; round < 10; round++) {
      await world.advance(30_000);
      await world.addPods(machine, { count: 1, prefix: `later-${round}` });
      await serve(world, `later-${round}-0`, `10.0.9.${round}`);
    }

    expect(said(controller)).toEqual([]);
    expect(world.events(machine.name).toSorted()).toEqual([]);
  });

  test('are none before the addresses have been offered for a minute', async () => {
    const world = new World({ configure: () => ({ ipam: { preAllocate: 8 } }) });
    const machine = world.machine();
    const end = world.fault('AssignPrivateIpAddresses', { kind: 'throttle' });
    // The answer to the write comes last, and nothing else happens to the node.
    const writes = { method: 'PATCH', path: /\/ciliumnodes\// };
    const watches = { method: 'GET', path: /\/ciliumnodes\?.*watch/ };
    world.kubernetesFault({ ...writes, effect: { kind: 'delay', ms: 1000 } });
    world.kubernetesFault({ ...watches, effect: { kind: 'delayEvents', ms: 3000 } });
    const controller = startController(world);
    await world.announce(machine);
    await world.addPods(machine, { count: 1 });
    await world.advance(5 * 60_000);
    const pool = world.pool(machine).size;
    end();
    await world.until('addresses are offered', () => world.pool(machine).size > 0, 600_000);

    await world.advance(59_900);
    const before = said(controller);
    await world.advance(200);

    expect(pool).toBe(0);
    expect([before, said(controller)]).toEqual([[], [reason]]);
  });
});

describe('pods that wait on a full node', () => {
  test('are a deficit, and no warning', async () => {
    const world = new World({ configure: () => ({ ipam: { minAllocate: 12, maxAllocate: 12 } }) });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.until('12 addresses are offered', () => world.pool(machine).size === 12);
    await world.use(machine, 12);

    await world.addPods(machine, { count: 2 });
    await world.advance(5 * 60_000);

    expect(said(controller)).toEqual([]);
  });
});
