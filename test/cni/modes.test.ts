// A pod of each main plugin in each mode of the agent, with both families: the agent's answer has to suit the plugin
// although the network names no lengths and gateways. Objects of Kubernetes that a mode reads are written here as its
// controllers write them.
import { afterEach, beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import { Child, endAll } from '../integration/commands/child.ts';
import { NodeMachine } from './rig/node-machine.ts';

let api: Child;
let url: string;
let node: NodeMachine;
let nodes = 0;

beforeAll(async () => {
  api = new Child(['simulate', '--kubernetes', '--kubernetes-port=0']);
  url = await api.word(/^# the Kubernetes API on (http:\S+\d)/m);
});

afterEach(() => node.remove());

afterAll(() => endAll());

async function send(method: string, path: string, body: object): Promise<void> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': contentType },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
}

const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';
const podCidrs = ['10.44.7.0/24', 'fd44:7::/112'];
const pool = (resource?: string) => ({
  pool: { '10.45.1.20': { resource }, '10.45.1.21': { resource } },
  'ipv6-pool': { 'fd45:1::20': { resource }, 'fd45:1::21': { resource } },
});
const addresses = ['10.45.1.20', '10.45.1.21'];

interface ModeCase {
  readonly mode: string;
  readonly flags?: readonly string[];
  readonly podCidrs?: readonly string[];
  readonly spec?: object;
  readonly status?: object;
  /** The `ipam` section of the network configuration. */
  readonly ipam?: object;
  /** The answer that a pod gets, by family. */
  readonly answer: readonly [RegExp, RegExp];
}

const cases: readonly ModeCase[] = [
  {
    mode: 'host-scope',
    flags: ['--ipv4-range=10.44.7.0/24', '--ipv6-range=fd44:7::/112'],
    answer: [/^10\.44\.7\.\d+\/24 10\.44\.7\.1$/, /^fd44:7::[\da-f]+\/112 fd44:7::1$/],
  },
  {
    mode: 'kubernetes',
    podCidrs,
    answer: [/^10\.44\.7\.\d+\/24 10\.44\.7\.1$/, /^fd44:7::[\da-f]+\/112 fd44:7::1$/],
  },
  {
    mode: 'cluster-pool',
    spec: { ipam: { podCIDRs: podCidrs } },
    answer: [/^10\.44\.7\.\d+\/24 10\.44\.7\.1$/, /^fd44:7::[\da-f]+\/112 fd44:7::1$/],
  },
  {
    mode: 'multi-pool',
    spec: { ipam: { pools: { allocated: [{ pool: 'default', cidrs: podCidrs }] } } },
    answer: [/^10\.44\.7\.\d+\/24 10\.44\.7\.0$/, /^fd44:7::[\da-f]+\/112 fd44:7::$/],
  },
  {
    mode: 'eni',
    spec: { ipam: pool('eni-1') },
    status: {
      eni: {
        enis: {
          'eni-1': {
            id: 'eni-1',
            mac: '02:00:00:00:00:01',
            number: 1,
            subnet: { id: 'subnet-1', cidr: '10.45.0.0/20' },
            vpc: { id: 'vpc-1', 'primary-cidr': '10.45.0.0/16' },
            addresses,
          },
        },
      },
    },
    answer: [/^10\.45\.1\.2\d\/20 10\.45\.0\.1$/, /^fd45:1::2\d\/64 fd45:1::$/],
  },
  {
    mode: 'eni',
    flags: ['--cilium-node-protocol=pools'],
    spec: { 'instance-id': 'i-1' },
    status: {
      eni: {
        enis: {
          'eni-1': {
            id: 'eni-1',
            mac: '02:00:00:00:00:01',
            number: 1,
            subnet: { id: 'subnet-1', cidr: '10.45.0.0/20' },
            vpc: { id: 'vpc-1', 'primary-cidr': '10.45.0.0/16' },
            addresses,
            'ipv6-prefixes': ['fd45:1:0:1:a::/80'],
          },
        },
      },
    },
    answer: [/^10\.45\.1\.2\d\/20 10\.45\.0\.1$/, /^fd45:1:0:1:a:[\da-f:]+\/80 fd45:1:0:1:a::$/],
  },
  {
    mode: 'azure',
    spec: { ipam: pool('nic-1') },
    status: {
      azure: {
        interfaces: [
          {
            id: 'nic-1',
            mac: '02:00:00:00:00:01',
            state: 'succeeded',
            gateway: '10.45.0.1',
            cidr: '10.45.0.0/20',
            addresses: addresses.map((ip) => ({ ip, state: 'succeeded' })),
          },
        ],
      },
    },
    answer: [/^10\.45\.1\.2\d\/20 10\.45\.0\.1$/, /^fd45:1::2\d\/64 fd45:1::$/],
  },
  {
    mode: 'azure',
    flags: ['--cilium-node-protocol=pools'],
    spec: { 'instance-id': 'i-1' },
    status: {
      azure: {
        interfaces: [
          {
            id: 'nic-1',
            mac: '02:00:00:00:00:01',
            state: 'succeeded',
            gateway: '10.45.0.1',
            cidr: '10.45.0.0/20',
            addresses: [...addresses, 'fd45:1::20', 'fd45:1::21'].map((ip) => ({ ip, state: 'succeeded' })),
          },
        ],
      },
    },
    answer: [/^10\.45\.1\.2\d\/20 10\.45\.0\.1$/, /^fd45:1::2\d\/64 fd45:1::$/],
  },
  {
    mode: 'alibabacloud',
    spec: { ipam: pool('eni-1') },
    status: {
      'alibaba-cloud': {
        enis: {
          'eni-1': {
            'network-interface-id': 'eni-1',
            'mac-address': '02:00:00:00:00:01',
            tags: { 'cilium-eni-index': '1' },
            vswitch: { 'vswitch-id': 'vsw-1', cidr: '10.45.0.0/20' },
            'private-ipsets': addresses.map((ip) => ({ 'private-ip-address': ip })),
          },
        },
      },
    },
    answer: [/^10\.45\.1\.2\d\/20 10\.45\.15\.253$/, /^fd45:1::2\d\/64 fd45:1::$/],
  },
  {
    mode: 'crd',
    spec: { ipam: pool() },
    ipam: { gateway: '10.45.1.1/24' },
    answer: [/^10\.45\.1\.2\d\/24 10\.45\.1\.1$/, /^fd45:1::2\d\/64 fd45:1::$/],
  },
];

/** A node of the mode, with an agent that serves. */
async function start({ mode, flags = [], podCidrs: cidrs, spec, status }: ModeCase): Promise<void> {
  const name = `node-${nodes++}`;
  if (mode !== 'host-scope') {
    await send('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: cidrs === undefined ? {} : { podCIDR: cidrs[0], podCIDRs: cidrs },
    });
  }
  if (spec !== undefined) {
    const object = { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name }, spec };
    await send('POST', ciliumNodes, object);
  }
  if (status !== undefined) await send('PATCH', `${ciliumNodes}/${name}/status`, { status });
  const access = mode === 'host-scope' ? [] : [`--k8s-api-server=${url}`, `--node-name=${name}`];
  node = await NodeMachine.create([`--ipam=${mode}`, '--enable-ipv6=true', ...access, ...flags]);
  await node.startAgent();
}

