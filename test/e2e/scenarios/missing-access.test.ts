// Removes each verb of the shipped roles, one at a time, and checks what the controller reports.
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type NeededAccess, neededAccess } from '../../../src/kubernetes/access/needed-access.ts';
import { valueAt } from '../../../src/simulator/workload/json.ts';
import { withPools } from '../../../src/simulator/workload/pool-demand.ts';
import { type E2eCluster, usualServiceAccount } from '../rig/e2e-cluster.ts';
import type { E2eController, LogLine } from '../rig/e2e-controller.ts';
import { installNamespace, replaceRole } from '../rig/service-accounts.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { type RoleRule, type ShippedRole, shippedRoles } from '../rig/shipped-roles.ts';

const leases = `/apis/coordination.k8s.io/v1/namespaces/${installNamespace}/leases`;
const needed = neededAccess({ namespace: installNamespace, name: 'headwater' });

/** The roles without one verb. A rule without another verb is removed. */
function without({ verb, group, resource }: NeededAccess, roles: readonly ShippedRole[]): ShippedRole[] {
  const reduced = (rule: RoleRule): RoleRule =>
    rule.apiGroups.includes(group) && rule.resources.includes(resource)
      ? { ...rule, verbs: rule.verbs.filter((each) => each !== verb) }
      : rule;
  return roles.map((role) => ({
    ...role,
    rules: role.rules.map(reduced).filter(({ verbs }) => verbs.length > 0),
  }));
}

/** Whether the API server, which learns of changed roles a moment later, allows this to the controller. */
async function isAllowed(cluster: E2eCluster, access: NeededAccess): Promise<boolean> {
  const { verb, group, name, namespace } = access;
  const [resource, subresource] = access.resource.split('/');
  const review = await cluster.api.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: `system:serviceaccount:${installNamespace}:${usualServiceAccount}`,
      resourceAttributes: { verb, group, resource, subresource, name, namespace },
    },
  });
  return valueAt(review, 'status', 'allowed') === true;
}

/** The answer of the API server to the request that needs the missing verb. */
function refusalOf({ verb, resource }: NeededAccess): RegExp {
  return new RegExp(`cannot ${verb} resource \\\\?"${resource}\\\\?"`);
}

/** By missing verb, the log line in operation, and the situation that causes it. */
const inOperation: Readonly<Record<string, { readonly line: RegExp; readonly arrange?: Arrangement }>> = {
  'list ciliumnodes': { line: /^cannot read from Kubernetes$/ },
  'watch ciliumnodes': { line: /^cannot read from Kubernetes$/ },
  'get ciliumnodes': {
    line: /^cannot release addresses: the CiliumNode cannot be read$/,
    arrange: announceExcess,
  },
  'patch ciliumnodes': { line: /^cannot publish a node$/ },
  'patch ciliumnodes/status': { line: /^cannot publish a node$/ },
  'list nodes': { line: /^cannot read Nodes/ },
  'watch nodes': { line: /^cannot read Nodes/ },
  'list pods': { line: /^cannot read pods:/ },
  'watch pods': { line: /^cannot read pods:/ },
  'create events': { line: /^cannot write Events$/, arrange: announceStranger },
  'get customresourcedefinitions': {
    line: /^writing only fields of a CiliumNode that every version of Cilium has$/,
  },
  'create leases': { line: /^cannot get or renew the Lease$/, arrange: deleteLease },
  'get leases': { line: /^cannot get or renew the Lease$/ },
  'update leases': { line: /^cannot get or renew the Lease$/ },
};

type Arrangement = (cluster: E2eCluster) => Promise<void>;

/** A node that needs less than its instance holds, and whose agent, version 1.20, uses one address. */
async function announceExcess(cluster: E2eCluster): Promise<void> {
  const machine = { ...cluster.machine(), ipam: { preAllocate: 1 } };
  const { instanceId, primaryAddress } = machine;
  const [used] = [...cluster.ec2.network.interfaces.values()]
    .filter((item) => item.instanceId === instanceId)
    .flatMap(({ addresses }) => addresses.filter((address) => address !== primaryAddress));
  await cluster.announce(machine, (node) => withPools(node, 2, [`${used}/32`]));
}

