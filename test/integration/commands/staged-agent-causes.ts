// Causes at the agents and the machines of nodes, staged alike on every cloud.
import { expect, test } from '@jest/globals';
import { checkedWorld } from '../../support/checked-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { startController, stopController } from '../../support/world-controller.ts';
import { addPod, type Causes, ciliumConfig, podOf, type Stage, stageIn } from './staged-causes.ts';
import { newNode } from '../../../src/simulator/workload/node-objects.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';

const minute = 60_000;

/** Headwater gives the first node addresses, and its agent reports one of them as used. */
async function supply({ world, one }: Stage<ClusterWorld>): Promise<void> {
  const controller = startController(world);
  await world.until('the node has addresses', () => world.pool(one).size >= 8);
  await stopController(world, controller);
  await world.use(one, 1);
}

/** A Node with another address than that of its machine. */
async function registerAt(
  { world, spare }: Stage<ClusterWorld>,
  address: string,
  { withoutProviderId = false } = {},
): Promise<void> {
  const node = newNode({ ...spare, withoutProviderId }) as { readonly status: JsonObject };
  const addresses = [{ type: 'InternalIP', address }];
  await world.call('POST', '/api/v1/nodes', { ...node, status: { addresses } });
  await world.announceAlone(spare);
}

/** Clusters in which nothing is wrong. */
const wellStaged: Readonly<Record<string, (stage: Stage<ClusterWorld>) => Promise<void>>> = {
  'pods that have just been scheduled': async (stage) => {
    await supply(stage);
    await stage.world.addPods(stage.one, { count: 2 });
    await stage.world.advance(minute / 2);
  },
  'pods of the host that wait': async (stage) => {
    await supply(stage);
    await stage.world.addPods(stage.one, { count: 2, hostNetwork: true });
    await stage.world.advance(5 * minute);
  },
  'pods that their agent has given an address': async (stage) => {
    await supply(stage);
    await stage.world.addPods(stage.one, { count: 1 });
    await stage.world.advance(5 * minute);
  },
  'Nodes that only their address ties to their machine': async ({ world, spare }) => {
    await world.register({ ...spare, withoutProviderId: true });
    await world.announceAlone(spare);
  },
  'Nodes that show no address yet': async ({ world, spare }) => {
    const { status: _, ...node } = newNode(spare);
    await world.call('POST', '/api/v1/nodes', node);
    await world.announceAlone(spare);
  },
};

export const agentCauses: Causes<ClusterWorld> = {
  'cilium-operator of every mode that runs': {
    stage: async ({ world, one }) => {
      const labels = { 'io.cilium/app': 'operator' };
      await ciliumConfig(world, { ipam: world.flags['ipam'] ?? 'eni' });
      await addPod(world, podOf(one, 'operator', labels, { command: 'cilium-operator' }));
    },
    row: /^problem other programs: cilium-operator gives out addresses of this cloud: 1 pod /,
  },
  'cilium-operator that gives out blocks': {
    stage: async ({ world, one }) => {
      const labels = { 'io.cilium/app': 'operator' };
      const command = 'cilium-operator-generic --ipam=cluster-pool';
      await addPod(world, podOf(one, 'operator', labels, { command }));
    },
    row: /^problem other programs: cilium-operator runs with ipam=cluster-pool, and gives out addresses: 1 pod /,
  },
  'agent that takes none of the addresses that it is shown': {
    stage: async (stage) => {
      await supply(stage);
      await stage.world.addPods(stage.one, { count: 2 });
      await stage.world.advance(5 * minute);
    },
    row: /^warning agents: that of 1 node .* does not take what it is shown: restart the Cilium agent .* the node has free addresses/,
  },
  'Node without a provider ID and with an address of no machine': {
    stage: (stage) => registerAt(stage, '192.0.2.1', { withoutProviderId: true }),
    row: /^warning objects: 1 Node .* without the provider ID of an instance of this cloud$/,
  },
  'Node with the address of another machine than it names': {
    stage: (stage) => registerAt(stage, '192.0.2.1'),
    row: /^warning objects: 1 Node .* with an InternalIP that the cloud shows nowhere on its instance$/,
  },
};

/** `make`: a cluster of at least three machines. */
export function playWell(make: () => ClusterWorld): void {
  test.each(Object.keys(wellStaged))('%s', async (name) => {
    const staged = await stageIn(make());
    await wellStaged[name]?.(staged);

    expect((await checkedWorld(staged.world)).wrong).toEqual([]);
  });
}
