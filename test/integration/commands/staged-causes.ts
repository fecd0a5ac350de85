// Causes for which a controller could not work, staged in clusters of one process, and the row in which a check names each.
import { expect, test } from '@jest/globals';
import { checkedWorld } from '../../support/checked-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import type { GivenFlags } from '../../support/given-options.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { newNode, providerIdOf } from '../../../src/simulator/workload/node-objects.ts';

/** Two nodes that are well, and more machines without nodes. */
export interface Stage<W extends ClusterWorld> {
  readonly world: W;
  readonly one: NodeFacts;
  readonly two: NodeFacts;
  readonly spare: NodeFacts;
}

export interface Cause<W extends ClusterWorld> {
  /** Changes the cluster; the result is flags for the check. */
  readonly stage: (stage: Stage<W>) => Promise<GivenFlags | void> | GivenFlags | void;
  readonly row: RegExp;
}

export type Causes<W extends ClusterWorld> = Readonly<Record<string, Cause<W>>>;

/** `make`: a cluster of at least three machines. */
export function playCauses<W extends ClusterWorld>(make: () => W, causes: Causes<W>): void {
  test('without any cause, every row is fine', async () => {
    const { world } = await stageIn(make());

    expect((await checkedWorld(world)).wrong).toEqual([]);
  });

  test.each(Object.keys(causes))('%s', async (name) => {
    const { stage, row } = causes[name] as Cause<W>;
    const staged = await stageIn(make());
    const flags = (await stage(staged)) ?? {};

    const { wrong, findings } = await checkedWorld(staged.world, flags);

    expect(wrong).toContainEqual(expect.stringMatching(row));
    const found = findings.filter((each) => row.test(`${each.verdict} ${each.what}: ${each.found}`));
    expect(found).toHaveLength(1);
  });
}

export async function stageIn<W extends ClusterWorld>(world: W): Promise<Stage<W>> {
  const [one, two, spare] = world.machines;
  if (one === undefined || two === undefined || spare === undefined)
    throw new Error('it needs three machines');
  await world.announce(one);
  await world.announce(two);
  return { world, one, two, spare };
}

const nodes = '/apis/cilium.io/v2/ciliumnodes';
const pods = '/api/v1/namespaces/kube-system/pods';

/** A pod of kube-system on a node. */
export function podOf(
  { name: nodeName }: Pick<NodeFacts, 'name'>,
  name: string,
  labels: Readonly<Record<string, string>>,
  more: { readonly command?: string; readonly image?: string; readonly status?: JsonObject } = {},
): JsonObject {
  const { command = 'run', image = 'image', status } = more;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: { nodeName, containers: [{ name: 'main', image, command: [command] }] },
    ...(status !== undefined && { status }),
  };
}

export async function addPod(world: ClusterWorld, pod: JsonObject): Promise<void> {
  await world.call('POST', pods, pod);
  const { name } = pod['metadata'] as { readonly name: string };
  const { status } = pod;
  if (status !== undefined) await world.call('PATCH', `${pods}/${name}/status`, { status });
}

export function ciliumConfig(world: ClusterWorld, data: JsonObject): Promise<JsonObject> {
  const metadata = { name: 'cilium-config' };
  return world.call('POST', '/api/v1/namespaces/kube-system/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data,
  });
}

/** The names of the cloud that causes of Kubernetes depend on. */
export interface CauseNames {
  /** The section of CiliumNodes. */
  readonly section: string;
  /** The program of cilium-operator. */
  readonly operator: string;
  /** The name of the other allocator, in a row, and the labels of its pods. */
  readonly allocator: readonly [RegExp, Readonly<Record<string, string>>];
  /** The most addresses that a node can hold. */
  readonly most: number;
  readonly releases: string;
}

