// Nodes that await their Cilium agent, on a real API server, which checks patches of taints and conditions as no model does, under
// the roles of the chart.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import { BlockCluster } from '../rig/block-cluster.ts';

const key = 'node.cilium.io/agent-not-ready';
const pods = '/api/v1/namespaces/kube-system/pods';

describe('a Node whose agent is ready', () => {
  let cluster: BlockCluster;

  beforeAll(async () => {
    const flags = [
      '--cluster-pool-ipv4-cidr=10.0.0.0/12',
      '--manage-agent-taint',
      '--cilium-pod-namespace=kube-system',
    ];
    cluster = await BlockCluster.start({ scope: 'cluster-pool', flags, also: 'agent-taint' });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  async function taintsOf(name: string): Promise<readonly string[]> {
    const node = await cluster.api.call('GET', `/api/v1/nodes/${name}`);
    return listAt(node, 'spec', 'taints').map((taint) => textAt(taint, 'key'));
  }

  /** The agent of the node, ready or not. */
  async function addAgent(node: string, status: 'True' | 'False'): Promise<void> {
    const name = `agent-${node}`;
    await cluster.api.call('POST', pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { 'k8s-app': 'cilium' } },
      spec: {
        nodeName: node,
        hostNetwork: true,
        automountServiceAccountToken: false,
        containers: [{ name: 'agent', image: 'cilium' }],
      },
    });
    await cluster.api.call('PATCH', `${pods}/${name}/status`, {
      status: { conditions: [{ type: 'Ready', status }] },
    });
  }

  test('is opened for pods and keeps other taints, and one whose agent is not ready stays closed', async () => {
    const names = ['open', 'closed'];
    for (const name of names) {
      await cluster.createLabelled(name, {});
      const taints = [
        { key: 'team', effect: 'NoSchedule' },
        { key, effect: 'NoSchedule' },
      ];
      await cluster.api.call('PATCH', `/api/v1/nodes/${name}`, { spec: { taints } });
      await addAgent(name, name === 'open' ? 'True' : 'False');
    }
    await cluster.startController();

    await cluster.until('the Node is open', async () => !(await taintsOf('open')).includes(key));
    await cluster.until('its condition is set', async () => {
      const node = await cluster.api.call('GET', '/api/v1/nodes/open');
      return listAt(node, 'status', 'conditions')
        .filter(isObject)
        .some((each) => textAt(each, 'reason') === 'CiliumIsUp' && textAt(each, 'status') === 'False');
    });

    expect(await taintsOf('open')).toContain('team');
    expect(await taintsOf('closed')).toEqual(expect.arrayContaining(['team', key]));
    const said = cluster.controllers.flatMap(({ lines }) => lines);
    expect(said.filter((line) => line.includes('stays closed'))).toEqual([]);
  });
});
