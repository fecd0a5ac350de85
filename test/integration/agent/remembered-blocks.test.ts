// What an agent gives out of blocks of pools after a restart without an API server, in virtual time.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/runtime/json.ts';
import { KubernetesError } from '../../../src/kubernetes/transport/kubernetes-error.ts';
import type { KubernetesTransport } from '../../../src/kubernetes/transport/transport.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

let clock: VirtualClock;
let api: EmbeddedApi;
let machine: AgentMachine;
let isAway: boolean;
let losesWrites: boolean;

const broken = new KubernetesError('KUBERNETES_UNREACHABLE', 'the connection broke');

beforeEach(async () => {
  clock = new VirtualClock();
  api = new EmbeddedApi(clock, 'api', { crds: [ciliumNodeCrd, ciliumPodIpPoolCrd] });
  isAway = false;
  losesWrites = false;
  const { transport } = api;
  const connect = (): KubernetesTransport => ({
    stream: (request, signal) => (isAway ? Promise.reject(broken) : transport.stream(request, signal)),
    send: (request, signal) =>
      isAway || (losesWrites && request.method === 'PATCH')
        ? Promise.reject(broken)
        : transport.send(request, signal),
  });
  const flags = { ipam: 'multi-pool', 'ipam-multi-pool-pre-allocation': 'default=8,both=4' };
  machine = new AgentMachine({ clock, random: new Random('machine'), flags, connect });
  const ends = { allowFirstIP: true, allowLastIP: true };
  await createPool('default', { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 30, ...ends } });
  await createPool('both', {
    ipv4: { cidrs: ['10.1.0.0/16'], maskSize: 30, ...ends },
    ipv6: { cidrs: ['fd00::/96'], maskSize: 126, ...ends },
  });
});
afterEach(() => {
  expect(machine.bugs).toEqual([]);
  machine.remove();
});

const createPool = (name: string, spec: JsonObject): Promise<JsonObject> =>
  api.kubectl('POST', '/apis/cilium.io/v2alpha1/ciliumpodippools', {
    apiVersion: 'cilium.io/v2alpha1',
    kind: 'CiliumPodIPPool',
    metadata: { name },
    spec,
  });

async function startWith(allocated: readonly JsonObject[]): Promise<void> {
  await api.create('one', { ipam: { pools: { allocated } } });
  machine.start();
  await clock.advance(1000);
}

/** The agent is killed, and the API server is gone when it starts again. */
async function restartAlone(): Promise<void> {
  machine.kill();
  isAway = true;
  machine.start();
  await clock.advance(1000);
}

function call(verb: string, container: string, pool?: string, args?: string): Promise<PluginAnswer> {
  const ipam = { wait: '0s', prefixLength: 'host', ...(pool !== undefined && { pool }) };
  return callPlugin(machine, { verb, container, ipam, ...(args !== undefined && { args }) });
}

async function fill(containers: readonly string[]): Promise<void> {
  for (const container of containers) expect((await call('ADD', container)).exit).toBe('0');
}

const two = [{ pool: 'default', cidrs: ['10.0.0.0/30', '10.0.0.4/30'] }];

describe('an agent with blocks of pools that starts without an API server', () => {
  test('serves ADD and DEL from its record, of the pool that the network names as well', async () => {
    await startWith([...two, { pool: 'both', cidrs: ['10.1.0.0/30', 'fd00::/126'] }]);
    const first = await call('ADD', 'c1');
    await restartAlone();

    expect(await call('ADD', 'c1')).toEqual(first);
    const second = await call('ADD', 'c2');
    expect(second.addresses).toEqual([expect.stringMatching(/^10\.0\.0\.\d\/32$/)]);
    expect(second.addresses).not.toEqual(first.addresses);
    expect((await call('ADD', 'c3', 'both')).addresses).toEqual([
      expect.stringMatching(/^10\.1\.0\.\d\/32$/),
      expect.stringMatching(/^fd00::\d?\/128$/),
    ]);
    expect((await call('STATUS', 'c1')).exit).toBe('0');
    expect((await call('DEL', 'c1')).exit).toBe('0');
    await fill(['c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10']);
    expect((await call('ADD', 'c11')).exit).toBe('1');
  });

  test('gives a pod no address, because what names its pool is not known', async () => {
    await startWith(two);
    await restartAlone();

    const args = 'K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a';
    expect(await call('ADD', 'c1', undefined, args)).toMatchObject({
      exit: '1',
      message: 'waiting for the CiliumPodIPPools: the connection broke',
    });
  });

  test('gives out what the API server shows once it is back', async () => {
    await startWith(two);
    await fill(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8']);
    await restartAlone();
    expect((await call('ADD', 'c9')).exit).toBe('1');

    isAway = false;
    const cidrs = ['10.0.0.0/30', '10.0.0.4/30', '10.0.0.8/30'];
    await api.patch('one', { spec: { ipam: { pools: { allocated: [{ pool: 'default', cidrs }] } } } });
    await clock.advance(120_000);

    expect((await call('ADD', 'c9')).addresses).toEqual([
      expect.stringMatching(/^10\.0\.0\.(8|9|10|11)\/32$/),
    ]);
  });

  test.each([true, false])(
    'gives nothing of a block that it stopped holding; the write that said so was lost: %s',
    async (isLost) => {
      losesWrites = isLost;
      // Two blocks have the 8 addresses to hold; the third leaves.
      await startWith([{ pool: 'default', cidrs: ['10.0.0.0/30', '10.0.0.4/30', '10.0.0.8/30'] }]);
      await restartAlone();

      await fill(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8']);
      expect((await call('ADD', 'c9')).exit).toBe('1');
    },
  );

  test('gives nothing of a block that it had just recorded to stop holding', async () => {
    await startWith(two);
    await fill(['c1']);
    const cidrs = ['10.0.0.0/30', '10.0.0.4/30', '10.0.0.8/30'];
    await api.patch('one', { spec: { ipam: { pools: { allocated: [{ pool: 'default', cidrs }] } } } });
    await clock.advance(20_000);
    await call('DEL', 'c1');
    machine.writeFaults.push('killed after');
    await clock.advance(20_000);
    expect(machine.isRunning).toBe(false);
    await restartAlone();

    await fill(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8']);
    expect((await call('ADD', 'c9')).exit).toBe('1');
  });
});
