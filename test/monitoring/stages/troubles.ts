// Small clusters in each of which something goes wrong, so that every series that a dashboard or an alert uses is seen
// above zero in one of them.
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { belongingTo, leave } from '../../support/orphaned-interfaces.ts';
import { StandInOperator } from '../../support/stand-in-operator.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { type ControllerSetup, startController } from '../../support/world-controller.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { Stage } from './stage.ts';

const minute = 60_000;
const podNodes = { eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } } as const;

function worldOf(count: number, facts: Partial<NodeFacts> = podNodes): World {
  return new World({ cloud: testCloud({ instances: [instance({ count })] }), configure: () => facts });
}

function start(world: World, setup: ControllerSetup = {}): ReturnType<typeof startController> {
  return startController(world, {
    ...setup,
    metered: true,
    flags: { 'cluster-name': 'blue', 'resync-interval': '5m', ...setup.flags },
  });
}

const fullSubnets: Stage = {
  name: 'full-subnets',
  play: async (record) => {
    const world = worldOf(3);
    world.occupy(ids.pods);
    world.occupy(ids.morePods);
    const controller = start(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.addPods(world.machine(), { count: 4 });
    await record.advance(world, [controller], 12 * minute);
  },
};

/** More and more pods for longer than an hour: a trend. */
const emptyingSubnet: Stage = {
  name: 'emptying-subnet',
  play: async (record) => {
    const world = worldOf(1);
    const controller = start(world);
    await world.announce(world.machine());
    for (let times = 0; times < 15; times++) {
      await world.addPods(world.machine(), { count: 1, prefix: `pod-${times}` });
      await record.advance(world, [controller], 5 * minute);
    }
  },
};

const fragmentedSubnets: Stage = {
  name: 'fragmented-subnets',
  play: async (record) => {
    const world = worldOf(2);
    world.fragment(ids.pods);
    const controller = start(world, { flags: { 'aws-enable-prefix-delegation': 'true' } });
    for (const machine of world.machines) await world.announce(machine);
    await record.advance(world, [controller], 5 * minute);
  },
};

const throttledCloud: Stage = {
  name: 'throttled-cloud',
  play: async (record) => {
    const world = worldOf(12);
    const controller = start(world, { flags: { 'limit-ipam-api-qps': '0.2', 'limit-ipam-api-burst': '1' } });
    world.fault('CreateNetworkInterface', { kind: 'throttle' }, 8);
    for (const machine of world.machines) await world.announce(machine);
    await record.advance(world, [controller], 6 * minute);
  },
};

const missingPermission: Stage = {
  name: 'missing-permission',
  play: async (record) => {
    const world = worldOf(1);
    const denied = { kind: 'error', code: 'UnauthorizedOperation', status: 403, message: 'no' } as const;
    world.fault('CreateNetworkInterface', denied);
    world.fault('DescribeSubnets', denied, 4);
    world.refuse(403, 'PATCH', /\/status$/, 20);
    const controller = start(world);
    await world.announce(world.machine());
    await record.advance(world, [controller], 6 * minute);
  },
};

const conflictingWriter: Stage = {
  name: 'conflicting-writer',
  play: async (record) => {
    const world = worldOf(2);
    const controller = start(world);
    for (const machine of world.machines) await world.announce(machine);
    await record.advance(world, [controller], minute);
    const operator = new StandInOperator(world);
    void operator.run();
    await record.advance(world, [controller], 2 * minute);
    operator.stop();
  },
};

const orphans: Stage = {
  name: 'orphans',
  play: async (record) => {
    const world = worldOf(1);
    leave(world, { tags: belongingTo('blue') });
    const left = { ...belongingTo('blue'), 'headwater/instance-id': world.machine().instanceId };
    leave(world, { tags: left, subnetId: ids.pods, addresses: 2 });
    await world.advance(minute);
    const controller = start(world);
    await world.announce(world.machine());
    await record.advance(world, [controller], 15 * minute);
  },
};

const shrinking: Stage = {
  name: 'shrinking',
  play: async (record) => {
    const world = new BusyWorld({
      cloud: testCloud({ instances: [instance()] }),
      setup: {
        metered: true,
        flags: { 'aws-release-excess-ips': 'true', 'excess-ip-release-delay': '20s' },
      },
    });
    await world.startAgents();
    await world.advance(50_000);
    world.addLivingPods(12);
    await world.advance(80_000);
    await world.deleteLivingPods(12);
    world.fault(
      'UnassignPrivateIpAddresses',
      { kind: 'error', code: 'InternalError', status: 500, message: 'not now' },
      2,
    );
    await record.advance(world, [world.controller], 10 * minute);
  },
};

const brokenWatches: Stage = {
  name: 'broken-watches',
  play: async (record) => {
    const world = worldOf(1);
    const controller = start(world);
    await world.announce(world.machine());
    await record.advance(world, [controller], minute);
    const { faults } = world.cluster.kubernetes;
    faults.closeWatches(/allowWatchBookmarks/);
    await record.advance(world, [controller], minute);
    faults.closeWatches(/allowWatchBookmarks/);
    faults.expireHistory();
    await record.advance(world, [controller], minute);
  },
};

const blindRegion: Stage = {
  name: 'blind-region',
  play: async (record) => {
    const world = worldOf(3);
    for (const machine of world.machines) await world.announce(machine);
    const nothing: Readonly<Record<string, object>> = {
      DescribeNetworkInterfaces: { NetworkInterfaces: [] },
      DescribeInstances: { Reservations: [] },
    };
    const controller = start(world, { tamper: (action, output) => nothing[action] ?? output });
    await record.advance(world, [controller], 3 * minute);
  },
};

/** Its agent leaves pods without an address while the pool has free ones. */
const idleAgent: Stage = {
  name: 'idle-agent',
  play: async (record) => {
    const world = worldOf(1);
    const controller = start(world);
    await world.announce(world.machine());
    await world.addPods(world.machine(), { count: 2 });
    await record.advance(world, [controller], 3 * minute);
  },
};

/** Nodes that get blocks, one more of them than the pool has, and one with the block of another. */
const dryPool: Stage = {
  name: 'dry-pool',
  play: async (record) => {
    const flags = { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22' };
    const registry = createMetricRegistry({ measureProcess: false });
    const world = new BlockWorld({ seed: 'dry pool', command: 'run', flags, registry });
    const played = { clock: world.clock, advance: (ms: number) => world.clock.advance(ms) };
    world.startReplica();
    for (const name of ['a', 'b']) world.join(name);
    await record.advance(played, [registry], minute);
    for (const name of ['c', 'd', 'e']) world.join(name);
    await world.ask('POST', world.path, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'copied' },
      spec: { ipam: { podCIDRs: ['10.0.0.0/24'] } },
    });
    await record.advance(played, [registry], minute);
  },
};

