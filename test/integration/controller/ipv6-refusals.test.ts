// What a node gets and says while the cloud, or the API server, does not take its IPv6 prefix.
import { describe, expect, test } from '@jest/globals';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
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

/** The CRD of CiliumNodes as Cilium 1.19 has it. */
function crdWithoutIpv6(): JsonObject {
  const { openAPIV3Schema } = ciliumNodeCrd.spec.versions[0].schema;
  const text = JSON.stringify(openAPIV3Schema, (name, value: unknown) =>
    name === 'ipv6-prefixes' ? undefined : value,
  );
  return JSON.parse(text) as JsonObject;
}

const dropped =
  'install the CRD of CiliumNodes of Cilium 1.20 or newer, allow Headwater to read it, and restart Headwater: as far as Headwater knows, the API server drops IPv6 prefixes from a status, and its agent asks for IPv6 and does not get ready without an IPv6 prefix';

describe('an API server that drops IPv6 prefixes', () => {
  test.each([
    ['its CRD has no field for them', true],
    ['nobody can say which fields its CRD has', false],
  ])('leaves a node without one, which says why: %s', async (_, isRead) => {
    const world = worldOf(['nodes'], {}, { count: 2 });
    if (isRead) await world.installSchema(crdWithoutIpv6());
    else world.kubernetesFault(noRight);
    const [machine, other] = [world.machine(0), world.machine(1)];
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.announce(other);
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
    await world.advance(60_000);
    const writes = controller.publications.length;
    await world.advance(1_800_000);

    expect(controller.controller.status().inDeficit).toMatchObject([
      { reason: 'Ipv6NotSupported', why: dropped },
    ]);
    expect(world.operatorError(machine)).toBe(dropped);
    expect(world.operatorError(other)).toBe('');
    expect(world.events(machine.name).filter((event) => event.includes('Ipv6NotSupported'))).toEqual([
      `Node Ipv6NotSupported: ${dropped}`,
      `CiliumNode Ipv6NotSupported: ${dropped}`,
    ]);
    expect(controller.warnings().filter((text) => text.startsWith('node '))).toEqual([
      'node cannot be satisfied',
    ]);
    expect(changes(controller).filter((change) => change.includes('Ipv6') || / \d/.test(change))).toEqual([]);
    expect(controller.publications).toHaveLength(writes);
    expect(world.broken()).toEqual([]);
  });

  test('is no trouble for a node whose agent does not ask', async () => {
    const world = worldOf(['nodes']);
    await world.installSchema(crdWithoutIpv6());
    const controller = startController(world);
    await world.announce(world.machine(), asking(0));
    await world.advance(600_000);

    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(controller.warnings()).toEqual([]);
  });
});

/** The cloud shows every interface with these IPv6 prefixes, too. */
function showing(prefixes: readonly string[]): (action: string, output: object) => object {
  return (action, output) => {
    if (action !== 'DescribeNetworkInterfaces') return output;
    const { NetworkInterfaces: all = [] } = output as {
      readonly NetworkInterfaces?: readonly { readonly Ipv6Prefixes?: readonly object[] }[];
    };
    const shownToo = prefixes.map((Ipv6Prefix) => ({ Ipv6Prefix }));
    const NetworkInterfaces = all.map((item) => ({
      ...item,
      Ipv6Prefixes: [...(item.Ipv6Prefixes ?? []), ...shownToo],
    }));
    return { ...output, NetworkInterfaces };
  };
}

describe('an interface with an IPv6 prefix that no agent can use', () => {
  const broken = ['2600:1f14:100::/64', 'fd00', ''];
  const complaint = /^correct what interface eni-[0-9a-f]+ has of IPv6, .*: ".*" is not an IPv6 \/80 prefix$/;

  test.each(broken)('blocks its node, which says so and gets no second one: %j', async (prefix) => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    let isBroken = true;
    const tamper = showing([prefix]);
    const controller = startController(world, {
      flags: { 'resync-interval': '60s' },
      tamper: (action, output) => (isBroken ? tamper(action, output) : output),
    });
    await world.announce(machine, asking());
    await world.until('8 addresses are offered', () => world.pool(machine).size === 8);
    await world.advance(600_000);
    const { inDeficit, warnings } = controller.controller.status();
    const said = world.operatorError(machine);
    const tries = changes(controller).filter((change) => change.startsWith('AssignIpv6'));
    isBroken = false;
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(60_000);

    expect(inDeficit).toMatchObject([{ reason: 'InterfaceUnreadable', why: said }]);
    expect(warnings).toEqual([]);
    expect(said).toMatch(complaint);
    expect(world.events(machine.name).join()).toContain('InterfaceUnreadable');
    expect(tries).toEqual([]);
    expect(held(world, machine)).toHaveLength(1);
    expect(world.operatorError(machine)).toBe('');
  });

  test('is a warning where the node has another one', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    let isBroken = false;
    const tamper = showing(broken);
    const controller = startController(world, {
      flags: { 'resync-interval': '60s' },
      tamper: (action, output) => (isBroken ? tamper(action, output) : output),
    });
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    isBroken = true;
    await world.advance(600_000);

    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(controller.controller.status().warnings).toMatchObject([{ reason: 'InterfaceUnreadable' }]);
    expect(shown(world, machine)).toEqual(held(world, machine));
    expect(held(world, machine)).toHaveLength(1);
  });
});

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

    expect(second.controller.status().inDeficit).toEqual([]);
    expect(shown(world, machine)).toEqual(before);
    expect(held(world, machine)).toEqual(before);
    expect(second.removals).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
