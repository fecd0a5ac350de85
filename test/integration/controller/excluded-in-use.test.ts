import { describe, expect, test } from '@jest/globals';
import {
  type JsonObject,
  objectAt,
  textAt,
  textMapAt,
  textsAt,
} from '../../../src/simulator/workload/json.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { EniOptions, NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

type Protocol = 'crd-allocator' | 'multi-pool';

interface Cause {
  readonly what: string;
  readonly before?: EniOptions;
  /** `second` is the interface at index 1. */
  readonly exclude: (world: World, machine: NodeFacts, second: NetworkInterface) => unknown;
  /** What becomes unfit on an interface. */
  readonly unfit: (item: NetworkInterface) => readonly string[];
}

const secondOnly = ({ deviceIndex, addresses, primaryAddress }: NetworkInterface): readonly string[] =>
  deviceIndex === 1 ? addresses.filter((address) => address !== primaryAddress) : [];

const causes: readonly Cause[] = [
  {
    what: 'exclude-interface-tags set later',
    before: { excludeInterfaceTags: { role: 'storage' } },
    exclude: (world, _machine, second) =>
      world.cluster.ec2.network.put('interfaces', { ...second, tags: { ...second.tags, role: 'storage' } }),
    unfit: secondOnly,
  },
  {
    what: 'first-interface-index raised',
    exclude: (world, machine) => world.patch(machine, { spec: { eni: { 'first-interface-index': 2 } } }),
    unfit: secondOnly,
  },
  {
    what: 'use-primary-address turned off',
    before: { usePrimaryAddress: true },
    exclude: (world, machine) => world.patch(machine, { spec: { eni: { 'use-primary-address': false } } }),
    unfit: ({ primaryAddress }) => [primaryAddress],
  },
  {
    what: 'an interface type that is not for pods',
    exclude: (world, _machine, second) =>
      world.cluster.ec2.network.put('interfaces', { ...second, type: 'trunk' }),
    unfit: secondOnly,
  },
];

/** Acts as the agent: reports what it uses, and agrees to release the rest. */
class Agent {
  readonly #world: World;
  readonly #machine: NodeFacts;
  readonly #protocol: Protocol;
  readonly #used: readonly string[];

  constructor(world: World, machine: NodeFacts, protocol: Protocol, used: readonly string[]) {
    this.#world = world;
    this.#machine = machine;
    this.#protocol = protocol;
    this.#used = used;
  }

