// Pods of two nodes without Cilium, on a real API server: namespaces play the nodes, an agent each gives addresses of the blocks
// that the controller gives, and each has nothing but the role that the chart ships for it.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endAll } from '../../integration/commands/child.ts';
import { cniPath, NodeMachine } from '../../cni/rig/node-machine.ts';
import { addressIn, connect, route } from '../../cni/rig/two-nodes.ts';
import { BlockCluster } from '../rig/block-cluster.ts';
import { createRoles, createServiceAccount } from '../rig/service-accounts.ts';
import { shippedRoles } from '../rig/shipped-roles.ts';

const account = 'headwater-agent';
const nodes = ['one', 'two'];
// test/e2e/run.ts says why they are not run.
const whereNamespacesAre = cniPath === '' ? describe.skip : describe;

whereNamespacesAre('pods of two nodes with agents', () => {
  const machines: NodeMachine[] = [];
  let cluster: BlockCluster;

  beforeAll(async () => {
    const flags = ['--cluster-pool-ipv4-cidr=10.44.0.0/16', '--cluster-pool-ipv4-mask-size=26'];
    cluster = await BlockCluster.start({ scope: 'cluster-pool', flags });
    const roles = await shippedRoles('agent');
    await createRoles(cluster.api.call, roles);
    await createServiceAccount(cluster.api.call, account, roles);
    const kubeconfig = await cluster.api.kubeconfigOf(account);
    for (const name of nodes) {
      await cluster.api.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      const flagsOfAgent = [
        '--ipam=cluster-pool',
        `--node-name=${name}`,
        `--k8s-kubeconfig-path=${kubeconfig}`,
      ];
      const machine = await NodeMachine.create(flagsOfAgent);
      machines.push(machine);
      await machine.startAgent();
      await machine.network('pods', { type: 'ptp' }, { wait: '60s' });
    }
    await connect(...both());
  });

  afterAll(async () => {
    for (const machine of machines) await machine.remove();
    await endAll();
    await cluster.stop();
  });

  function both(): [NodeMachine, NodeMachine] {
    return machines as [NodeMachine, NodeMachine];
  }

  function call(machine: NodeMachine, verb: string, container: string): ReturnType<NodeMachine['plugin']> {
    const names = { CNI_CONTAINERID: container, CNI_NETNS: '/n', CNI_IFNAME: 'eth0' };
    const ipam = { type: 'headwater-ipam', socket: machine.socket };
    return machine.plugin({ CNI_COMMAND: verb, ...names }, { cniVersion: '1.1.0', name: 'pods', ipam });
  }

  test('reach each other by blocks that they waited for', async () => {
    const pods = await Promise.all(machines.map((machine) => machine.pod()));
    const adding = machines.map((machine, index) => machine.cnitool('add', 'pods', pods[index] ?? ''));

    const controller = await cluster.startController();
    const added = await Promise.all(adding);

    expect(added.map(({ code, err }) => ({ code, err }))).toEqual([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    const blocks = await route(...both());
    expect(new Map(nodes.map((name, index) => [name, [blocks[index]]]))).toEqual(await cluster.blocks());
    const [one, two] = both();
    expect(await one.ping(pods[0] ?? '', addressIn(added[1]?.out ?? ''))).toMatchObject({ code: 0 });
    expect(await two.ping(pods[1] ?? '', addressIn(added[0]?.out ?? ''))).toMatchObject({ code: 0 });
    for (const [index, machine] of machines.entries()) {
      expect(await machine.cnitool('del', 'pods', pods[index] ?? '')).toMatchObject({ code: 0 });
      expect(await machine.held()).toEqual([]);
    }
    expect(controller.lines.filter((line) => /"level":"(?:warn|error)"/.test(line))).toEqual([]);
  });

  test('leave nothing when the agent and their plugins are killed in the middle', async () => {
    const [one] = both();
    const containers = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const adding = containers.map((container, index) =>
      index % 2 === 0 ? call(one, 'ADD', container) : one.killedPlugin('ADD', container, index),
    );
    await Promise.race(adding);
    await one.agent.stop('SIGKILL');
    await Promise.all(adding);
    // A runtime sends the DEL of each ADD, whatever became of it, until one succeeds.
    const deleting = containers.map((container) => call(one, 'DEL', container));
    await one.startAgent();
    for (const [index, { code }] of (await Promise.all(deleting)).entries()) {
      if (code !== 0) expect(await call(one, 'DEL', containers[index] ?? '')).toMatchObject({ code: 0 });
    }

    expect(await one.held()).toEqual([]);
  });

  test('get addresses from an agent that starts while the API server is away', async () => {
    const [one] = both();
    await one.agent.stop('SIGKILL');
    await cluster.api.stopServer();
    try {
      await one.startAgent();
      expect(await call(one, 'ADD', 'away')).toMatchObject({ code: 0 });
      expect(await call(one, 'DEL', 'away')).toMatchObject({ code: 0 });
      expect(await one.held()).toEqual([]);
    } finally {
      await cluster.api.startServer();
    }
  });
});
