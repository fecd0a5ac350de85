// The command check against the models of the API server and of the clouds, over HTTP.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  announceAzure,
  azureGroup,
  create,
  createNode,
  flagsFor,
  rowsOf,
  stageAlibaba,
  stageAzure,
  wrongIn,
} from './check-rig.ts';
import { endAll, headwater } from './child.ts';
import { announce, simulate, smallCloud, supplyKeys } from './simulated.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-check-'));
});
afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

const environment = supplyKeys;

const everyRead = 'Instances InstanceTypes NetworkInterfaces RouteTables SecurityGroups Subnets Vpcs'
  .split(' ')
  .map((what) => `Describe${what}`);

describe('headwater check on AWS', () => {
  test('finds a clean cluster fine, and changes nothing', async () => {
    const simulated = await simulate(join(directory, 'clean'));
    const { api, ec2 } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    await createNode(api, 'one', 'aws:///us-east-1a/i-00000000000000001');
    const before = await (await fetch(`${ec2}/_headwater/state`)).text();

    const ended = await headwater(flagsFor(simulated), { environment });

    expect(ended.code).toBe(0);
    expect(rowsOf(ended)).toEqual([
      'ok          options: accepted: --ipam=eni, and options that are set: 4',
      'ok          permissions in Kubernetes: all 17 of system:admin are granted',
      'ok          ports: :9966 (serve-addr) is taken neither by the options of Cilium nor by a pod, as far as those of 1 node show',
      'ok          definition of CiliumNodes: it has the fields that Headwater writes',
      'ok          objects: 1 Nodes and 1 CiliumNodes belong together',
      'ok          other writers: none wrote pools or interfaces of 1 CiliumNodes in the last hour',
      expect.stringMatching(/^ok +cloud: it answers: us-east-1/),
      'ok          instances: the cloud shows the 1 that were looked at',
      expect.stringMatching(
        /^ok +permissions in the cloud: a dry run permits DescribeInstances, CreateNetworkInterface; not asked, /,
      ),
      'ok          subnets: 1 node (one) get interfaces in subnet-0000000000000000a (10.0.0.0/24, us-east-1a), where 249 of 256 addresses are free',
      'ok          agents: 1 list the addresses in use (up to 1.19)',
      expect.stringMatching(/^in all +12 ok$/),
    ]);
    expect(await (await fetch(`${ec2}/_headwater/state`)).text()).toBe(before);
  });

  test('says what is wrong with objects, options of a directory, and subnets, with exit code 1', async () => {
    const simulated = await simulate(join(directory, 'wrong'));
    const { api } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    await announce(api, 'two', 'i-00000000000000001');
    await createNode(api, 'one', 'aws:///us-east-1a/i-00000000000000001');
    const folder = await mkdtemp(join(directory, 'config-'));
    await writeFile(join(folder, 'subnet-ids-filter'), 'subnet-0000000000000000b');

    const ended = await headwater([...flagsFor(simulated), `--config-dir=${folder}`, '--output=json'], {
      environment,
    });

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      'warning objects: 1 CiliumNode (two) without a Node',
      'problem objects: several CiliumNodes name the instance i-00000000000000001: one, two',
      expect.stringMatching(
        /^problem subnets: 2 nodes \(one, two\) can get no interface: nothing matches a subnet of vpc-/,
      ),
    ]);
  });

  test('asks for no permission in Kubernetes where that is to be skipped', async () => {
    const simulated = await simulate(join(directory, 'skipped'));
    await announce(simulated.api, 'one', 'i-00000000000000001');
    await createNode(simulated.api, 'one', 'aws:///us-east-1a/i-00000000000000001');

    const flags = [...flagsFor(simulated), '--output=json'];
    const asked = await headwater(flags, { environment });
    const skipped = await headwater([...flags, '--skip-access-review'], { environment });
    const refused = await headwater([...flags, '--skip-access-review=perhaps'], { environment });

    expect([asked.code, skipped.code]).toEqual([0, 0]);
    const isAsked = ({ out }: { readonly out: string }): boolean => out.includes('permissions in Kubernetes');
    expect([asked, skipped].map(isAsked)).toEqual([true, false]);
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 2, out: '' });
    expect(refused.err).toContain('skip-access-review');
  });

  test('says which changes the cloud denies, without making any', async () => {
    const simulated = await simulate(join(directory, 'no-changes'));
    const { api, ec2 } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    await createNode(api, 'one', 'aws:///us-east-1a/i-00000000000000001');
    await fetch(`${ec2}/_headwater/allowed-actions`, {
      method: 'PUT',
      body: JSON.stringify({ actions: everyRead }),
    });

    const ended = await headwater([...flagsFor(simulated), '--output=json'], { environment });

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      expect.stringMatching(
        /^problem permissions in the cloud: CreateNetworkInterface is denied: UnauthorizedOperation: /,
      ),
    ]);
  });

  test.each<[string, readonly RegExp[]]>([
    [
      'Instances',
      [/^problem permissions in the cloud: DescribeInstances is denied: UnauthorizedOperation: /],
    ],
    [
      'NetworkInterfaces',
      [
        /^problem permissions in the cloud: DescribeNetworkInterfaces failed: UnauthorizedOperation: /,
        /^unknown permissions in the cloud: changes were not asked about, because DescribeNetworkInterfaces failed$/,
      ],
    ],
    [
      'Subnets',
      [
        /^problem permissions in the cloud: DescribeSubnets failed: UnauthorizedOperation: /,
        /^unknown permissions in the cloud: changes were not asked about, because DescribeSubnets failed$/,
      ],
    ],
  ])('says once that a read is denied, and what was not asked for that: %s', async (denied, rows) => {
    const simulated = await simulate(join(directory, `no-${denied}`));
    const { api, ec2 } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    await createNode(api, 'one', 'aws:///us-east-1a/i-00000000000000001');
    const reads = everyRead.filter((action) => action !== `Describe${denied}`);
    await fetch(`${ec2}/_headwater/allowed-actions`, {
      method: 'PUT',
      body: JSON.stringify({ actions: [...reads, 'CreateNetworkInterface', 'CreateTags'] }),
    });

    const ended = await headwater([...flagsFor(simulated), '--output=json'], { environment });

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual(rows.map((row) => expect.stringMatching(row)));
  });

  test('names agents of another mode, other programs, agents that do not run, and kubelets that admit too many pods', async () => {
    const simulated = await simulate(join(directory, 'programs'));
    const { api } = simulated;
    await announce(api, 'one', 'i-00000000000000001');
    await create(api, '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'one' },
      spec: { providerID: 'aws:///us-east-1a/i-00000000000000001' },
      status: { capacity: { pods: '110' } },
    });
    await create(api, '/api/v1/namespaces/kube-system/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cilium-config' },
      data: { ipam: 'cluster-pool', 'cluster-name': 'mine' },
    });
    const pods: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
      ['operator', { 'io.cilium/app': 'operator' }, 'cilium-operator-aws'],
      ['aws-node-1', { 'k8s-app': 'aws-node' }, 'aws-vpc-cni'],
      ['cilium-1', { 'k8s-app': 'cilium' }, 'cilium-agent'],
    ];
    for (const [name, labels, command] of pods)
      await create(api, '/api/v1/namespaces/kube-system/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels },
        spec: { nodeName: 'one', containers: [{ name: 'main', image: 'image', command: [command] }] },
      });

    const ended = await headwater([...flagsFor(simulated), '--output=json'], { environment });

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      expect.stringMatching(/^problem options: the agents have ipam=cluster-pool /),
      'problem other programs: cilium-operator gives out addresses of this cloud: 1 pod (kube-system/operator)',
      'problem other programs: the VPC CNI plugin (aws-node) runs on 1 node (one), and takes addresses of the same machines',
      'warning agents: 1 pod (kube-system/cilium-1) of k8s-app=cilium: not ready',
      'warning pods of nodes: the kubelet of 1 node (one) admits 110 pods, although m5.large can hold 27 addresses',
    ]);
  });

  test('names nodes that the controller would block, and counts none that is to be ignored', async () => {
    const more = ['three', 'four', 'five'].map(
      (name, at) =>
        `  - { name: ${name}, id: i-0000000000000000${at + 3}, type: m5.large, subnet: a, securityGroups: [nodes] }\n`,
    );
    const cloud = smallCloud().replace('limits: {', `${more.join('')}limits: {`);
    const simulated = await simulate(join(directory, 'blocked'), cloud);
    const { api } = simulated;
    const ignore = { 'ipam.cilium.io/ignore': 'true' };
    await announce(api, 'type', 'i-00000000000000001', { 'instance-type': 'z9.rubbish' });
    await announce(api, 'groups', 'i-00000000000000002', { 'security-group-tags': { of: 'nobody' } });
    await announce(api, 'network', 'i-00000000000000003', { 'vpc-id': 'vpc-00000000000000009' });
    await announce(api, 'ignored', 'i-00000000000000004', { annotations: ignore });
    await announce(api, 'of-node', 'i-00000000000000005');
    for (const [at, name] of ['type', 'groups', 'network', 'ignored', 'of-node'].entries())
      await create(api, '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, ...(name === 'of-node' && { annotations: ignore }) },
        spec: { providerID: `aws:///us-east-1a/i-0000000000000000${at + 1}` },
      });

    const ended = await headwater([...flagsFor(simulated), '--output=json'], { environment });

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      'problem nodes: 1 node (network) can get no address: spec.eni.vpc-id is vpc-00000000000000009 and the cloud shows the instance in vpc-00000000000000001: correct spec.eni.vpc-id, or set --pod-vpc-id=vpc-00000000000000009 for pods there',
      'problem nodes: 1 node (type) can get no address: the cloud knows no instance type "z9.rubbish": correct spec.eni.instance-type',
      expect.stringMatching(
        /^problem subnets: 1 node \(groups\) can get no interface: no security group .* the tags of=nobody: /,
      ),
    ]);
    expect(ended.out).not.toMatch(/get interfaces in|ignored|of-node/);
  });

  test('says that the cloud refuses the credentials', async () => {
    const simulated = await simulate(join(directory, 'denied'));
    await announce(simulated.api, 'one', 'i-00000000000000001');

    const ended = await headwater([...flagsFor(simulated), '--output=json'], {
      environment: { ...environment, AWS_SECRET_ACCESS_KEY: 'wrong' },
    });

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toContainEqual(
      expect.stringMatching(/^problem cloud: DescribeVpcs failed: SignatureDoesNotMatch: /),
    );
  });

  test.each<[string, readonly string[], readonly RegExp[]]>([
    [
      'no cluster and no cloud',
      ['--ec2-api-endpoint=http://127.0.0.1:1', '--k8s-kubeconfig-path=/nowhere'],
      [/^unknown API server: .*\/nowhere/, /^unknown cloud: DescribeVpcs failed: ECONNREFUSED/],
    ],
    [
      'an API server that does not answer',
      ['--ec2-api-endpoint=http://127.0.0.1:1', '--k8s-api-server=http://127.0.0.1:1'],
      [/^unknown API server: cannot reach http:\/\/127\.0\.0\.1:1/, /^unknown cloud/],
    ],
  ])('cannot find out without an answer, with exit code 2: %s', async (_, args, rows) => {
    const ended = await headwater(
      ['check', '--aws-region=us-east-1', '--cluster-name=a', ...args, '--output=json'],
      { environment },
    );

    expect(ended.code).toBe(2);
    expect(wrongIn(ended)).toEqual(rows.map((row) => expect.stringMatching(row)));
  });

  test('refuses options as the controller does', async () => {
    const ended = await headwater(['check', '--ipam=crd', '--output=json']);
    const last = await headwater(['check', '--ipam=crd', '--output=json', '--output=text']);
    const format = await headwater(['check', '--output=yaml']);

    expect(ended).toMatchObject({ code: 1, err: '' });
    expect(wrongIn(ended)).toEqual([expect.stringMatching(/^problem options: ipam: /)]);
    expect(last.out).toMatch(/^problem +options: ipam: /);
    expect(format).toMatchObject({ code: 2, out: '' });
    expect(format.err).toBe('headwater check: --output is "yaml"; accepted: text, json\n');
  });
});

