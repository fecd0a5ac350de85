// The plugin behind a main plugin in the list of a network, so that GC and STATUS reach the agent.
import { describe, expect, test } from '@jest/globals';
import { AgentRig, printed } from '../agent-rig.ts';

const ip = '10.0.0.7';
const prevResult = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'veth1', mac: '0a:01', mtu: 1500 },
    { name: 'eth0', sandbox: '/n', socketPath: '' },
  ],
  ips: [{ address: `${ip}/24`, gateway: '10.0.0.1', interface: 1 }],
  routes: [{ dst: '0.0.0.0/0', priority: 3 }],
  dns: { nameservers: ['10.0.0.2'] },
};
const member = { type: 'headwater-ipam', prevResult };
const fixed = { env: { CNI_ARGS: `IP=${ip}` } };

describe('behind a main plugin', () => {
  test('an ADD hands on what that has made, and gives nothing', async () => {
    const rig = new AgentRig();
    await rig.call('ADD', fixed);

    const answer = await rig.call('ADD', { conf: member });

    expect(answer.exit).toBe(0);
    expect(printed(answer)).toEqual(prevResult);
    expect(rig.held).toEqual([ip]);
    expect(rig.changes).toHaveLength(1);
  });

  test('an ADD answers in the version of the network', async () => {
    const answer = await new AgentRig().call('ADD', { conf: { ...member, cniVersion: '1.0.0' } });

    expect(printed(answer)).toEqual({ ...prevResult, cniVersion: '1.0.0' });
  });

  test('a DEL leaves the address to the main plugin', async () => {
    const rig = new AgentRig();
    await rig.call('ADD', fixed);

    expect(await rig.call('DEL', { conf: member })).toEqual({ exit: 0, out: '' });
    expect(rig.held).toEqual([ip]);
    await rig.call('DEL', { conf: { prevResult } });
    expect(rig.held).toEqual([]);
  });

  test('CHECK, GC and STATUS do what they do as IPAM', async () => {
    const rig = new AgentRig();
    await rig.call('ADD', fixed);

    expect(await rig.call('CHECK', { conf: member })).toEqual({ exit: 0, out: '' });
    expect(await rig.call('STATUS', { conf: member })).toEqual({ exit: 0, out: '' });
    await rig.call('GC', { conf: { type: 'headwater-ipam', 'cni.dev/valid-attachments': null } });
    expect(rig.held).toEqual([]);
  });

  test('a result without interfaces is of IPAM alone: its DEL releases', async () => {
    const rig = new AgentRig();
    await rig.call('ADD', fixed);
    const { interfaces: _, ...result } = prevResult;

    await rig.call('DEL', { conf: { type: 'headwater-ipam', prevResult: result } });

    expect(rig.held).toEqual([]);
  });
});
