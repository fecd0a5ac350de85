import { describe, expect, test } from '@jest/globals';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { asking, changes, held, podSubnets, shown, worldOf } from '../../support/ipv6-world.ts';
import { lossesOf } from '../../support/lost-answers.ts';
import type { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

describe('a node whose agent asks for IPv6', () => {
  test('gets one prefix on the interface that it has, which its status shows', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.patch(machine, asking(400));
    await world.advance(600_000);

    expect(shown(world, machine)).toEqual(held(world, machine));
    expect(held(world, machine)).toHaveLength(1);
    expect(changes(controller)).toEqual(['AssignPrivateIpAddresses', 'AssignIpv6Addresses 1']);
    expect([...world.pool(machine).keys()].filter((address) => address.includes(':'))).toEqual([]);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('gets it with the interface that is created for its pods, without a further call', async () => {
    const world = worldOf(['pods', 'morePods'], podSubnets);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(600_000);

    expect(shown(world, machine)).toEqual(held(world, machine));
    expect(held(world, machine)).toHaveLength(1);
    expect(world.pool(machine).size).toBe(8);
    expect(changes(controller).filter((change) => !change.includes('NotFound'))).toEqual([
      'CreateNetworkInterface 1',
      'AttachNetworkInterface',
      'ModifyNetworkInterfaceAttribute',
    ]);
    expect(world.broken()).toEqual([]);
  });
});

/** Advances time; returns the most prefixes that the machine had at any instant. */
async function mostWithin(world: World, machine: NodeFacts, ms: number): Promise<number> {
  let most = 0;
  await world.clock.runUntil(() => {
    most = Math.max(most, held(world, machine).length);
    return false;
  }, ms);
  return most;
}

const calls = ['AssignIpv6Addresses', 'CreateNetworkInterface', 'AttachNetworkInterface'];

describe('an answer about an IPv6 prefix', () => {
  test.each(lossesOf(calls))(
    'brings no second one when it $how, $times times: $action',
    async ({ action, fault, times }) => {
      const isOfExisting = action === 'AssignIpv6Addresses';
      const world = isOfExisting ? worldOf(['nodes']) : worldOf(['pods', 'morePods'], podSubnets);
      const machine = world.machine();
      startController(world);
      await world.advance(25_000);

      world.fault(action, fault, times);
      await world.announce(machine, asking());
      const most = await mostWithin(world, machine, 900_000);

      expect(most).toBe(1);
      expect(shown(world, machine)).toEqual(held(world, machine));
      expect(world.pool(machine).size).toBe(8);
      expect(world.orphaned()).toEqual([]);
      expect(world.operatorError(machine)).toBe('');
      expect(world.broken()).toEqual([]);
    },
  );

  test('keeps nobody waiting for IPv4 while it is lost', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    startController(world);
    await world.advance(25_000);
    world.fault('AssignIpv6Addresses', { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 }, 1);
    await world.announce(machine, asking());
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8, 10_000);
    await world.request(machine, 9);
    await world.until('9 addresses are offered', () => world.pool(machine).size === 9, 10_000);

    expect(held(world, machine)).toEqual([]);
  });
});

describe('another leader', () => {
  const ways = ['before it is sent', 'once it is sent', 'before its answer is taken in'] as const;
  const cases = ways.flatMap((when) =>
    [true, false].flatMap((isMade) => [0, 1, 2, 3, 4].map((at) => ({ when, isMade, at }))),
  );

  test.each(cases)(
    'brings no second prefix after one that died at call $at, $when; a new interface: $isMade',
    async ({ when, isMade, at }) => {
      const world = isMade ? worldOf(['pods', 'morePods'], podSubnets) : worldOf(['nodes']);
      const machine = world.machine();
      const onDeath = (): void => {
        first.kill();
        startController(world, { identity: 'headwater-1' });
      };
      const first = startController(world, { death: { at, when, onDeath } });
      await world.advance(25_000);
      await world.announce(machine, asking());
      const most = await mostWithin(world, machine, 900_000);

      expect(most).toBe(1);
      expect(shown(world, machine)).toEqual(held(world, machine));
      expect(world.pool(machine).size).toBe(8);
      expect(world.broken()).toEqual([]);
    },
  );
});