describe('headwater check on other clouds', () => {
  test('reads Azure by the machines that nodes name, and where they are', async () => {
    const { api, check } = await stageAzure(await mkdtemp(join(directory, 'azure-')));
    const pool = `${azureGroup}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool1`;
    await announceAzure(api, 'one', `${pool}/virtualMachines/0`);

    const ended = await check('--output=json');

    expect(wrongIn(ended)).toEqual([]);
    expect(ended.code).toBe(0);
    expect(ended.out).toMatch(/the cloud shows the 1 that were looked at/);
    expect(ended.out).toMatch(
      /interfaces of nodes are in [^ ]+\/subnets\/pods \(10\.1\.0\.0\/16\), where 65528 of 65536/i,
    );
  });

  test('reads Alibaba Cloud, and chooses among its vSwitches', async () => {
    const { api, endpoint, check } = await stageAlibaba(await mkdtemp(join(directory, 'alibaba-')));
    const state = (await (await fetch(`${endpoint}/_headwater/state`)).json()) as {
      readonly instances: readonly { readonly id: string }[];
      readonly vpcs: readonly { readonly id: string }[];
    };
    const id = state.instances[0]?.id ?? '';
    await createNode(api, 'one', `cn-hangzhou.${id}`);
    await create(api, '/apis/cilium.io/v2/ciliumnodes', {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'one' },
      spec: {
        'instance-id': id,
        ipam: { 'pre-allocate': 4 },
        'alibaba-cloud': {
          'instance-type': 'ecs.g7.xlarge',
          'availability-zone': 'cn-hangzhou-a',
          'vpc-id': state.vpcs[0]?.id,
          'vswitch-tags': { purpose: 'pods' },
        },
      },
    });

    const ended = await check('--output=json');

    expect(wrongIn(ended)).toEqual([]);
    expect(ended.code).toBe(0);
    expect(ended.out).toContain(
      'reads that are permitted: DescribeInstanceTypes, DescribeNetworkInterfaces, DescribeSecurityGroups, DescribeVSwitches, DescribeVpcs; not asked: ecs:DescribeInstances, ecs:AssignPrivateIpAddresses, ',
    );
    expect(ended.out).toMatch(/1 node \(one\) get interfaces in vsw-\w+ \(10\.1\.0\.0\/16, cn-hangzhou-a\)/);
  });
});