  async report(): Promise<void> {
    const { name } = this.#machine;
    if (this.#protocol === 'multi-pool') {
      const requested = [{ pool: 'default', needed: { 'ipv4-addrs': this.#used.length + 8 } }];
      const allocated = [{ pool: 'default', cidrs: this.#used.map((address) => `${address}/32`) }];
      await this.#world.patch({ name }, { spec: { ipam: { pools: { requested, allocated } } } });
      return;
    }
    const pool = this.#world.pool({ name });
    const used = Object.fromEntries(
      this.#used.map((address) => [address, { owner: 'default/pod', resource: pool.get(address) ?? '' }]),
    );
    await this.#world.patchStatus({ name }, { ipam: { used } });
  }

  async answer(): Promise<void> {
    const { name } = this.#machine;
    const asked = textMapAt(this.#world.ciliumNode({ name }), 'status', 'ipam', 'release-ips');
    const states = [...asked].flatMap(([address, state]): [string, string | null][] => {
      if (state === 'released' && !this.#world.pool({ name }).has(address)) return [[address, null]];
      const answer = this.#used.includes(address) ? 'do-not-release' : 'ready-for-release';
      return state === 'marked-for-release' ? [[address, answer]] : [];
    });
    const answers = Object.fromEntries(states) as JsonObject;
    if (states.length > 0) await this.#world.patchStatus({ name }, { ipam: { 'release-ips': answers } });
  }
}

/** Addresses in the status. */
function shownIn(object: JsonObject | undefined): ReadonlySet<string> {
  const enis = Object.values(objectAt(object, 'status', 'eni', 'enis'));
  return new Set(enis.flatMap((eni) => textsAt(eni, 'addresses')));
}

const offers = (object: JsonObject | undefined): ReadonlySet<string> =>
  new Set(Object.keys(objectAt(object, 'spec', 'ipam', 'pool')));

function warningsOf(controller: WorldController | undefined): readonly string[] {
  const { warnings = [] } = controller?.controller.status() ?? {};
  return warnings.map(({ reason }) => reason);
}

describe.each(causes)(
  'addresses in use that an exclusion retires: $what',
  ({ before: eni = {}, exclude, unfit }) => {
    describe.each<Protocol>(['crd-allocator', 'multi-pool'])('of an agent of %s', (protocol) => {
      test.each(['steady', 'take-over', 'restart'] as const)('stay offered: %s', async (when) => {
        const world = new World({
          cloud: testCloud({
            instances: [instance({ type: 'm5.2xlarge', interfaces: [{ deviceIndex: 1, addresses: 6 }] })],
          }),
          configure: () => ({ protocol, eni, ipam: { minAllocate: 10 } }),
        });
        const machine = world.machine();
        const start = (identity: string): WorldController =>
          startController(world, { identity, flags: { 'resync-interval': '60s' } });
        const first = start('headwater-0');
        await world.announce(machine);
        await world.advance(60_000);
        const pool = world.pool(machine);
        const ofUnfit = world
          .interfaces(machine)
          .flatMap(unfit)
          .filter((address) => pool.has(address));
        const used = ofUnfit.slice(0, Math.ceil(ofUnfit.length / 2));
        const idle = ofUnfit.filter((address) => !used.includes(address));
        const agent = new Agent(world, machine, protocol, used);
        await agent.report();
        await world.advance(30_000);
        const [, second] = world.interfaces(machine);
        if (second === undefined) throw new Error('there is no second interface');
        const from = world.history.of(machine.name).length;

        // The previous leader did not have this exclusion.
        if (when === 'take-over') first.kill();
        await exclude(world, machine, second);
        const controllers = when === 'take-over' ? [first, start('headwater-1')] : [first];
        for (let step = 0; step < 120; step++) {
          await world.advance(10_000);
          await agent.answer();
          if (when !== 'restart' || (step !== 12 && step !== 24)) continue;
          controllers.at(-1)?.kill();
          controllers.push(start(`headwater-${step}`));
        }

        const states = world.history
          .of(machine.name)
          .slice(from)
          .map(({ object }) => object);
        const after = world.ciliumNode(machine);
        const unassigned = controllers
          .flatMap(({ calls }) => calls)
          .filter(({ action }) => action.startsWith('Unassign'));
        const held = world.interfaces(machine).flatMap(({ addresses }) => addresses);
        const isKept = (address: string): boolean =>
          states.every((object) => offers(object).has(address) && shownIn(object).has(address));
        expect([used.length, idle.length].every((count) => count > 0)).toBe(true);
        expect(used.filter((address) => !isKept(address))).toEqual([]);
        expect(idle.filter((address) => offers(after).has(address) || shownIn(after).has(address))).toEqual(
          [],
        );
        expect(
          world
            .interfaces(machine)
            .flatMap(unfit)
            .filter((each) => offers(after).has(each) && !used.includes(each)),
        ).toEqual([]);
        expect(idle.filter((address) => !held.includes(address))).toEqual([]);
        expect(unassigned).toEqual([]);
        expect(offers(after).size).toBeGreaterThanOrEqual(used.length + 8);
        expect(textMapAt(after, 'status', 'ipam', 'release-ips')).toEqual(new Map());
        expect(warningsOf(controllers.at(-1))).toContain('ExcludedAddressesInUse');
        expect(world.broken()).toEqual([]);
      });
    });
  },
);

describe.each<{ what: string; flags: Readonly<Record<string, string>> }>([
  {
    what: 'subnets, which only decides where new addresses come from',
    flags: { 'subnet-ids-filter': ids.pods },
  },
  { what: 'instances, which are then unmanaged', flags: { 'instance-tags-filter': 'role=worker' } },
])('a filter of $what', ({ flags }) => {
  test.each<Protocol>(['crd-allocator', 'multi-pool'])(
    'takes nothing from pool or status of an agent of %s, used or idle',
    async (protocol) => {
      const world = new World({ configure: () => ({ protocol }) });
      const machine = world.machine();
      const before = startController(world);
      await world.announce(machine);
      await world.advance(60_000);
      const pool = [...world.pool(machine).keys()];
      await new Agent(world, machine, protocol, pool.slice(0, 4)).report();
      await world.advance(30_000);
      const from = world.history.of(machine.name).length;

      before.kill();
      const after = startController(world, { identity: 'headwater-1', flags });
      await world.advance(900_000);

      const states = [...world.history.of(machine.name).slice(from), { object: world.ciliumNode(machine) }];
      const isKept = (address: string): boolean =>
        states.every(({ object }) => offers(object).has(address) && shownIn(object).has(address));
      expect(pool).toHaveLength(8);
      expect(pool.filter((address) => !isKept(address))).toEqual([]);
      expect(after.calls.filter(({ action }) => action.startsWith('Unassign'))).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});

interface Shrinking {
  readonly what: string;
  /** Each controller reads a type once. */
  readonly when: readonly ('steady' | 'take-over' | 'restart')[];
  readonly shrink: (world: World, machine: NodeFacts) => unknown;
  /** The limits that a controller reads when it starts after they shrank. */
  readonly tamper?: (action: string, output: object) => object;
}

const shrinkings: readonly Shrinking[] = [
  {
    what: 'max-allocate',
    when: ['steady', 'take-over', 'restart'],
    shrink: (world, machine) => world.patch(machine, { spec: { ipam: { 'max-allocate': 5 } } }),
  },
  {
    what: 'what the type of the instance can hold',
    when: ['take-over', 'restart'],
    shrink: () => undefined,
    tamper: (action, output) =>
      action === 'DescribeInstanceTypes' ? { ...output, InstanceTypes: [smallType] } : output,
  },
];

const smallType = {
  InstanceType: 'm5.large',
  Hypervisor: 'nitro',
  NetworkInfo: { MaximumNetworkInterfaces: 1, Ipv4AddressesPerInterface: 6 },
};

describe.each(shrinkings)(
  'addresses in use beyond a limit that is lowered: $what',
  ({ when: times, shrink, tamper }) => {
    describe.each<Protocol>(['crd-allocator', 'multi-pool'])('of an agent of %s', (protocol) => {
      test.each(times)('stay offered: %s', async (when) => {
        const world = new World({ configure: () => ({ protocol, ipam: { preAllocate: 8 } }) });
        const machine = world.machine();
        let isSmall = false;
        const flags = {
          'resync-interval': '60s',
          'aws-release-excess-ips': 'true',
          'excess-ip-release-delay': '60s',
        };
        const start = (identity: string): WorldController =>
          startController(world, {
            identity,
            flags,
            tamper: (action, output) => (isSmall && tamper ? tamper(action, output) : output),
          });
        const first = start('headwater-0');
        await world.announce(machine);
        await world.advance(60_000);
        const used = [...world.pool(machine).keys()].slice(0, 6);
        const agent = new Agent(world, machine, protocol, used);
        await agent.report();
        await world.advance(60_000);
        const before = world.pool(machine).size;
        const from = world.history.of(machine.name).length;

        const isReadAnew = when !== 'steady' || shrink.length === 0;
        if (isReadAnew) first.kill();
        isSmall = true;
        await shrink(world, machine);
        const controllers = when === 'steady' ? [first] : [first, start('headwater-1')];
        for (let step = 0; step < 120; step++) {
          await world.advance(10_000);
          await agent.answer();
          if (when !== 'restart' || (step !== 12 && step !== 24)) continue;
          controllers.at(-1)?.kill();
          controllers.push(start(`headwater-${step}`));
        }

        const states = world.history.of(machine.name).slice(from);
        const isKept = (address: string): boolean =>
          states.every(({ object }) => offers(object).has(address) && shownIn(object).has(address));
        const after = world.ciliumNode(machine);
        expect(before).toBe(14);
        expect(used.filter((address) => !isKept(address))).toEqual([]);
        expect([...offers(after)].toSorted()).toEqual(used.toSorted());
        expect(world.held(machine).toSorted()).toEqual(used.toSorted());
        expect(textMapAt(after, 'status', 'ipam', 'release-ips')).toEqual(new Map());
        expect(world.broken()).toEqual([]);
      });
    });
  },
);

test('a status that is wiped while an address is being released is complete again before anything is withdrawn', async () => {
  const world = new World({
    configure: () => ({ eni: { firstInterfaceIndex: 0 }, ipam: { minAllocate: 20 } }),
  });
  const machine = world.machine();
  startController(world);
  await world.announce(machine);
  await world.advance(60_000);
  const second = world.interfaces(machine)[1]?.id ?? '';
  const [idle = ''] = [...world.pool(machine)].find(([, resource]) => resource !== second) ?? [];
  const staying = [...world.pool(machine)].filter(([, resource]) => resource === second);
  const used = Object.fromEntries(
    staying.map(([address, resource]) => [address, { owner: 'default/pod', resource }]),
  );
  await world.patch(machine, { spec: { eni: { 'first-interface-index': 1 } } });
  await world.patchStatus(machine, { ipam: { used } });
  await world.until('it is asked', () => askedFor(world, machine).has(idle), 300_000);

  // The withdrawal waits for the API server.
  const admit = world.refuse(500, 'PATCH', /ciliumnodes\/[^/]+$/);
  await world.patchStatus(machine, { ipam: { 'release-ips': { [idle]: 'ready-for-release' } } });
  await world.advance(2_000);
  const from = world.history.of(machine.name).length;
  await world.patchStatus(machine, { eni: null });
  admit();
  await world.advance(60_000);

  // The first of them belongs to another client.
  const [wiped, ...ours] = world.history.of(machine.name).slice(from);
  const lacking = ours.map(({ object }) => {
    const enis = objectAt(object, 'status', 'eni', 'enis');
    const pool = Object.values(objectAt(object, 'spec', 'ipam', 'pool'));
    return pool.filter((entry) => !Object.hasOwn(enis, textAt(entry, 'resource'))).length;
  });
  expect(objectAt(wiped?.object, 'status', 'eni', 'enis')).toEqual({});
  expect(world.pool(machine).has(idle)).toBe(false);
  expect(lacking.length).toBeGreaterThan(1);
  expect(lacking.every((count) => count === 0)).toBe(true);
});

function askedFor(world: World, machine: NodeFacts): ReadonlyMap<string, string> {
  return textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips');
}