beforeAll(async () => {
  const networks = {
    ipv4: { cidrs: ['10.44.0.0/16'], maskSize: 24 },
    ipv6: { cidrs: ['fd44::/32'], maskSize: 112 },
  };
  await send('POST', '/apis/cilium.io/v2alpha1/ciliumpodippools', {
    apiVersion: 'cilium.io/v2alpha1',
    kind: 'CiliumPodIPPool',
    metadata: { name: 'default' },
    spec: networks,
  });
});

const plugins = [{ type: 'ptp' }, { type: 'bridge', bridge: 'cni0', isGateway: true }] as const;

describe.each(plugins)('a pod of $type', (plugin) => {
  const named = cases.map((each) => [[each.mode, ...(each.flags ?? [])].join(' '), each] as const);
  test.each(named)('starts with ipam=%s, and reaches its gateways', async (_, mode) => {
    await start(mode);
    await node.network('pods', plugin, { wait: '30s', ...mode.ipam });
    const pod = await node.pod();
    const args = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b';

    // With pools, which pool a pod gets is in the API, where this one is not.
    const added = await node.cnitool('add', 'pods', pod, mode.mode === 'multi-pool' ? '' : args);

    expect(added).toMatchObject({ code: 0, err: '' });
    const { ips } = JSON.parse(added.out) as {
      readonly ips: readonly { readonly address: string; readonly gateway: string }[];
    };
    expect(ips.map(({ address, gateway }) => `${address} ${gateway}`)).toEqual(
      mode.answer.map((each) => expect.stringMatching(each)),
    );
    for (const { address, gateway } of ips) {
      expect(await node.ping(pod, gateway)).toMatchObject({ code: 0 });
      expect(await node.ping(node.name, address.split('/')[0] ?? '')).toMatchObject({ code: 0 });
    }
    expect(await node.cnitool('check', 'pods', pod)).toMatchObject({ code: 0 });
    expect(await node.cnitool('del', 'pods', pod)).toMatchObject({ code: 0, err: '' });
    expect(await node.held()).toEqual([]);
  });

  test('fails with ipam=delegated-plugin, which has no addresses', async () => {
    node = await NodeMachine.create(['--ipam=delegated-plugin', `--k8s-api-server=${url}`]);
    await node.startAgent();
    await node.network('pods', plugin);

    const added = await node.cnitool('add', 'pods', await node.pod());

    expect(added.code).toBe(1);
    expect(added.err).toContain('501');
  });
});