describe('headwater check of blocks', () => {
  const flags = (kubeconfig: string, ...more: readonly string[]): readonly string[] => [
    'check',
    `--k8s-kubeconfig-path=${kubeconfig}`,
    '--output=json',
    ...more,
  ];
  const ciliumNode = (api: string, name: string, ipam: object): Promise<void> =>
    create(api, '/apis/cilium.io/v2/ciliumnodes', {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name },
      spec: { ipam },
    });

  test('judges what CiliumNodes hold as the controller would, and names an operator that gives out more', async () => {
    const { api, kubeconfig } = await simulate(join(directory, 'cluster-pool'));
    for (const [name, ...podCIDRs] of [
      ['n1', '10.9.0.0/24'],
      ['n2', '10.0.1.0/24'],
      ['n3', '10.0.1.0/24'],
      ['n4', '10.0.2.0'],
      ['n5', '10.0.3.0/24'],
    ] as const) {
      if (name !== 'n5') await createNode(api, name, '');
      await ciliumNode(api, name, { podCIDRs });
    }
    await create(api, '/api/v1/namespaces/kube-system/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'operator', labels: { 'io.cilium/app': 'operator' } },
      spec: { containers: [{ name: 'main', image: 'image', command: ['cilium-operator-generic'] }] },
    });

    const ended = await headwater(
      flags(kubeconfig, '--ipam=cluster-pool', '--cluster-pool-ipv4-cidr=10.0.0.0/16'),
    );

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      'warning objects: 1 CiliumNode (n5) without a Node',
      expect.stringMatching(
        /^problem blocks: 1 CiliumNode \(n1\): PodCIDROutsidePools; of n1: its pod CIDR 10\.9\./,
      ),
      expect.stringMatching(
        /^problem blocks: 1 CiliumNode \(n3\): PodCIDRConflict; of n3: .* overlaps that of n2/,
      ),
      expect.stringMatching(
        /^problem blocks: 1 CiliumNode \(n4\): PodCIDRUnreadable; of n4: its pod CIDR "10\.0\.2\.0"/,
      ),
      'warning other writers: node wrote spec.ipam.podCIDRs of 5 CiliumNodes (n1, n2, n3 and 2 more), last 0 min ago',
      'problem other programs: cilium-operator runs with ipam=cluster-pool, and gives out addresses: 1 pod (kube-system/operator)',
    ]);
  });

  test('judges only the nodes of the selector, and names the release that chooses some of them, too', async () => {
    const { api, kubeconfig } = await simulate(join(directory, 'two-releases'));
    for (const [name, network, ...podCIDRs] of [
      ['n1', 'blocks', '10.0.1.0/24'],
      ['n2', 'blocks', '10.0.2.0/24'],
      ['n3', 'eni', '10.9.0.0/24'],
    ] as const) {
      await create(api, '/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { network } },
      });
      await ciliumNode(api, name, { podCIDRs });
    }
    for (const [name, selector] of [
      ['of-eni', 'network=eni'],
      ['of-all', ''],
    ] as const)
      await create(api, '/apis/coordination.k8s.io/v1/namespaces/default/leases', {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, annotations: { 'headwater/selects-ciliumnodes': selector } },
      });
    const of = (selector: string): ReturnType<typeof headwater> =>
      headwater(
        flags(
          kubeconfig,
          '--ipam=cluster-pool',
          '--cluster-pool-ipv4-cidr=10.0.0.0/16',
          `--node-selector=${selector}`,
        ),
      );
    const [ended, none, refused] = [
      await of('network=blocks'),
      await of('network=none'),
      await of('network in ()'),
    ];

    expect(ended.out).toContain('network=blocks chooses 2 Nodes (n1, n2), and leaves 1 to others');
    expect(ended.out).toContain('those of 2 CiliumNodes fit the networks, and none is on two');
    expect(wrongIn(ended).filter((line) => line.includes('selector'))).toEqual([
      'problem node-selector: the release of the Lease of-all (it has no node-selector) chooses 2 nodes (n1, n2), too',
    ]);
    expect(wrongIn(none)).toContain('warning node-selector: network=none chooses no Node');
    expect(refused.out).toContain('is refused; accepted: a label selector as kubectl takes it');
  });

  test('finds a block of no CiliumPodIPPool, one that two list, and a cluster in order', async () => {
    const { api, kubeconfig } = await simulate(join(directory, 'multi-pool'));
    await create(api, '/apis/cilium.io/v2alpha1/ciliumpodippools', {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'default' },
      spec: { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 27 } },
    });
    const listed = (...cidrs: readonly string[]): object => ({
      pools: { allocated: [{ pool: 'default', cidrs }] },
    });
    await createNode(api, 'n1', '');
    await ciliumNode(api, 'n1', listed('10.0.0.0/27'));
    const fine = await headwater(flags(kubeconfig, '--ipam=multi-pool'));
    await createNode(api, 'n2', '');
    await ciliumNode(api, 'n2', listed('10.0.0.0/27'));
    await createNode(api, 'n3', '');
    await ciliumNode(api, 'n3', listed('10.9.0.0/27'));

    const ended = await headwater(flags(kubeconfig, '--ipam=multi-pool'));

    expect(fine.code).toBe(0);
    expect(wrongIn(fine)).toEqual([
      'warning other writers: node wrote spec.ipam.pools.allocated of 1 CiliumNode (n1), last 0 min ago',
    ]);
    expect(fine.out).toContain('those of 1 CiliumNodes fit the networks, and none is on two');
    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      expect.stringMatching(/^problem blocks: 1 CiliumNode \(n2\): \w+; of n2: .*10\.0\.0\.0\/27/),
      expect.stringMatching(/^problem blocks: 1 CiliumNode \(n3\): BlockOrphaned; of n3: .*10\.9\.0\.0\/27/),
      'warning other writers: node wrote spec.ipam.pools.allocated of 3 CiliumNodes (n1, n2, n3), last 0 min ago',
    ]);
  });
});