/** A node that cannot be satisfied, which an Event reports. */
async function announceStranger(cluster: E2eCluster): Promise<void> {
  const instanceId = 'i-0123456789abcdef0';
  await cluster.announce({ ...cluster.machine(), name: 'stranger', instanceId });
}

async function deleteLease(cluster: E2eCluster): Promise<void> {
  await cluster.api.call('DELETE', `${leases}/headwater`).catch(() => undefined);
}

/** Another holder has the Lease for longer than any test lasts. */
async function holdLease(cluster: E2eCluster): Promise<void> {
  await deleteLease(cluster);
  const now = new Date(cluster.clock.wall()).toISOString().replace('Z', '000Z');
  await cluster.api.call('POST', leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'headwater', namespace: installNamespace },
    spec: { holderIdentity: 'another', leaseDurationSeconds: 3600, acquireTime: now, renewTime: now },
  });
}

describe('a controller whose role lacks one verb', () => {
  const shared = sharedCluster({
    nodes: 1,
    withoutAgents: true,
    flags: [
      '--leader-election-lease-duration=3s',
      '--leader-election-renew-deadline=2s',
      '--leader-election-retry-period=1s',
      '--cloud-call-timeout=1500ms',
    ],
  });
  let controller: E2eController | undefined;

  async function startWithout(access: NeededAccess): Promise<E2eController> {
    const cluster = shared();
    const kubeconfig = await cluster.api.kubeconfigFor(usualServiceAccount);
    for (const role of without(access, await shippedRoles())) await replaceRole(cluster.api.call, role);
    await cluster.until('the verb is missing', async () => !(await isAllowed(cluster, access)));
    controller = await cluster.startController({ kubeconfig });
    return controller;
  }

  beforeAll(async () => {
    const cluster = shared();
    const { name } = cluster.machine();
    await cluster.register(cluster.machine());
    await cluster.announce(cluster.machine());
    const started = await cluster.startReadyController();
    await cluster.until('the node has addresses', async () => (await cluster.pool(name)).length >= 8);
    expect(started.at('warn')).toEqual([]);
    await started.process.child.kill();
  });

  afterEach(async () => {
    const cluster = shared();
    if (controller === undefined) return;
    await controller.process.child.kill();
    controller = undefined;
    for (const role of await shippedRoles()) await replaceRole(cluster.api.call, role);
    for (const each of needed) await cluster.until('all is allowed', () => isAllowed(cluster, each));
  });

  test.each(needed.map((access) => [access.verb, access.resource, access] as const))(
    'logs the missing verb and what it is for: %s of %s',
    async (verb, resource, access) => {
      const cluster = shared();
      const { line, arrange } = inOperation[`${verb} ${resource}`] ?? {};
      await cluster.announce(cluster.machine());
      await arrange?.(cluster);

      const started = await startWithout(access);
      const said = (): readonly LogLine[] =>
        started.at('warn').filter(({ message }) => message.startsWith(`may not ${verb} ${resource}:`));
      await cluster.until('it says so at its start', () => said().length > 0);
      if (line !== undefined) {
        await cluster.until('it says what was refused', () =>
          started.at('warn').some(({ message, text }) => line.test(message) && refusalOf(access).test(text)),
        );
      }

      expect(said().map(({ details }) => details)).toEqual([
        expect.objectContaining({ verb, resource, without: access.without }),
      ]);
      const refused = line === undefined ? [] : [`${verb} ${resource}`];
      expect(await started.refused(cluster.signal)).toEqual(refused);
    },
  );

  // A rollout that ends the other replicas because this one is ready would leave no leader.
  test.each<[string, string, Arrangement]>([
    ['list', 'ciliumnodes', deleteLease],
    ['create', 'leases', deleteLease],
    ['get', 'leases', deleteLease],
    ['update', 'leases', holdLease],
  ])('is not ready, and says why, without the right to %s %s', async (verb, resource, arrange) => {
    const cluster = shared();
    const access = needed.find((each) => each.verb === verb && each.resource === resource);
    if (access === undefined) throw new Error('nothing of the kind is needed');
    await arrange(cluster);
    const started = await startWithout(access);

    await cluster.until('it says why', async () => {
      const { status, text } = await started.readiness(cluster.signal);
      const isNamed = refusalOf(access).test(text) || text.includes(`may not ${verb} the Lease`);
      return status === 500 && isNamed;
    });
  });
});
