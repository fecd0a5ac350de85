// Two nodes without Cilium: namespaces with a cable between them, an agent each, and the controller that gives them blocks.
import { afterEach, describe, expect, test } from '@jest/globals';
import { Child, endAll } from '../integration/commands/child.ts';
import { NodeMachine } from './rig/node-machine.ts';
import { addressIn, connect, route } from './rig/two-nodes.ts';

const machines: NodeMachine[] = [];

afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.remove();
  await endAll();
});

async function createNode(url: string, name: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/nodes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }),
  });
  expect(answer.status).toBe(201);
}

describe('pods of two nodes', () => {
  test('reach each other by the blocks that the controller gives their nodes', async () => {
    const api = new Child(['simulate', '--kubernetes', '--kubernetes-port=0']);
    const url = await api.word(/^# the Kubernetes API on (http:\S+\d)/m);
    for (const name of ['one', 'two']) {
      await createNode(url, name);
      machines.push(
        await NodeMachine.create(['--ipam=cluster-pool', `--node-name=${name}`, `--k8s-api-server=${url}`]),
      );
    }
    const [one, two] = machines as [NodeMachine, NodeMachine];
    await connect(one, two);
    for (const node of machines) {
      await node.startAgent();
      await node.network('pods', { type: 'ptp' }, { wait: '60s' });
    }
    const pods = await Promise.all(machines.map((node) => node.pod()));

    const adding = machines.map((node, index) => node.cnitool('add', 'pods', pods[index] ?? ''));
    const controller = new Child([
      'run',
      '--ipam=cluster-pool',
      '--cluster-pool-ipv4-cidr=10.44.0.0/16',
      '--serve-addr=127.0.0.1:0',
      `--k8s-api-server=${url}`,
    ]);
    await controller.said(/serving health/);
    const added = await Promise.all(adding);

    expect(added.map(({ code, err }) => ({ code, err }))).toEqual([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    const blocks = await route(one, two);
    expect(blocks.toSorted()).toEqual(['10.44.0.0/24', '10.44.1.0/24']);
    const addresses = added.map(({ out }) => addressIn(out));
    expect(await one.ping(pods[0] ?? '', addresses[1] ?? '')).toMatchObject({ code: 0 });
    expect(await two.ping(pods[1] ?? '', addresses[0] ?? '')).toMatchObject({ code: 0 });

    for (const [index, node] of machines.entries()) {
      expect(await node.cnitool('del', 'pods', pods[index] ?? '')).toMatchObject({ code: 0 });
      expect(await node.held()).toEqual([]);
    }
  });
});
