import { describe, expect, test } from '@jest/globals';
import type { EniOptions, IpamWatermarks } from '../../../src/simulator/workload/node-facts.ts';
import { detachedInterfaces, standings } from '../../../src/simulator/cluster/invariants.ts';
import { numberAt } from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

interface Row {
  readonly name: string;
  readonly type?: string;
  readonly ipam?: IpamWatermarks;
  readonly eni?: EniOptions;
  readonly flags?: Readonly<Record<string, string>>;
  /** How many addresses of the pool are used after the node was served for the first time. */
  readonly used?: number;
  /** Addresses that the node is offered at the end. */
  readonly offered: number;
  /** `spec.ipam` at the end; unchanged by default. */
  readonly preAllocate?: number;
}

// An m5.large holds 3 interfaces with 9 pod addresses each, a t3.nano 2 with 1 each.
const rows: readonly Row[] = [
  { name: 'nothing is set', offered: 8, preAllocate: 8 },
  { name: 'nothing is set, addresses are used', used: 3, offered: 11, preAllocate: 8 },
  { name: 'pre-allocate', ipam: { preAllocate: 3 }, offered: 3, preAllocate: 3 },
  { name: 'pre-allocate, addresses are used', ipam: { preAllocate: 3 }, used: 3, offered: 6, preAllocate: 3 },
  { name: 'pre-allocate over several interfaces', ipam: { preAllocate: 25 }, offered: 25, preAllocate: 25 },
  { name: 'min-allocate', ipam: { minAllocate: 15 }, offered: 15, preAllocate: 8 },
  { name: 'min-allocate below use', ipam: { minAllocate: 10 }, used: 5, offered: 13, preAllocate: 8 },
  {
    name: 'min-allocate below pre-allocate',
    ipam: { minAllocate: 4, preAllocate: 6 },
    offered: 6,
    preAllocate: 6,
  },
  { name: 'max-allocate', ipam: { maxAllocate: 5 }, offered: 5, preAllocate: 8 },
  {
    name: 'max-allocate, addresses are used',
    ipam: { maxAllocate: 10 },
    used: 8,
    offered: 10,
    preAllocate: 8,
  },
  {
    name: 'max-allocate below min-allocate',
    ipam: { maxAllocate: 6, minAllocate: 12 },
    offered: 6,
    preAllocate: 8,
  },
  {
    name: 'max-allocate beyond the instance',
    ipam: { maxAllocate: 100 },
    offered: 8,
    preAllocate: 8,
  },
  { name: 'min-allocate beyond the instance', ipam: { minAllocate: 60 }, offered: 27, preAllocate: 8 },
  { name: 'max-above-watermark', ipam: { maxAboveWatermark: 4 }, offered: 12, preAllocate: 8 },
  {
    name: 'max-above-watermark under max-allocate',
    ipam: { maxAboveWatermark: 40, maxAllocate: 10 },
    offered: 10,
    preAllocate: 8,
  },
  { name: 'first-interface-index', eni: { firstInterfaceIndex: 1 }, offered: 8, preAllocate: 8 },
  {
    name: 'first-interface-index leaves one interface fewer',
    eni: { firstInterfaceIndex: 1 },
    ipam: { minAllocate: 60 },
    offered: 18,
    preAllocate: 8,
  },
  { name: 'an instance that cannot hold 8', type: 't3.nano', offered: 2, preAllocate: 2 },
  {
    name: 'an instance that cannot hold 8 beside its own interface',
    type: 't3.nano',
    eni: { firstInterfaceIndex: 1 },
    offered: 1,
    preAllocate: 1,
  },
  { name: 'use-primary-address', eni: { usePrimaryAddress: true }, offered: 8, preAllocate: 8 },
  {
    name: 'use-primary-address adds one address on each interface',
    type: 't3.nano',
    eni: { usePrimaryAddress: true },
    ipam: { minAllocate: 60 },
    offered: 4,
    preAllocate: 2,
  },
  {
    name: 'aws-use-primary-address of Headwater itself',
    flags: { 'aws-use-primary-address': 'true' },
    ipam: { preAllocate: 5 },
    offered: 5,
    preAllocate: 5,
  },
];

