// The command status through a real API server, with nothing but the rights that its page names. A stand-in for the kubelet
// forwards ports, as kube-apiserver asks a real one to.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import { addressIn } from '../../../rig/controller-process.ts';
import { selfSignedCertificate } from '../../../src/simulator/certificates.ts';
import { type ForwardingFront, forwardingFront } from '../../support/forwarding-front.ts';
import { json } from '../../support/loopback-server.ts';
import { headwater, linesOf } from '../../integration/commands/child.ts';
import { BlockCluster } from '../rig/block-cluster.ts';
import { createRoles, createServiceAccount, installNamespace as namespace } from '../rig/service-accounts.ts';
import type { RoleRule, ShippedRole } from '../rig/shipped-roles.ts';

const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] };
const pods = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
const ports = { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] };

let cluster: BlockCluster;
let kubelet: ForwardingFront;

beforeAll(async () => {
  const flags = ['--cluster-pool-ipv4-cidr=10.0.0.0/16'];
  cluster = await BlockCluster.start({ scope: 'cluster-pool', flags });
  kubelet = await forwardingFront(
    (_, response) => json(response, 404, {}),
    () => true,
    selfSignedCertificate('kubelet'),
  );
});

afterAll(async () => {
  await cluster.stop();
  await kubelet.close();
});

/** What the command says to a service account of these rights. */
async function statusFor(
  name: string,
  rules: readonly RoleRule[],
): Promise<Awaited<ReturnType<typeof headwater>>> {
  const role: ShippedRole = { kind: 'Role', metadata: { name, namespace }, rules };
  await createRoles(cluster.api.call, [role]);
  await createServiceAccount(cluster.api.call, name, [role]);
  return headwater(['status', `--k8s-kubeconfig-path=${await cluster.api.kubeconfigOf(name)}`]);
}

/** The pod in which the controller would run, on a node whose kubelet is the stand-in. */
async function createPodOf(serveAddress: string): Promise<void> {
  const { call } = cluster.api;
  const name = hostname();
  await call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await call('PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: Number(new URL(kubelet.url).port) } },
    },
  });
  await call('POST', `/api/v1/namespaces/${namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'headwater-1', labels: { 'app.kubernetes.io/name': 'headwater' } },
    spec: {
      nodeName: name,
      hostNetwork: true,
      containers: [{ name: 'headwater', image: 'headwater', args: ['run', `--serve-addr=${serveAddress}`] }],
    },
  });
  await call('PATCH', `/api/v1/namespaces/${namespace}/pods/headwater-1/status`, {
    status: { phase: 'Running' },
  });
}

describe('headwater status on a real API server', () => {
  test('reads the leader with the rights that the page names', async () => {
    await cluster.create('one');
    const controller = await cluster.startController();
    await cluster.served(1);
    await createPodOf(controller.lines.map(addressIn).find((address) => address !== undefined) ?? '');

    const { code, out, err } = await statusFor('asker', [leases, pods, ports]);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(linesOf(out)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\S+: leading/),
        'problems    none',
        'nodes       1 total, 1 served',
        expect.stringMatching(/^\S+ +10\.0\.0\.0\/16 +\/24 +256 +1 +255 +0$/),
      ]),
    );
    expect(kubelet.forwarded).toHaveLength(2);
  });

  test.each<[string, readonly RoleRule[], RegExp]>([
    [
      'leases',
      [],
      /not allowed to read the Lease kube-system\/headwater, which needs get on leases of .*: leases\./,
    ],
    [
      'pods',
      [leases],
      /not allowed to list the pods of kube-system, which needs list on pods: pods is forbidden/,
    ],
    [
      'ports',
      [leases, pods],
      /which needs get on pods\/portforward in kube-system: pods "headwater-1" is forbidden/,
    ],
  ])('names the right that is missing: %s', async (name, rules, line) => {
    const { code, out, err } = await statusFor(`without-${name}`, rules);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(line)]);
  });
});