/** Causes at the API server, alike for every cloud. */
export function clusterCauses(names: CauseNames): Causes<ClusterWorld> {
  const { section, operator, allocator, most, releases } = names;
  return {
    'agents of another mode': {
      stage: async ({ world }) => void (await ciliumConfig(world, { ipam: 'cluster-pool' })),
      row: /^problem options: the agents have ipam=cluster-pool /,
    },
    'agents of a cluster with another name': {
      stage: async ({ world }) => void (await ciliumConfig(world, { 'cluster-name': 'theirs' })),
      row: /^warning options: the agents have cluster-name=theirs /,
    },
    'option that is refused': {
      stage: () => ({ 'parallel-alloc-workers': 'many' }),
      row: /^problem options: parallel-alloc-workers: /,
    },
    'rate limit below that of Headwater': {
      stage: () => ({ 'limit-ipam-api-qps': '0.05', 'limit-ipam-api-burst': '1' }),
      row: /^warning options: .*limit-ipam-api/,
    },
    'releases that are off': {
      stage: async ({ world, one }) => {
        const pool = Object.fromEntries(
          Array.from({ length: 20 }, (_, at) => [`10.0.200.${at + 1}`, { resource: 'x' }]),
        );
        await world.patch(one, { spec: { ipam: { pool } } });
        return { [releases]: 'false' };
      },
      row: /^warning releases: they are off: 1 node .* keep \d+ addresses/,
    },
    'API server that does not answer': {
      stage: ({ world }) => void world.kubernetesFault({ effect: { kind: 'dropBefore' } }),
      row: /^unknown API server: /,
    },
    'no right to read Nodes': {
      stage: ({ world }) => void world.refuse(403, 'GET', /^\/api\/v1\/nodes/),
      row: /^unknown objects: Nodes cannot be read: /,
    },
    'no right to read CiliumNodes': {
      stage: ({ world }) => void world.refuse(403, 'GET', /ciliumnodes(\?|$)/),
      row: /^unknown objects: CiliumNodes cannot be read: /,
    },
    'no right to ask for rights': {
      stage: ({ world }) => void world.refuse(403, 'POST', /selfsubjectaccessreviews/),
      row: /^unknown permissions in Kubernetes: the API server does not say whether /,
    },
    'definition without a field': {
      stage: async ({ world }) => {
        const schema = structuredClone(ciliumNodeCrd.spec.versions[0]?.schema.openAPIV3Schema) as {
          properties: { status: { properties: Record<string, unknown> } };
        };
        delete schema.properties.status.properties[section];
        await world.installSchema(schema as unknown as JsonObject);
      },
      row: /^problem definition of CiliumNodes: it lacks status\./,
    },
    'CiliumNode without a Node': {
      stage: ({ world, spare }) => world.announceAlone(spare),
      row: /^warning objects: 1 CiliumNode .* without a Node$/,
    },
    'Node without a CiliumNode': {
      stage: ({ world, spare }) => world.register(spare),
      row: /^warning objects: 1 Node .* without a CiliumNode$/,
    },
    'Node of another cloud': {
      stage: async ({ world, spare }) => {
        const node = newNode(spare) as { spec: JsonObject };
        const elsewhere = { ...node, spec: { ...node.spec, providerID: 'kind://docker/kind/worker' } };
        await world.call('POST', '/api/v1/nodes', elsewhere);
        await world.announceAlone(spare);
      },
      row: /^warning objects: 1 Node .* without the provider ID of an instance of this cloud$/,
    },
    'CiliumNode without an instance': {
      stage: async ({ world, one }) =>
        void (await world.patch(one, { spec: { 'instance-id': null, [section]: { 'instance-id': null } } })),
      row: /^problem objects: 1 CiliumNode .* without an instance ID$/,
    },
    'CiliumNode of another instance than its Node': {
      stage: async ({ world, one, spare }) =>
        void (await world.patch(one, { spec: { 'instance-id': spare.instanceId } })),
      row: /^problem objects: 1 CiliumNode .* that names another instance than its Node$/,
    },
    'instance that two CiliumNodes name': {
      stage: async ({ world, one, two }) =>
        void (await world.patch(two, { spec: { 'instance-id': one.instanceId } })),
      row: /^problem objects: several CiliumNodes name the instance /,
    },
    'instance that two Nodes name': {
      stage: async ({ world, one, spare }) => {
        const node = newNode(spare) as { spec: JsonObject };
        const doubled = { ...node, spec: { ...node.spec, providerID: providerIdOf(one) } };
        await world.call('POST', '/api/v1/nodes', doubled);
      },
      row: /^problem objects: several Nodes name the instance /,
    },
    'cilium-operator that writes': {
      stage: ({ world, one }) => written(world, one, 'cilium-operator'),
      row: /^problem other writers: cilium-operator wrote spec\.ipam\.pool of 1 CiliumNode /,
    },
    'another program that writes': {
      stage: ({ world, one }) => written(world, one, 'kubectl-edit'),
      row: /^warning other writers: kubectl-edit wrote spec\.ipam\.pool of 1 CiliumNode /,
    },
    'cilium-operator that runs': {
      stage: ({ world, one }) =>
        addPod(world, podOf(one, 'operator', { 'io.cilium/app': 'operator' }, { command: operator })),
      row: /^problem other programs: cilium-operator gives out addresses of this cloud: /,
    },
    'another allocator on the same nodes': {
      stage: ({ world, one }) => addPod(world, podOf(one, 'allocator', allocator[1])),
      row: allocator[0],
    },
    'no right to read pods': {
      stage: ({ world }) => void world.refuse(403, 'GET', /^\/api\/v1\/pods/),
      row: /^unknown other programs: pods cannot be read: /,
    },
    'agent that is not ready': {
      stage: ({ world, one }) => addPod(world, podOf(one, 'cilium-1', { 'k8s-app': 'cilium' })),
      row: /^warning agents: 1 pod \(kube-system\/cilium-1\) of k8s-app=cilium: not ready$/,
    },
    'agents without a cilium-operator': {
      stage: ({ world, one }) => addPod(world, podOf(one, 'cilium-1', { 'k8s-app': 'cilium' })),
      row: /^warning other programs: no pod has the label io\.cilium\/app=operator: .* new Nodes keep the taint node\.cilium\.io\/agent-not-ready/,
    },
    'agent whose image cannot be pulled': {
      stage: async ({ world, one }) => {
        const containerStatuses = [{ name: 'main', state: { waiting: { reason: 'ImagePullBackOff' } } }];
        await addPod(
          world,
          podOf(one, 'cilium-1', { 'k8s-app': 'cilium' }, { status: { containerStatuses } }),
        );
      },
      row: /^warning agents: 1 pod \(kube-system\/cilium-1\) of k8s-app=cilium: ImagePullBackOff$/,
    },
    'agent that waits for more than its node can have': {
      stage: async ({ world, one }) =>
        void (await world.patch(one, { spec: { ipam: { 'min-allocate': 500, 'pre-allocate': 500 } } })),
      row: /^problem agents: those of 1 node .* cannot start: /,
    },
    'agent that waits for more than it may have': {
      stage: async ({ world, one }) =>
        void (await world.patch(one, { spec: { ipam: { 'min-allocate': 6, 'max-allocate': 5 } } })),
      row: /^problem agents: those of 1 node .* cannot start: lower ipam-min-allocate .* or raise ipam-max-allocate/,
    },
    'kubelet that admits more pods than its node can hold': {
      stage: async ({ world, one }) =>
        void (await world.call('PATCH', `/api/v1/nodes/${one.name}/status`, {
          status: { capacity: { pods: String(most + 100) } },
        })),
      row: /^warning pods of nodes: the kubelet of 1 node .* admits \d+ pods, although /,
    },
  };
}

/** A write of a pool by another field manager. */
async function written(world: ClusterWorld, { name }: NodeFacts, manager: string): Promise<void> {
  await world.call('PATCH', `${nodes}/${name}?fieldManager=${manager}`, {
    spec: { ipam: { pool: { '10.0.200.1': { resource: 'x' } } } },
  });
}
