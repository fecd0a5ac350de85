// A family that is switched off, where Kubernetes or an option shows addresses of it, in virtual time.
import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import { type JsonObject, valueAt } from '../../../src/runtime/json.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin } from './plugin-call.ts';

const request = (method: string, path: string) => ({
  method,
  path,
  query: new URLSearchParams(),
  headers: {},
  body: '',
});
const never = new AbortController().signal;

describe('with --enable-ipv6=false', () => {
  test.each<readonly [string, object, Readonly<Record<string, string>>]>([
    ['cluster-pool', { podCIDRs: ['10.0.0.0/24', 'fd00::/112'] }, {}],
    ['cluster-pool', { podCIDRs: ['10.0.0.0/24'] }, { 'ipv6-range': 'fd00::/112' }],
    ['crd', { pool: { '10.0.0.7': {} }, 'ipv6-pool': { 'fd00::7': {} } }, {}],
  ])('%s serves none of %j and %j', async (mode, ipam, ranges) => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    const machine = new AgentMachine({
      clock,
      random: new Random('m'),
      flags: { ipam: mode, 'enable-ipv6': 'false', ...ranges },
      connect: () => api.transport,
    });
    await api.create('one', { ipam: JSON.parse(JSON.stringify(ipam)) as never });
    machine.start();
    await clock.advance(1000);

    const settings = { wait: '0s', prefixLength: 'host' };
    const added = await callPlugin(machine, { verb: 'ADD', container: 'c1', ipam: settings });
    const fixed = await machine.call(request('POST', '/v1/ipam/fd00::7'), never);
    const shown = await machine.call(request('GET', '/v1/ipam'), never);

    expect(added.addresses).toEqual([expect.stringMatching(/^10\./)]);
    expect(fixed?.status).toBe(500);
    expect(shown?.body).not.toContain('fd00');
    expect(machine.bugs).toEqual([]);
    machine.remove();
  });
});

describe('an address of a family that is switched off while its pod lives', () => {
  function machineOf(clock: VirtualClock, api: EmbeddedApi, flags: Record<string, string>): AgentMachine {
    return new AgentMachine({ clock, random: new Random('m'), flags, connect: () => api.transport });
  }

  const nodeOf = (api: EmbeddedApi): Promise<JsonObject> =>
    api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');

  test('keeps its block of a pool until it is released', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock, 'api', { crds: [ciliumNodeCrd, ciliumPodIpPoolCrd] });
    await api.kubectl('POST', '/apis/cilium.io/v2alpha1/ciliumpodippools', {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'blue' },
      spec: {
        ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 24 },
        ipv6: { cidrs: ['fd00::/96'], maskSize: 120 },
      },
    });
    const cidrs = ['10.0.0.0/24', 'fd00::/120'];
    await api.create('one', { ipam: { pools: { allocated: [{ pool: 'blue', cidrs }] } } });
    const flags: Record<string, string> = {
      ipam: 'multi-pool',
      'ipam-multi-pool-pre-allocation': 'blue=8',
    };
    const machine = machineOf(clock, api, flags);
    machine.start();
    await clock.advance(1000);
    const ipam = { wait: '0s', pool: 'blue' };
    const added = await callPlugin(machine, { verb: 'ADD', container: 'c1', ipam });
    expect(added.addresses).toHaveLength(2);

    machine.kill();
    Object.assign(flags, { 'enable-ipv6': 'false', 'ipam-multi-pool-pre-allocation': 'default=8' });
    machine.start();
    await clock.advance(120_000);

    const allocated = async (): Promise<unknown> =>
      valueAt(await nodeOf(api), 'spec', 'ipam', 'pools', 'allocated');
    expect(await allocated()).toEqual([{ pool: 'blue', cidrs }]);
    const next = await callPlugin(machine, { verb: 'ADD', container: 'c2', ipam });
    expect(next.addresses).toEqual([expect.stringMatching(/^10\./)]);
    await callPlugin(machine, { verb: 'DEL', container: 'c1' });
    await clock.advance(120_000);
    expect(await allocated()).toEqual([{ pool: 'blue', cidrs: cidrs.slice(0, 1) }]);
    expect(machine.bugs).toEqual([]);
    machine.remove();
  });

  test('is not handed over to the controller', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    await api.create('one', {
      ipam: { pool: { '10.0.0.7': {}, '10.0.0.8': {} }, 'ipv6-pool': { 'fd00::7': {} } },
    });
    const flags: Record<string, string> = { ipam: 'crd' };
    const machine = machineOf(clock, api, flags);
    machine.start();
    await clock.advance(1000);
    const ipam = { wait: '0s', prefixLength: 'host' };
    expect((await callPlugin(machine, { verb: 'ADD', container: 'c1', ipam })).addresses).toHaveLength(2);

    machine.kill();
    flags['enable-ipv6'] = 'false';
    machine.start();
    await clock.advance(1000);
    const marked = { 'release-ipv6s': { 'fd00::7': 'marked-for-release' } };
    await api.kubectl('PATCH', '/apis/cilium.io/v2/ciliumnodes/one/status', { status: { ipam: marked } });
    await clock.advance(60_000);

    const state = async (): Promise<unknown> =>
      valueAt(await nodeOf(api), 'status', 'ipam', 'release-ipv6s', 'fd00::7');
    expect(await state()).toBe('do-not-release');
    await callPlugin(machine, { verb: 'DEL', container: 'c1' });
    await api.kubectl('PATCH', '/apis/cilium.io/v2/ciliumnodes/one/status', { status: { ipam: marked } });
    await clock.advance(60_000);
    expect(await state()).toBe('ready-for-release');
    expect(machine.bugs).toEqual([]);
    machine.remove();
  });
});
