import { beforeAll, describe, expect, test } from '@jest/globals';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import type { E2eCluster } from '../rig/e2e-cluster.ts';
import type { E2eController } from '../rig/e2e-controller.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

function held(cluster: E2eCluster, instanceId: string): readonly string[] {
  return [...cluster.ec2.network.interfaces.values()]
    .filter((item) => item.instanceId === instanceId)
    .flatMap(({ addresses }) => addresses);
}

describe('a node that is replaced under its name', () => {
  const shared = sharedCluster({ nodes: 4, spare: 2 });

  beforeAll(async () => {
    await shared().startReadyController();
    await shared().untilSupplied();
  });

  test.each([
    ['crd-allocator', 0],
    ['multi-pool', 1],
  ] as const)('is offered what its new instance has, beside an agent of %s', async (protocol, index) => {
    const cluster = shared();
    const { name } = cluster.machine(index);
    const before = held(cluster, cluster.machine(index).instanceId);
    const replacement: NodeFacts = { ...cluster.machine(2 + index), name, protocol };

    const { instanceId } = await cluster.workload.removeNode(name);
    terminate(cluster.ec2.network, [instanceId]);
    await cluster.workload.addNode(replacement);
    await cluster.untilSupplied();

    const pool = await cluster.pool(name);
    expect(pool.length).toBeGreaterThanOrEqual(8);
    expect(held(cluster, replacement.instanceId)).toEqual(expect.arrayContaining([...pool]));
    expect(pool.filter((address) => before.includes(address))).toEqual([]);
  });
});

interface Wrong {
  readonly what: string;
  readonly reason: string;
  readonly facts?: (cluster: E2eCluster) => Partial<NodeFacts>;
  readonly spec?: JsonObject;
}

const wrongs: readonly Wrong[] = [
  { what: 'that names no instance', reason: 'NodeUnreadable', spec: { 'instance-id': '' } },
  {
    what: 'whose instance does not exist',
    reason: 'InstanceNotFound',
    facts: () => ({ instanceId: 'i-0123456789abcdef0' }),
  },
  {
    what: 'whose instance is that of another node',
    reason: 'InstanceOfAnother',
    facts: (cluster) => ({ instanceId: cluster.machine(2).instanceId }),
  },
];

/** The texts of the Events about a CiliumNode. */
async function eventReasons(cluster: E2eCluster, name: string): Promise<readonly string[]> {
  const query = new URLSearchParams({ fieldSelector: `involvedObject.name=${name}` }).toString();
  const events = await cluster.api.call('GET', `/api/v1/namespaces/default/events?${query}`);
  return listAt(events, 'items').map((event) => textAt(event, 'reason'));
}

describe('a CiliumNode with wrong content', () => {
  const shared = sharedCluster({ nodes: 4, spare: 1 });
  let controller: E2eController;

  beforeAll(async () => {
    controller = await shared().startReadyController();
    await shared().untilSupplied();
  });

  test.each(wrongs)('$what is reported, and every other node is served', async (wrong) => {
    const { reason, facts = () => ({}), spec = {} } = wrong;
    const cluster = shared();
    const name = `wrong-${reason.toLowerCase()}`;

    await cluster.announce({ ...cluster.machine(3), name, ...facts(cluster) }, (node) => ({
      ...node,
      spec: { ...objectAt(node, 'spec'), ...spec },
    }));
    const load = { kind: 'burst', name: `beside-${name}`, at: 0, pods: 9, over: 500 } as const;
    await cluster.workload.run(load, cluster.signal);
    await cluster.untilSupplied();
    await cluster.until('an Event says what is wrong', async () =>
      (await eventReasons(cluster, name)).includes(reason),
    );

    expect(controller.at('warn').map(({ details }) => details)).toContainEqual(
      expect.objectContaining({ node: name, reason }),
    );
    expect(await cluster.pool(name)).toEqual([]);
  });
});
