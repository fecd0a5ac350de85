// What a node gets and says while the cloud, or the API server, does not take its IPv6 prefix.
import { describe, expect, test } from '@jest/globals';
import { asking, changes, held, podSubnets, reserveIpv6, shown, worldOf } from '../../support/ipv6-world.ts';
import { ids } from '../../support/test-cloud.ts';
import { startController } from '../../support/world-controller.ts';

const odd = { kind: 'error', code: 'OddRefusal', status: 400, message: 'odd' } as const;

describe('a refusal of IPv6', () => {
  test('on creation leaves IPv4, and the prefix comes later', async () => {
    const world = worldOf(['pods'], { eni: { subnetIds: [ids.pods], firstInterfaceIndex: 1 } });
    const machine = world.machine();
    const controller = startController(world);
    await world.advance(25_000);
    world.fault('CreateNetworkInterface', odd, 1);
    await world.announce(machine, asking());
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8, 15_000);
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(60_000);

    expect(changes(controller).filter((change) => /Create|Assign/.test(change))).toEqual([
      'CreateNetworkInterface 1 OddRefusal',
      'CreateNetworkInterface',
      'AssignIpv6Addresses 1',
    ]);
    expect(held(world, machine)).toHaveLength(1);
    expect(world.operatorError(machine)).toBe('');
  });

  test('goes on while IPv4 is served, and the node says so until it ends', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    const controller = startController(world);
    await world.advance(25_000);
    const end = world.fault('AssignIpv6Addresses', odd);
    await world.announce(machine, asking());
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8, 15_000);
    await world.advance(300_000);
    const { reason, why = '' } = controller.controller.status().inDeficit?.[0] ?? {};
    await world.request(machine, 9);
    await world.patch(machine, asking());
    const tries = changes(controller).filter((change) => change.startsWith('AssignIpv6')).length;
    end();
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(60_000);

    expect({ reason, why }).toEqual({
      reason: 'CallFailed',
      why: `for an IPv6 prefix in subnet ${ids.nodes} AssignIpv6Addresses answers OddRefusal: odd`,
    });
    expect(tries).toBeLessThan(20);
    expect(held(world, machine)).toHaveLength(1);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.controller.status().inDeficit).toEqual([]);
  });

  test('of IPv4 leaves the prefix', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    startController(world);
    await world.advance(25_000);
    world.fault('AssignPrivateIpAddresses', odd);
    world.fault('CreateNetworkInterface', odd);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0, 90_000);

    expect(world.pool(machine).size).toBe(0);
  });
});

describe('a node that cannot get a prefix', () => {
  test.each([
    ['its subnets have no IPv6 block', [], {}, 'NoIpv6Subnet', ids.nodes],
    ['its type has no prefixes', ['nodes'], { type: 't2.medium' }, 'Ipv6NotSupported', 't2.medium'],
  ] as const)('is served with IPv4 and says why: %s', async (_, served, change, reason, named) => {
    const world = worldOf(served, {}, change);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, asking(4));
    await world.until('addresses are offered', () => world.pool(machine).size > 4);
    await world.advance(600_000);

    const [found] = controller.controller.status().inDeficit ?? [];
    expect(found?.reason).toBe(reason);
    expect(world.operatorError(machine)).toContain(named);
    expect(world.events(machine.name).join()).toContain(reason);
    expect(changes(controller).filter((text) => text.includes('Ipv6') || / \d/.test(text))).toEqual([]);
    await world.patch(machine, asking(0));
    await world.advance(60_000);
    expect(world.operatorError(machine)).toBe('');
  });

  test('gets an interface for it alone if those that it has have no IPv6 block', async () => {
    const world = worldOf(['pods'], { eni: { subnetTags: { purpose: 'pods' } } });
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(900_000);

    expect(held(world, machine)).toHaveLength(1);
    expect(changes(controller).filter((change) => /Create|AssignI/.test(change))).toEqual([
      'CreateNetworkInterface 1',
    ]);
    expect(controller.removals).toEqual([]);
  });
});

