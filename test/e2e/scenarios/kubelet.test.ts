// A node with the kubelet of Kubernetes, containerd, ptp, our agent and our plugin, whose blocks come from our controllers, on a
// real API server: what a user installs, without a machine of its own.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isObject, type JsonObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import { busyboxImage } from '../../cni/rig/busybox-image.ts';
import { cniPath } from '../../cni/rig/node-machine.ts';
import { BlockCluster, type BlockClusterOptions } from '../rig/block-cluster.ts';
import { KubeletNode } from '../rig/kubelet-node.ts';
import { createRoles, createServiceAccount } from '../rig/service-accounts.ts';
import { shippedRoles } from '../rig/shipped-roles.ts';

const kubelet = process.env['HEADWATER_KUBELET'] ?? '';
// test/e2e/run.ts says why they are not run.
const whereNodesAre = cniPath === '' || kubelet === '' ? describe.skip : describe;

const account = 'headwater-agent';
const modes: readonly (readonly [BlockClusterOptions['scope'], string, readonly string[]])[] = [
  ['nodeipam', 'kubernetes', ['--cluster-cidr=10.44.0.0/16,fd44::/48']],
  [
    'cluster-pool',
    'cluster-pool',
    ['--cluster-pool-ipv4-cidr=10.44.0.0/16', '--cluster-pool-ipv6-cidr=fd44::/104'],
  ],
  [
    'multi-pool',
    'multi-pool',
    [
      '--auto-create-cilium-pod-ip-pools=default=ipv4-cidrs:10.44.0.0/16;ipv4-mask-size:26;ipv6-cidrs:fd44::/104;ipv6-mask-size:120',
    ],
  ],
];

whereNodesAre.each(modes)('pods of a kubelet with blocks of %s', (scope, ipam, flags) => {
  let cluster: BlockCluster;
  let node: KubeletNode;

  beforeAll(async () => {
    cluster = await BlockCluster.start({ scope, flags });
    const roles = await shippedRoles('agent');
    await createRoles(cluster.api.call, roles);
    await createServiceAccount(cluster.api.call, account, roles);
    node = await KubeletNode.create({
      name: `worker-${scope}-${process.pid}`,
      api: cluster.api,
      kubelet,
      agentFlags: [`--ipam=${ipam}`],
      agentKubeconfig: await cluster.api.kubeconfigOf(account),
    });
  });

  afterAll(async () => {
    await node.remove();
    await cluster.stop();
  });

  const podsPath = '/api/v1/namespaces/default/pods';

  async function createPod(name: string): Promise<void> {
    await cluster.api.call('POST', podsPath, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        nodeName: node.name,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        dnsPolicy: 'Default',
        tolerations: [{ operator: 'Exists' }],
        containers: [
          { name: 'main', image: busyboxImage, imagePullPolicy: 'Never', command: ['sleep', '3600'] },
        ],
      },
    });
  }

  async function pods(): Promise<readonly JsonObject[]> {
    return listAt(await cluster.api.call('GET', podsPath), 'items').filter(isObject);
  }

  /** The addresses of each running pod, by name. */
  async function running(): Promise<ReadonlyMap<string, readonly string[]>> {
    return new Map(
      (await pods())
        .filter((pod) => textAt(pod, 'status', 'phase') === 'Running')
        .map((pod) => [
          textAt(pod, 'metadata', 'name'),
          listAt(pod, 'status', 'podIPs').map((each) => textAt(each, 'ip')),
        ]),
    );
  }

  async function untilRunning(count: number): Promise<void> {
    const isSo = async (): Promise<boolean> => (await running()).size === count;
    await cluster.until(`${count} pods run`, isSo).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${node.lastWords}`);
    });
  }

  async function deletePods(): Promise<void> {
    await cluster.api.call('DELETE', podsPath);
    await cluster.until(
      'all pods are gone',
      async () => (await running()).size === 0 && (await pods()).length === 0,
    );
    await cluster.until('no address is held', async () => (await node.held()).length === 0);
  }

  test('get distinct addresses of both families and reach each other', async () => {
    await node.network({ type: 'ptp' });
    await node.startKubelet();
    await cluster.startController();
    await node.startAgent();
    for (let index = 0; index < 20; index++) await createPod(`first-${index}`);
    await untilRunning(20);

    const addresses = await running();
    const [first = [], ...others] = [...addresses.values()];
    expect([first, ...others].map((each) => each.length)).toEqual(Array.from({ length: 20 }, () => 2));
    expect(new Set([first, ...others].flat()).size).toBe(40);
    expect(await node.held()).toEqual([first, ...others].flat().toSorted());
    for (const address of others.slice(0, 3).flat())
      expect(await node.inPod([...addresses.keys()][0] ?? '', 'ping', '-c', '1', address)).toMatchObject({
        code: 0,
      });
  });

  test('go on when the agent is killed, replaced and without an API server', async () => {
    const before = await running();
    for (let index = 0; index < 10; index++) await createPod(`second-${index}`);
    await node.endAgent('SIGKILL');
    await node.startAgent();
    await untilRunning(30);
    for (let index = 0; index < 10; index++) await createPod(`third-${index}`);
    await cluster.api.stopServer();
    // As the rolling update of a DaemonSet does.
    await node.endAgent('SIGTERM');
    await node.startAgent();
    await cluster.api.startServer();
    await untilRunning(40);

    const after = await running();
    expect([...before].filter(([name, addresses]) => after.get(name)?.join() !== addresses.join())).toEqual(
      [],
    );
    expect(new Set([...after.values()].flat()).size).toBe(80);
  });

  test('leave nothing when the node is drained', async () => {
    await deletePods();

    expect(await node.held()).toEqual([]);
  });
});
