// What pods hold while the agent is restarted in another mode, or gets blocks that overlap those of before, in virtual time.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Json, type JsonObject, valueAt } from '../../../src/runtime/json.ts';
import { Random } from '../../../src/runtime/random.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

let clock: VirtualClock;
let api: EmbeddedApi;
let machine: AgentMachine;
let flags: Record<string, string>;

beforeEach(async () => {
  clock = new VirtualClock();
  api = new EmbeddedApi(clock, 'api', { crds: [ciliumNodeCrd, ciliumPodIpPoolCrd] });
  flags = { ipam: 'cluster-pool' };
  machine = new AgentMachine({ clock, random: new Random('m'), flags, connect: () => api.transport });
  for (const name of ['default', 'main']) await createPool(name);
});

afterEach(() => {
  expect(machine.bugs).toEqual([]);
  machine.remove();
});

async function createPool(name: string, more: JsonObject = {}): Promise<void> {
  await api.kubectl('POST', '/apis/cilium.io/v2alpha1/ciliumpodippools', {
    apiVersion: 'cilium.io/v2alpha1',
    kind: 'CiliumPodIPPool',
    metadata: { name },
    spec: { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 24 }, ...more },
  });
}

async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
  machine.kill();
  Object.assign(flags, more);
  machine.start();
  await clock.advance(1000);
}

async function list(...allocated: readonly JsonObject[]): Promise<void> {
  await api.patch('one', { spec: { ipam: { pools: { allocated } } } });
  await clock.advance(1000);
}

async function listed(): Promise<Json | undefined> {
  const node = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
  return valueAt(node, 'spec', 'ipam', 'pools', 'allocated');
}

function call(verb: string, container: string, ip?: string): Promise<PluginAnswer> {
  const ipam = { wait: '0s', prefixLength: 'host' };
  return callPlugin(machine, { verb, container, ipam, ...(ip !== undefined && { args: `IP=${ip}` }) });
}

/** The address of a pod, or why it has none. */
async function add(container: string, ip?: string): Promise<string> {
  const { ip: given, message } = await call('ADD', container, ip);
  return given ?? message ?? '';
}

const taken = 'provided IP is already allocated';

describe('an agent that is restarted in another mode', () => {
  test.each(['default', 'main'])(
    'gives no address twice, and keeps its block: the pool is %s',
    async (pool) => {
      await api.create('one', { ipam: { podCIDRs: ['10.0.0.0/24'] } });
      await start();
      expect(await add('c1', '10.0.0.7')).toBe('10.0.0.7');

      await list({ pool, cidrs: ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24'] });
      const preAllocation = `${pool}=400`;
      await start({
        ipam: 'multi-pool',
        'ipam-default-ip-pool': pool,
        'ipam-multi-pool-pre-allocation': preAllocation,
      });
      expect(await add('c2', '10.0.0.7')).toBe(taken);
      await start({ 'ipam-multi-pool-pre-allocation': 'other=1' });
      await clock.advance(120_000);
      expect(await listed()).toEqual([{ pool, cidrs: ['10.0.0.0/24'] }]);

      await call('DEL', 'c1');
      expect(await add('c3', '10.0.0.7')).toBe('10.0.0.7');
    },
  );

  test('gives no pod the gateway that those of the earlier mode have', async () => {
    await api.create('one', { ipam: { podCIDRs: ['10.0.0.0/24'] } });
    await start();
    await add('c1');

    await list({ pool: 'default', cidrs: ['10.0.0.0/24'] });
    await start({ ipam: 'multi-pool' });

    expect(await add('c2', '10.0.0.1')).toContain('10.0.0.1 is excluded, owned by router');
    await call('DEL', 'c1');
    await start();
    expect(await add('c2', '10.0.0.1')).toBe('10.0.0.1');
  });

  test('gives nothing twice that pods of other pools hold', async () => {
    await api.create('one', { ipam: {} });
    await list({ pool: 'main', cidrs: ['10.0.0.0/24'] });
    await start({
      ipam: 'multi-pool',
      'ipam-default-ip-pool': 'main',
      'ipam-multi-pool-pre-allocation': 'main=8',
    });
    expect(await add('c1', '10.0.0.7')).toBe('10.0.0.7');

    await api.patch('one', { spec: { ipam: { podCIDRs: ['10.0.0.0/24'] } } });
    await start({ ipam: 'cluster-pool', 'ipam-default-ip-pool': 'default' });

    expect(await add('c2', '10.0.0.7')).toBe(taken);
    await call('DEL', 'c1');
    expect(await add('c2', '10.0.0.7')).toBe('10.0.0.7');
  });
});

describe('a block of a pool', () => {
  beforeEach(async () => {
    await api.create('one', { ipam: {} });
    await start({ ipam: 'multi-pool', 'ipam-multi-pool-pre-allocation': 'default=8,main=8' });
  });

  test('that overlaps the one before it gives nothing that a pod holds, and the one before it leaves', async () => {
    await list({ pool: 'default', cidrs: ['10.0.0.0/28'] });
    expect(await add('c1', '10.0.0.7')).toBe('10.0.0.7');

    await list({ pool: 'default', cidrs: ['10.0.0.0/24'] });
    expect(await add('c2', '10.0.0.7')).toBe(taken);
    expect(await add('c3', '10.0.0.8')).toBe('10.0.0.8');
    await list({ pool: 'default', cidrs: ['10.0.0.0/28'] });
    expect(await add('c2', '10.0.0.8')).toBe(taken);

    await list({ pool: 'default', cidrs: ['10.0.0.0/24'] });
    for (const container of ['c1', 'c3']) await call('DEL', container);
    await clock.advance(120_000);
    expect(await listed()).toEqual([{ pool: 'default', cidrs: ['10.0.0.0/24'] }]);
    expect(await add('c2', '10.0.0.7')).toBe('10.0.0.7');
  });

  test('that moves to another pool gives nothing that a pod of the earlier one holds', async () => {
    await list({ pool: 'default', cidrs: ['10.0.0.0/24'] });
    expect(await add('c1', '10.0.0.7')).toBe('10.0.0.7');
    await list({ pool: 'main', cidrs: ['10.0.0.0/24'] });

    const ipam = { wait: '0s', prefixLength: 'host', pool: 'main' };
    const again = { verb: 'ADD', container: 'c2', args: 'IP=10.0.0.7', ipam };
    expect((await callPlugin(machine, again)).message).toBe(taken);
    await call('DEL', 'c1');
    expect((await callPlugin(machine, again)).ip).toBe('10.0.0.7');
  });

  test('keeps its first address as gateway while pods live, whatever becomes of its pool', async () => {
    await list({ pool: 'default', cidrs: ['10.0.0.0/24'] });
    expect(await add('c1', '10.0.0.7')).toBe('10.0.0.7');

    await api.kubectl('DELETE', '/apis/cilium.io/v2alpha1/ciliumpodippools/default');
    await createPool('default', { allowFirstIP: true });
    for (let restart = 0; restart < 3; restart++) {
      await clock.advance(1000);
      expect(await add('c2', '10.0.0.0')).toContain('not in the valid range');
      if (restart < 2) await start();
    }
    await call('DEL', 'c1');
    await list({ pool: 'default', cidrs: ['10.0.0.0/24'] });
    expect(await add('c2', '10.0.0.0')).toBe('10.0.0.0');
  });
});