/** What a node says whose subnet has no prefix left. */
function exhausted(action: string, subnetId: string): string {
  return `free IPv6 prefixes or reservations of the subnet, or add a subnet with an IPv6 block: for an IPv6 prefix in subnet ${subnetId} ${action} answers InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request.`;
}

describe('a subnet without a free IPv6 prefix', () => {
  test.each([
    ['an existing interface', ['nodes'], {}, {}],
    ['a new interface', ['pods'], { eni: { subnetIds: [ids.pods], firstInterfaceIndex: 1 } }, {}],
    [
      'a new interface with IPv4 prefixes',
      ['pods'],
      { eni: { subnetIds: [ids.pods], firstInterfaceIndex: 1 } },
      { 'aws-enable-prefix-delegation': 'true' },
    ],
  ] as const)('leaves IPv4, and the node says what to do: %s', async (_, served, facts, flags) => {
    const [name] = served;
    const world = worldOf(served, facts);
    const machine = world.machine();
    const open = reserveIpv6(world, name);
    const controller = startController(world, { flags });
    await world.announce(machine, asking());
    await world.until('8 addresses are offered', () => world.pool(machine).size >= 8, 60_000);
    await world.advance(600_000);
    const [found] = controller.controller.status().inDeficit ?? [];
    const said = world.operatorError(machine);
    const tries = changes(controller).length;
    open();
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(60_000);

    expect(found).toMatchObject({
      reason: 'Ipv6PrefixesExhausted',
      why: exhausted('AssignIpv6Addresses', ids[name]),
    });
    expect(said).toBe(found?.why);
    expect(world.events(machine.name).join()).toContain('Ipv6PrefixesExhausted');
    expect(tries).toBeLessThan(40);
    expect(held(world, machine)).toHaveLength(1);
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });

  test.each([
    ['where the interface of the node is', ['nodes', 'pods'], 'nodes', {}],
    ['where a new interface would be', ['pods', 'morePods'], 'pods', podSubnets],
  ] as const)('is no obstacle if another one has some: %s', async (_, served, full, facts) => {
    const world = worldOf(served, facts);
    const machine = world.machine();
    reserveIpv6(world, full);
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0, 120_000);
    await world.advance(600_000);

    expect(held(world, machine)).toHaveLength(1);
    expect(shown(world, machine)).toEqual(held(world, machine));
    expect(changes(controller).filter((change) => change === 'CreateNetworkInterface 1')).toHaveLength(1);
    expect(world.operatorError(machine)).toBe('');
    expect(world.broken()).toEqual([]);
  });

  test('takes no IPv4 prefixes from nodes once it is known', async () => {
    const facts = { eni: { subnetIds: [ids.pods], firstInterfaceIndex: 1 } };
    const world = worldOf(['pods'], facts, { count: 6 });
    reserveIpv6(world, 'pods');
    const controller = startController(world, { flags: { 'aws-enable-prefix-delegation': 'true' } });
    const [first, ...others] = world.machines;
    await world.announce(first ?? world.machine(), asking());
    await world.advance(180_000);
    for (const machine of others) {
      await world.announce(machine, asking());
      await world.advance(60_000);
    }

    const made = controller.changes.filter(
      ({ action, result }) => action === 'CreateNetworkInterface' && result === 'OK',
    );
    expect(made.map(({ input }) => input['Ipv4PrefixCount'])).toEqual([undefined, 1, 1, 1, 1, 1]);
  });
});

const noRight = {
  path: /customresourcedefinitions/,
  effect: {
    kind: 'refuse',
    failure: { code: 403, reason: 'Forbidden', message: 'may not get it' },
  },
} as const;

describe('a leader that may not read which fields the API server keeps', () => {
  test('leaves the IPv6 prefix that the status shows', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    const first = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length === 1);
    const before = shown(world, machine);
    first.stop();
    world.kubernetesFault(noRight);
    const second = startController(world, { identity: 'headwater-1' });
    await world.request(machine, 9);
    await world.until('9 addresses are offered', () => world.pool(machine).size === 9);
    await world.advance(600_000);

    expect(shown(world, machine)).toEqual(before);
    expect(held(world, machine)).toEqual(before);
    expect(second.removals).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