describe('the leader after one that died while a call was under way', () => {
  test.each(['AssignIpv6Addresses', 'CreateNetworkInterface'])(
    'waits until it can no longer take effect: %s',
    async (action) => {
      const isMade = action === 'CreateNetworkInterface';
      const world = isMade ? worldOf(['pods', 'morePods'], podSubnets) : worldOf(['nodes']);
      const machine = world.machine();
      const first = startController(world);
      await world.advance(25_000);
      const delayMs = isMade ? 0 : 25_000;
      world.fault(
        'AttachNetworkInterface',
        { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 25_000 },
        1,
      );
      world.fault('AssignIpv6Addresses', { kind: 'lost', effect: 'late', connection: 'hang', delayMs }, 1);
      await world.announce(machine, asking());
      const last = isMade ? 'AttachNetworkInterface' : action;
      await world.until('the call is sent', () => first.started.includes(last));
      first.kill();
      const second = startController(world, { identity: 'headwater-1' });
      await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
      const most = await mostWithin(world, machine, 600_000);

      expect(second.controller.state).toBe('leading');
      expect(most).toBe(1);
      expect(shown(world, machine)).toEqual(held(world, machine));
      expect(world.broken()).toEqual([]);
    },
  );
});

describe('what nobody means', () => {
  test.each([-1, 2 ** 31, 1.5, 'many', [], {}])(
    'as a number of IPv6 addresses, %j, costs the node no IPv4, and is said',
    async (found) => {
      const world = worldOf(['nodes']);
      const machine = world.machine();
      const controller = startController(world);
      await world.installSchema({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
      await world.announce(machine, asking(found));
      await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
      await world.advance(60_000);

      expect(held(world, machine)).toEqual([]);
      expect(JSON.stringify(controller.logged)).toContain('ipv6-addrs');
      expect(world.broken()).toEqual([]);
    },
  );

  test.each([
    ['no prefix', ['fd00::'], 1],
    ['a larger block', ['2600:1f14:100::/64'], 1],
    ['a prefix of another interface', ['2600:1f14:100:0:9::/80'], 0],
  ])('as a prefix that the status shows: %s', async (_, prefixes, warnings) => {
    const world = worldOf(['nodes'], {}, { count: 2 });
    const [machine, other] = world.machines;
    if (machine === undefined || other === undefined) throw new Error('two machines');
    const controller = startController(world);
    for (const each of [machine, other]) await world.announce(each, asking());
    await world.until('both have one', () =>
      [machine, other].every((each) => shown(world, each).length === 1),
    );
    const own = shown(world, machine);
    const id = Object.keys(world.enis(machine))[0] ?? '';
    await world.patchStatus(machine, { eni: { enis: { [id]: { 'ipv6-prefixes': [...own, ...prefixes] } } } });
    await world.advance(900_000);

    expect(
      controller.logged.filter(({ details }) => JSON.stringify(details).includes('ipv6-prefixes')),
    ).toHaveLength(warnings);
    expect(held(world, machine)).toEqual(own);
    expect(shown(world, machine)).toEqual(own);
    expect(shown(world, other)).toEqual(held(world, other));
  });

  test('as a status with 10,000 prefixes blocks that node alone, and loses nothing', async () => {
    const world = worldOf(['nodes'], {}, { count: 2 });
    const [machine, other] = world.machines;
    if (machine === undefined || other === undefined) throw new Error('two machines');
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length === 1);
    const many = Array.from({ length: 10_000 }, (_, index) => `2600:1f14:1:2:${index.toString(16)}::/80`);
    const id = Object.keys(world.enis(machine))[0] ?? '';
    const own = shown(world, machine);
    await world.patchStatus(machine, { eni: { enis: { [id]: { 'ipv6-prefixes': [...own, ...many] } } } });
    await world.announce(other, asking());
    await world.until('the other is served', () => shown(world, other).length === 1);
    await world.advance(300_000);

    expect(controller.controller.status().inDeficit?.map(({ reason }) => reason)).toEqual(['NodeUnreadable']);
    expect(held(world, machine)).toEqual(own);
    expect(shown(world, machine)).toContain(own[0]);
  });
});
