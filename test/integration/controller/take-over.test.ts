// Headwater takes CiliumNodes over as cilium-operator left them.
import { describe, expect, test } from '@jest/globals';
import { type JsonObject, objectAt, textMapAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts, Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { StandInOperator } from '../../support/stand-in-operator.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { emptyAnswers } from '../../support/torn-answers.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const flags = {
  'resync-interval': '60s',
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '60s',
};

const protocols: readonly Protocol[] = ['crd-allocator', 'multi-pool'];

interface Taken {
  readonly world: World;
  /** By node, what its agent uses. */
  readonly used: ReadonlyMap<string, readonly string[]>;
  /** What agents agreed to release. */
  readonly givenUp: ReadonlySet<string>;
}

/** Four nodes of 12 addresses, of which agents use 3: more than their watermarks keep, in the middle of a release. */
async function leftByOperator(protocol: Protocol): Promise<Taken> {
  const world = new World({
    cloud: testCloud({
      instances: [
        instance({ type: 'm5.2xlarge', count: 4, interfaces: [{ deviceIndex: 1, addresses: 12 }] }),
      ],
    }),
    configure: () => ({ protocol, eni: { firstInterfaceIndex: 1 }, ipam: { preAllocate: 5 } }),
  });
  for (const machine of world.machines) await world.announce(machine);
  const operator = new StandInOperator(world, { describes: false });
  await operator.resync();
  operator.stop();
  const used = new Map<string, readonly string[]>();
  for (const machine of world.machines) used.set(machine.name, await report(world, machine, protocol));
  const givenUp = world.machines.flatMap((machine) =>
    [...textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')]
      .filter(([, state]) => state === 'ready-for-release')
      .map(([address]) => address),
  );
  return { world, used, givenUp: new Set(givenUp) };
}

/** Reports for the agent: it uses three addresses, and the handshake is in this state. */
async function report(world: World, machine: NodeFacts, protocol: Protocol): Promise<readonly string[]> {
  const pool = [...world.pool(machine)];
  const used = pool.slice(0, 3);
  const addresses = used.map(([address]) => address);
  if (protocol === 'multi-pool') {
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': used.length + 5 } }];
    const allocated = [{ pool: 'default', cidrs: addresses.map((address) => `${address}/32`) }];
    await world.patch(machine, { spec: { ipam: { pools: { requested, allocated } } } });
    return addresses;
  }
  const [marked, ready, refused] = pool.slice(3).map(([address]) => address);
  await world.patchStatus(machine, {
    ipam: {
      used: Object.fromEntries(
        used.map(([address, resource]) => [address, { owner: 'default/pod', resource }]),
      ),
      'release-ips': {
        [marked ?? '']: 'marked-for-release',
        [ready ?? '']: 'ready-for-release',
        [refused ?? '']: 'do-not-release',
        // Unassigned, and removed from the pool by a resync since.
        '10.0.15.250': 'released',
      },
    },
  });
  return addresses;
}

/** By node, what pool and status show. */
function shownBy(world: World): readonly Shown[] {
  return world.machines.map((machine) => ({
    pool: [...world.pool(machine).keys()],
    status: Object.values(world.enis(machine)).flatMap((eni) => textsAt(eni, 'addresses')),
  }));
}

interface Shown {
  readonly pool: readonly string[];
  readonly status: readonly string[];
}

/** Without what their agents agreed to release. */
function without(shown: readonly Shown[], givenUp: ReadonlySet<string>): readonly Shown[] {
  const isKept = (address: string): boolean => !givenUp.has(address);
  return shown.map(({ pool, status }) => ({ pool: pool.filter(isKept), status: status.filter(isKept) }));
}

type Tamper = (action: string, output: object) => object;

interface Blind {
  readonly what: string;
  readonly tamper: Tamper;
  /** Whether an address that its agent agreed to release can be withdrawn: the cloud shows the instance. */
  readonly serves?: boolean;
}

const blinds: readonly Blind[] = [
  { what: 'comes from another region', tamper: (action, output) => emptyAnswers[action] ?? output },
  {
    what: 'shows instances without interfaces',
    tamper: (action, output) => (action === 'DescribeNetworkInterfaces' ? { NetworkInterfaces: [] } : output),
  },
  {
    what: 'shows only primary interfaces',
    serves: true,
    tamper: (action, output) => {
      const { NetworkInterfaces: all } = output as {
        readonly NetworkInterfaces?: readonly { readonly Attachment?: { readonly DeviceIndex?: number } }[];
      };
      const shown = all?.filter(({ Attachment }) => Attachment?.DeviceIndex === 0);
      return action === 'DescribeNetworkInterfaces' ? { NetworkInterfaces: shown } : output;
    },
  },
];

describe.each(protocols)('a CiliumNode that cilium-operator left beside an agent of %s', (protocol) => {
  test.each(blinds)(
    'loses nothing while the answer of the cloud $what, and no address in use afterwards',
    async ({ tamper, serves }) => {
      const { world, used, givenUp } = await leftByOperator(protocol);
      const before = shownBy(world);
      let isBlind = true;

      const controller = startController(world, {
        flags,
        tamper: (action, output) => (isBlind ? tamper(action, output) : output),
      });
      await world.advance(3_600_000);
      const blind = { shown: shownBy(world), changes: controller.changes.length };
      isBlind = false;
      await world.advance(1_800_000);

      const lost = world.machines.flatMap(({ name }) =>
        (used.get(name) ?? []).filter((address) =>
          world.history.of(name).some(({ object }) => {
            const enis = Object.values(objectAt(object, 'status', 'eni', 'enis'));
            const isOffered = Object.hasOwn(objectAt(object, 'spec', 'ipam', 'pool'), address);
            return (
              isTakenOver(object) &&
              !(isOffered && enis.some((eni) => textsAt(eni, 'addresses').includes(address)))
            );
          }),
        ),
      );
      expect(before.map(({ pool }) => pool.length)).toEqual([12, 12, 12, 12]);
      const leaving = serves === true ? givenUp : new Set<string>();
      expect(givenUp.size).toBe(protocol === 'multi-pool' ? 0 : 4);
      expect(blind).toEqual({ shown: without(before, leaving), changes: 0 });
      expect(lost).toEqual([]);
      expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(['', '', '', '']);
      expect(world.broken()).toEqual([]);
    },
  );
});

/** Whether cilium-operator has written both of its halves. */
function isTakenOver(object: Parameters<typeof textMapAt>[0]): boolean {
  return Object.keys(objectAt(object, 'spec', 'ipam', 'pool')).length > 0;
}

describe.each(protocols)('what Headwater does not write in the status of an agent of %s', (protocol) => {
  const others = { 'availability-zone': 'us-west-1a' };

  test('stays byte for byte at the takeover, and while its node grows', async () => {
    const world = new World({
      cloud: testCloud({
        instances: [
          instance({
            type: 'm5.2xlarge',
            count: 1,
            ipv6Prefixes: 1,
            interfaces: [{ deviceIndex: 1, addresses: 12, ipv6Prefixes: 1 }],
          }),
        ],
        vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block: '2600:1f14:100::/56' }],
        subnets: [{ ...subnets.nodes, ipv6Block: '2600:1f14:100::/64' }, subnets.pods, subnets.morePods],
      }),
      configure: () => ({ protocol, eni: { firstInterfaceIndex: 1 }, ipam: { preAllocate: 12 } }),
    });
    const [machine] = world.machines;
    if (machine === undefined) throw new Error('no machine');
    await world.announce(machine);
    const operator = new StandInOperator(world, { describes: false });
    await operator.resync();
    operator.stop();
    const known = world.interfaces(machine).map(({ id }) => id);
    const written = world
      .interfaces(machine)
      .map(({ id, ipv6Prefixes }) => [id, { ...others, 'ipv6-prefixes': ipv6Prefixes }] as const);
    await world.patchStatus(machine, {
      eni: { enis: Object.fromEntries(known.map((id) => [id, others])) },
    });
    const request = (count: number): Promise<unknown> => {
      const requested = [{ pool: 'default', needed: { 'ipv4-addrs': count } }];
      return protocol === 'multi-pool'
        ? world.patch(machine, { spec: { ipam: { pools: { requested, allocated: [] } } } })
        : world.patch(machine, { spec: { ipam: { 'pre-allocate': count } } });
    };
    await request(12);
    const before = world.ciliumNode(machine) ?? {};

    startController(world, { flags });
    await world.advance(600_000);
    const taken = world.ciliumNode(machine) ?? {};
    await request(20);
    await world.advance(60_000);

    expect([taken['spec'], taken['status']]).toEqual([before['spec'], before['status']]);
    const enis = world.enis(machine);
    const addresses = Object.values(enis).flatMap((eni) => textsAt(eni, 'addresses'));
    expect(addresses.length).toBeGreaterThanOrEqual(20);
    for (const [id, members] of written) expect(enis[id]).toMatchObject(members);
    expect(
      Object.keys(enis)
        .filter((id) => !known.includes(id))
        .flatMap((id) => textsAt(enis[id], 'ipv6-prefixes')),
    ).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('nodes of a cilium-operator with IPv6', () => {
  test('show the same bytes of it under Headwater, and under the operator again', async () => {
    const held = { addresses: 8, ipv6Prefixes: 1 };
    const world = new World({
      cloud: testCloud({
        instances: [instance({ count: 3, interfaces: [{ ...held, subnet: 'pods', deviceIndex: 1 }] })],
        vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block: '2600:1f14:100::/56' }],
        subnets: [subnets.nodes, { ...subnets.pods, ipv6Block: '2600:1f14:100::/64' }, subnets.morePods],
      }),
      configure: () => ({ protocol: 'multi-pool', ipv6: true, eni: { firstInterfaceIndex: 1 } }),
    });
    const asked = (ipv4: number): JsonObject => ({
      requested: [{ pool: 'default', needed: { 'ipv4-addrs': ipv4, 'ipv6-addrs': 9 } }],
    });
    const request = async (ipv4: number): Promise<void> => {
      for (const machine of world.machines)
        await world.patch(machine, { spec: { ipam: { pools: asked(ipv4) } } });
    };
    for (const machine of world.machines) await world.announce(machine);
    await request(8);
    const operator = new StandInOperator(world, { describes: false });
    await operator.resync();
    const before = world.machines.map((machine) => ipv6In(world.ciliumNode(machine)));
    const versions = world.machines.map(({ name }) => world.history.of(name).length);

    const controller = startController(world);
    await world.advance(60_000);
    await request(14);
    await world.until('each has 14 addresses', () =>
      world.machines.every((machine) => world.pool(machine).size === 14),
    );
    controller.stop();
    await world.advance(60_000);
    await operator.resync();

    const since = world.machines.flatMap(({ name }, index) =>
      world.history
        .of(name)
        .slice(versions[index])
        .map(({ object }) => [index, ipv6In(object)] as const),
    );
    expect(before.map((text) => text.match(/\/80/g)?.length)).toEqual([1, 1, 1]);
    expect(since.length).toBeGreaterThan(5);
    expect(since.filter(([index, text]) => text !== before[index])).toEqual([]);
    expect(controller.changes.filter(({ action }) => action.includes('Ipv6'))).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

/** What the interfaces of a CiliumNode show of IPv6, as one text. */
function ipv6In(node: JsonObject | undefined): string {
  const enis = Object.entries(objectAt(node, 'status', 'eni', 'enis'));
  const shown = enis.map(([id, eni]) => [id, textsAt(eni, 'ipv6-prefixes')] as const);
  return JSON.stringify(shown.filter(([, prefixes]) => prefixes.length > 0));
}
