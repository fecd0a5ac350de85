// The network that the chart installs: the plugin gives addresses to the main plugin, and stands behind it in the list, so that
// STATUS and GC reach the agent. A runtime on libcni takes the highest version that both know.
import { afterEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { cniPath, NodeMachine, type Ran, run } from './rig/node-machine.ts';

interface Conflist {
  readonly plugins: readonly { readonly type: string; readonly ipam?: object }[];
}

const values = parse(readFileSync('charts/headwater/values.yaml', 'utf8')) as {
  readonly agent: { readonly network: { readonly conflist: Conflist } };
};

let node: NodeMachine;

afterEach(() => node.remove());

/** Those that the rig has, with the socket of this node. */
async function writeNetwork(): Promise<string> {
  const { conflist } = values.agent.network;
  const plugins = conflist.plugins
    .filter(({ type }) => type !== 'portmap')
    .map(({ ipam, ...rest }) => ({ ...rest, ipMasq: false, ipam: { ...ipam, socket: node.socket } }));
  const path = join(node.directory, 'net.d', 'pods.conflist');
  await writeFile(path, JSON.stringify({ ...conflist, plugins }));
  return path;
}

/** As cnitool names the containers of its namespaces, libcni is given what is valid. */
function gc(path: string, ...valid: readonly string[]): Promise<Ran> {
  const words = ['gc', path, join(node.directory, 'cache'), ...valid];
  return run('ip', ['netns', 'exec', node.name, join(cniPath, 'runtime'), ...words], { CNI_PATH: cniPath });
}

async function containers(): Promise<readonly string[]> {
  const { body } = await node.ask('/v1/ipam');
  const { addresses } = body as {
    readonly addresses: Readonly<Record<string, { readonly attachment: { readonly container: string } }>>;
  };
  return Object.values(addresses).map(({ attachment }) => attachment.container);
}

describe('the network of the chart', () => {
  test('connects a pod, and brings STATUS and GC to the agent', async () => {
    node = await NodeMachine.create(['--ipam=host-scope', '--ipv4-range=10.99.1.0/24']);
    await node.startAgent();
    const path = await writeNetwork();
    const pod = await node.pod();

    const added = await node.cnitool('add', 'pods', pod);
    expect(added).toMatchObject({ code: 0, err: '' });
    const { cniVersion, interfaces, ips } = JSON.parse(added.out) as {
      readonly cniVersion: string;
      readonly interfaces: readonly object[];
      readonly ips: readonly { readonly address: string; readonly interface: number }[];
    };
    expect(cniVersion).toBe('1.1.0');
    expect(interfaces).toHaveLength(2);
    expect(ips).toMatchObject([{ address: `${(await node.held())[0]}/24`, interface: 1 }]);
    expect(await node.ping(pod, '10.99.1.1')).toMatchObject({ code: 0 });
    expect(await node.cnitool('check', 'pods', pod)).toMatchObject({ code: 0, err: '' });
    expect(await node.cnitool('status', 'pods', pod)).toMatchObject({ code: 0, err: '' });

    // A container whose runtime forgot it.
    const [known = ''] = await containers();
    const env = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'forgotten', CNI_NETNS: '/n', CNI_IFNAME: 'eth0' };
    await node.plugin(env, { cniVersion: '1.1.0', name: 'pods', ipam: { socket: node.socket } });
    expect(await containers()).toEqual([known, 'forgotten']);
    expect(await gc(path, known)).toMatchObject({ code: 0, err: '' });
    expect(await containers()).toEqual([known]);

    // It has its pods in a cache, and knows of none that is valid.
    expect(await node.cnitool('gc', 'pods', pod)).toMatchObject({ code: 0 });
    expect(await node.held()).toEqual([]);
    expect(await node.cnitool('del', 'pods', pod)).toMatchObject({ code: 0, err: '' });
    await node.agent.stop();
    const status = await node.cnitool('status', 'pods', pod);
    expect(status.code).toBe(1);
    expect(`${status.out}${status.err}`).toContain(node.socket);
  });
});