interface RequestRow {
  readonly name: string;
  readonly ipam?: IpamWatermarks;
  /** Addresses by pool, as the agent requests them after the node was served for the first time. */
  readonly requested: Readonly<Record<string, number>>;
  /** Addresses in use according to an agent of the other protocol. */
  readonly used?: number;
  readonly offered: number;
}

const requests: readonly RequestRow[] = [
  { name: 'nothing but the free ones', requested: { default: 8 }, offered: 8 },
  { name: 'nothing at all', requested: { default: 0 }, offered: 8 },
  { name: 'addresses in use besides the free ones', requested: { default: 20 }, offered: 20 },
  { name: 'fewer free ones', ipam: { preAllocate: 3 }, requested: { default: 10 }, offered: 10 },
  { name: 'more than the instance holds', requested: { default: 60 }, offered: 27 },
  { name: 'more than max-allocate', ipam: { maxAllocate: 10 }, requested: { default: 20 }, offered: 10 },
  { name: 'less than min-allocate', ipam: { minAllocate: 12 }, requested: { default: 9 }, offered: 12 },
  { name: 'above the watermark', ipam: { maxAboveWatermark: 4 }, requested: { default: 12 }, offered: 12 },
  { name: 'of another pool only', requested: { other: 20 }, offered: 8 },
  { name: 'of another pool besides', requested: { default: 9, other: 20 }, offered: 9 },
  {
    name: 'while addresses are used by the other protocol',
    requested: { default: 20 },
    used: 2,
    offered: 10,
  },
];

function worldOf(row: { type?: string; ipam?: IpamWatermarks; eni?: EniOptions }): World {
  const { type = 'm5.large', ipam = {}, eni = {} } = row;
  return new World({
    cloud: testCloud({ instances: [instance({ type })] }),
    configure: () => ({ ipam, eni }),
  });
}

describe('watermarks', () => {
  test.each(rows)('give an agent that lists what it uses its addresses: $name', async (row) => {
    const world = worldOf(row);
    const machine = world.machine();
    const controller = startController(world, { flags: row.flags ?? {} });
    await world.announce(machine);
    await world.advance(30_000);

    if (row.used !== undefined) await world.use(machine, row.used);
    await world.advance(30_000);

    expect(world.pool(machine).size).toBe(row.offered);
    expect(numberAt(world.ciliumNode(machine), 'spec', 'ipam', 'pre-allocate')).toBe(row.preAllocate);
    expect(world.broken()).toEqual([]);
    expect(controller.warnings()).toEqual([]);
  });

  test.each(requests)(
    'give an agent that requests its addresses: $name',
    async ({ requested, used, offered, ...row }) => {
      const world = worldOf(row);
      const machine = world.machine();
      const controller = startController(world);
      await world.announce(machine);
      await world.advance(30_000);

      if (used !== undefined) await world.use(machine, used);
      const pools = Object.entries(requested).map(([pool, count]) => ({
        pool,
        needed: { 'ipv4-addrs': count },
      }));
      await world.patch(machine, { spec: { ipam: { pools: { requested: pools } } } });
      await world.advance(30_000);

      expect(world.pool(machine).size).toBe(offered);
      expect(world.broken()).toEqual([]);
      expect(controller.warnings()).toEqual([]);
    },
  );

  test('are reached for a fleet of both protocols with pods', async () => {
    const types = ['m5.large', 't3.medium', 'm5.xlarge', 'c5.large', 't3.small', 'm4.xlarge'];
    const world = new World({
      cloud: testCloud({ instances: types.map((type) => instance({ name: type, type })) }),
      configure: (index) => ({
        protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool',
        eni: { firstInterfaceIndex: index === 2 ? 1 : 0 },
      }),
    });
    startController(world);

    void world.cluster.workload.start();
    const load = { kind: 'burst', name: 'web', at: 30_000, pods: 30, over: 20_000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(180_000);

    expect(standings(world.cluster).filter(({ met }) => !met)).toEqual([]);
    expect(world.cluster.workload.waits.count).toBe(30);
    expect(detachedInterfaces(world.cluster)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