/** Calls wait for their turn, and an update gives addresses. */
const onAzure: Stage = {
  name: 'azure',
  play: async (record) => {
    const world = new AzureClusterWorld();
    const flags = { 'limit-ipam-api-qps': '0.2', 'limit-ipam-api-burst': '1' };
    const controller = startController(world, { metered: true, flags });
    for (const machine of world.machines) await world.announce(machine);
    await record.advance(world, [controller], 5 * minute);
  },
};

/** Calls wait for their turn. */
const onAlibaba: Stage = {
  name: 'alibaba',
  play: async (record) => {
    const world = new AlibabaWorld({ cloud: testAlibaba({ instances: [ecsInstance({ count: 4 })] }) });
    const flags = { 'limit-ipam-api-qps': '0.2', 'limit-ipam-api-burst': '1' };
    const controller = startController(world, { metered: true, flags });
    for (const machine of world.machines) await world.announce(machine);
    await record.advance(world, [controller], 5 * minute);
  },
};

export const troubles: readonly Stage[] = [
  fullSubnets,
  emptyingSubnet,
  fragmentedSubnets,
  throttledCloud,
  missingPermission,
  conflictingWriter,
  orphans,
  shrinking,
  brokenWatches,
  blindRegion,
  idleAgent,
  dryPool,
  onAzure,
  onAlibaba,
];
