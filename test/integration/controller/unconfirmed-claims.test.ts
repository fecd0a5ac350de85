// A CiliumNode without a Node, of a machine that does not exist, shows half of the addresses of a subnet.
import { describe, expect, test } from '@jest/globals';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

interface Row {
  readonly machine: string;
  readonly world: () => ClusterWorld;
  /** Its addresses. */
  readonly block: readonly string[];
  readonly instanceId: (own: string) => string;
}

/** Every second address of a /20 or of a /24. */
const inLarge = Array.from({ length: 2048 }, (_, index) => `10.0.${16 + (index >> 7)}.${2 * (index & 127)}`);
const inSmall = Array.from({ length: 128 }, (_, index) => `10.0.0.${2 * index}`);

const azure = {
  world: () => new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ count: 2 })] }) }),
  block: inLarge,
};
const aws = {
  world: () => new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) }),
  block: inSmall,
};
const alibaba = {
  world: () =>
    new AlibabaWorld({
      cloud: testAlibaba({
        vSwitches: [{ name: 'nodes', zone: 'cn-hangzhou-a', block: '10.0.0.0/24' }],
        instances: [ecsInstance({ count: 2 })],
      }),
    }),
  block: inSmall,
};

const rows: readonly Row[] = [
  { ...azure, machine: 'a VM that its scale set lacks', instanceId: (own) => own.replace(/\d+$/, '99') },
  { ...azure, machine: 'a VM of no scale set', instanceId: (own) => own.replace('/pool/', '/none/') },
  {
    ...azure,
    machine: 'a VM of an unknown subscription',
    instanceId: (own) => own.replace('000000000001', '000000000009'),
  },
  { ...azure, machine: 'no VM at all', instanceId: () => '/subscriptions/s/nonsense' },
  { ...aws, machine: 'an instance that EC2 does not know', instanceId: () => 'i-0fffffffffffffff9' },
  { ...aws, machine: 'no instance of EC2 at all', instanceId: () => 'i-nonsense' },
  { ...alibaba, machine: 'an instance that ECS does not know', instanceId: () => 'i-bp1fffffffffffffffff9' },
  { ...alibaba, machine: 'no instance of ECS at all', instanceId: () => 'nonsense' },
];

const times = ['before a leader begins', 'while a leader serves others'] as const;
const cases = times.flatMap((when) => [true, false].map((hasNodes) => ({ when, hasNodes })));

describe.each(rows)('a claim of $machine', ({ world: worldOf, block, instanceId }) => {
  test.each(cases)('keeps nobody waiting, made $when (others have Nodes: $hasNodes)', async (row) => {
    const world = worldOf();
    const announce = (machine: NodeFacts) =>
      row.hasNodes ? world.announce(machine) : world.announceAlone(machine);
    const own = world.machine();
    const liar: NodeFacts = { ...own, name: 'liar', instanceId: instanceId(own.instanceId) };
    const pool = Object.fromEntries(block.map((address) => [address, { resource: 'eni-1' }]));
    const lie = () => world.announceAlone(liar, { spec: { ipam: { pool } } });
    const haveAll = (count: number) => (): boolean =>
      world.machines.every((each) => world.pool(each).size >= count);

    if (row.when === 'before a leader begins') await lie();
    startController(world);
    for (const machine of world.machines) await announce(machine);
    await world.until('both are served', haveAll(8));
    if (row.when !== 'before a leader begins') await lie();
    await world.advance(60_000);
    const waits: number[] = [];
    for (const count of [12, 16, 20]) {
      for (const machine of world.machines)
        await world.patch(machine, { spec: { ipam: { 'min-allocate': count } } });
      const isHeld = (): boolean => world.machines.every((each) => world.held(each).length >= count);
      await world.until('the cloud has them', isHeld);
      const since = world.clock.monotonic();
      await world.until('they are shown', haveAll(count));
      waits.push(world.clock.monotonic() - since);
      await world.advance(60_000);
    }

    const [first = Infinity, ...others] = waits;
    // One window. An update on Azure is asked about every 10 s.
    expect(first).toBeLessThan(45_000);
    expect(Math.max(...others)).toBeLessThan(15_000);
    expect(world.broken().filter((each) => !String(each).includes('liar'))).toEqual([]);
  });
});
