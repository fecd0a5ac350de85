// The plugin as a network of its own, called by libcni as container runtimes do, and as a stand-in for Cilium's plugin calls it.
import { afterEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cniPath, NodeMachine, type Ran, run } from './rig/node-machine.ts';

let node: NodeMachine;

afterEach(() => node.remove());

const both = ['--ipam=host-scope', '--ipv4-range=10.99.1.0/24', '--ipv6-range=fd99::/112'];

/** Calls the network `pods`, which has this version. */
function runtimeOf(cniVersion: string): (verb: string, ...containers: readonly string[]) => Promise<Ran> {
  const path = join(node.directory, `${cniVersion}.conflist`);
  const plugins = [{ type: 'headwater-ipam', ipam: { type: 'headwater-ipam', socket: node.socket } }];
  writeFileSync(path, JSON.stringify({ cniVersion, name: 'pods', plugins }));
  return (verb, ...containers) =>
    run(join(cniPath, 'runtime'), [verb, path, join(node.directory, 'cache'), ...containers], {
      CNI_PATH: cniPath,
    });
}

describe('a runtime on libcni', () => {
  test('adds, checks and deletes in each version, and gets the result of that version', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    for (const version of ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0']) {
      const call = runtimeOf(version);

      const added = await call('add', 'c1');

      expect(added).toMatchObject({ code: 0, err: '' });
      const { cniVersion, ips, ip4 } = JSON.parse(added.out) as Readonly<Record<string, unknown>>;
      expect(cniVersion).toBe(version);
      if (version < '0.3.0') expect(ip4).toMatchObject({ ip: expect.stringMatching(/^10\.99\.1\.\d+\/24$/) });
      else expect(ips).toHaveLength(2);
      // libcni refuses to check a network of an earlier version.
      if (version >= '0.4.0') expect(await call('check', 'c1')).toMatchObject({ code: 0, err: '' });
      expect(await node.held()).toHaveLength(2);
      expect(await call('del', 'c1')).toMatchObject({ code: 0, err: '' });
      expect(await node.held()).toEqual([]);
    }
  });

  test('keeps by GC what it names, and learns by STATUS whether an ADD would succeed', async () => {
    node = await NodeMachine.create(both);
    await node.startAgent();
    const call = runtimeOf('1.1.0');
    for (const container of ['c1', 'c2', 'c3']) await call('add', container);
    const { out: kept } = await call('add', 'c2');

    expect(await call('status')).toMatchObject({ code: 0, err: '' });
    expect(await call('gc', 'c2')).toMatchObject({ code: 0, err: '' });
    expect(await node.held()).toHaveLength(2);
    for (const ip of await node.held()) expect(kept).toContain(`"${ip}/`);
    expect(await call('check', 'c1')).toMatchObject({ code: 1 });
    expect(await call('gc')).toMatchObject({ code: 0, err: '' });
    expect(await node.held()).toEqual([]);
    await node.agent.stop();
    expect(await call('status')).toMatchObject({ code: 1, err: expect.stringContaining(node.socket) });
  });
});

// Not cilium-cni: a stand-in that calls what it delegates to, in its order.
describe('a stand-in for a delegating Cilium plugin', () => {
  test('gets one address of each family with the prefix length of the host, and gives both back', async () => {
    node = await NodeMachine.create([...both, '--exclude-ips=10.99.1.2']);
    await node.startAgent();
    const delegated = { type: 'headwater-ipam', socket: node.socket, prefixLength: 'host' };
    const conf = {
      cniVersion: '0.3.1',
      name: 'cilium',
      type: 'cilium-cni',
      'log-file': '/x',
      ipam: delegated,
    };
    const pod = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_UID=u';
    const env = { CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0', CNI_ARGS: pod };

    const added = await node.plugin({ ...env, CNI_COMMAND: 'ADD', CNI_NETNS: '/n' }, conf);

    expect(added).toMatchObject({ code: 0, err: '' });
    const { ips } = JSON.parse(added.out) as { readonly ips: readonly object[] };
    expect(ips).toEqual([
      { version: '4', address: expect.stringMatching(/^10\.99\.1\.\d+\/32$/), gateway: '10.99.1.1' },
      { version: '6', address: expect.stringMatching(/^fd99::[\da-f]+\/128$/), gateway: 'fd99::1' },
    ]);
    // What fails after the ADD is cleaned up by a DEL, before the namespace is entered, and the runtime sends another.
    const del = { ...env, CNI_COMMAND: 'DEL' };
    expect(await node.plugin(del, { ...conf, prevResult: JSON.parse(added.out) as object })).toMatchObject({
      code: 0,
      out: '',
    });
    expect(await node.plugin(del, conf)).toMatchObject({ code: 0, out: '' });
    expect(await node.held()).toEqual([]);
  });
});
