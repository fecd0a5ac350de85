// What a whole agent writes to the CiliumNode of its node, and when: over the embedded API in virtual time.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type JsonObject, isList, valueAt } from '../../../src/runtime/json.ts';
import { KubernetesError } from '../../../src/kubernetes/transport/kubernetes-error.ts';
import type { KubernetesTransport, TransportRequest } from '../../../src/kubernetes/transport/transport.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { EmbeddedApi } from '../kubernetes/embedded-api.ts';
import { callPlugin } from './plugin-call.ts';

let clock: VirtualClock;
let api: EmbeddedApi;
let machine: AgentMachine;
/** Writes to the CiliumNode, as the API server got them. */
let writes: TransportRequest[];
/** Decides what becomes of a write. */
let fate: 'arrives' | 'is lost' | 'loses its answer';

beforeEach(() => {
  clock = new VirtualClock();
  api = new EmbeddedApi(clock);
  writes = [];
  fate = 'arrives';
});
afterEach(() => {
  expect(machine.bugs).toEqual([]);
  machine.remove();
});

const broken = new KubernetesError('KUBERNETES_UNREACHABLE', 'the connection broke');

function start(flags: Readonly<Record<string, string>>): void {
  const { transport } = api;
  const connect = (): KubernetesTransport => ({
    stream: (request, signal) => transport.stream(request, signal),
    send: async (request, signal) => {
      if (request.method !== 'PATCH') return transport.send(request, signal);
      if (fate === 'is lost') throw broken;
      writes.push(request);
      const answer = await transport.send(request, signal);
      if (fate === 'loses its answer') throw broken;
      return answer;
    },
  });
  machine = new AgentMachine({ clock, random: new Random('machine'), flags, connect });
  machine.start();
}

interface Answer {
  ip: string | undefined;
}

/** An ADD of the plugin that waits up to a minute, or a DEL. */
function call(verb: string, container: string, wait = '60s'): { readonly answer: Answer } {
  const answer: Answer = { ip: undefined };
  void callPlugin(machine, { verb, container, ipam: { wait, prefixLength: 'host' } }).then(
    ({ ip }) => (answer.ip = ip),
  );
  return { answer };
}

const eni = (addresses: readonly string[], more: JsonObject = {}): JsonObject => ({
  eni: {
    enis: {
      e1: {
        id: 'e1',
        mac: 'm1',
        subnet: { cidr: '10.0.0.0/16' },
        vpc: { 'primary-cidr': '10.0.0.0/16' },
        addresses,
        ...more,
      },
    },
  },
});
const ipsTo = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `10.0.${Math.floor(at / 200)}.${(at % 200) + 1}`);

async function pools(): Promise<{ readonly needed: number; readonly held: readonly string[] }> {
  const node = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
  const at = (name: string): JsonObject | undefined => {
    const list = valueAt(node, 'spec', 'ipam', 'pools', name);
    return isList(list) ? (list[0] as JsonObject) : undefined;
  };
  const needed = valueAt(at('requested'), 'needed', 'ipv4-addrs');
  const cidrs = valueAt(at('allocated'), 'cidrs');
  return { needed: Number(needed ?? 0), held: isList(cidrs) ? cidrs.map(String) : [] };
}

const ofPools = { ipam: 'eni', 'cilium-node-protocol': 'pools' };

describe('the protocol of pools', () => {
  test('serves 100 pods at once on a dry node with few writes, long before a debounce of 15 s', async () => {
    await api.create('one', { ipam: { 'pre-allocate': 8 } });
    start(ofPools);
    await clock.advance(20_000);
    const before = writes.length;
    const began = clock.monotonic();
    const added = Array.from({ length: 100 }, (_, at) => call('ADD', `c${at}`).answer);
    let ended: number | undefined;
    let offered = 0;
    while (clock.monotonic() - began < 30_000 && ended === undefined) {
      await clock.advance(100);
      const { needed } = await pools();
      // A controller that gives at once what is asked for.
      if (needed > offered) await api.patch('one', { status: eni(ipsTo(needed)) }, '/status');
      offered = Math.max(offered, needed);
      if (added.every(({ ip }) => ip !== undefined)) ended = clock.monotonic() - began;
    }

    expect(new Set(added.map(({ ip }) => ip)).size).toBe(100);
    expect(writes.length - before).toBeLessThanOrEqual(3);
    expect(ended ?? Infinity).toBeLessThanOrEqual(0.15 * 25_000);
  });

  test('writes nothing while nothing happens', async () => {
    await api.create('one', { ipam: { 'pre-allocate': 2 } });
    await api.patch('one', { status: eni(ipsTo(4)) }, '/status');
    start(ofPools);
    await clock.advance(1000);
    call('ADD', 'c1');
    await clock.advance(120_000);
    const before = writes.length;

    await clock.advance(600_000);

    expect(writes.length).toBe(before);
    expect(before).toBeGreaterThan(0);
  });

  test.each(['is lost', 'loses its answer'] as const)(
    'gives no address of a block that leaves with a write that %s, until the block is shown again',
    async (what) => {
      await api.create('one', { ipam: { 'pre-allocate': 1 } });
      await api.patch('one', { status: eni(ipsTo(3)) }, '/status');
      start(ofPools);
      await clock.advance(1000);
      const first = call('ADD', 'c1').answer;
      call('ADD', 'c2');
      await clock.advance(60_000);
      expect((await pools()).held).toHaveLength(3);

      fate = what;
      call('DEL', 'c2');
      await clock.advance(16_000);
      machine.kill();
      machine.start();
      await clock.advance(100);
      expect((await pools()).held).toHaveLength(what === 'is lost' ? 3 : 2);
      const given = [call('ADD', 'c3', '0s').answer, call('ADD', 'c4', '0s').answer];
      await clock.advance(100);
      // The other one may be another node's by now.
      expect(given.filter(({ ip }) => ip !== undefined)).toHaveLength(1);

      fate = 'arrives';
      const last = call('ADD', 'c5').answer;
      await clock.advance(30_000);
      expect(last.ip).toBeDefined();
      const all = [first, ...given, last].flatMap(({ ip }) => ip ?? []);
      expect(new Set(all).size).toBe(all.length);
    },
  );

  test('gives no address of a block that an earlier write for the same state gave up, and a later one keeps', async () => {
    await api.create('one', { ipam: { 'pre-allocate': 1 } });
    await api.patch('one', { status: eni(ipsTo(4)) }, '/status');
    start(ofPools);
    await clock.advance(1000);
    for (const container of ['c1', 'c2', 'c3']) call('ADD', container);
    await clock.advance(60_000);
    expect((await pools()).held).toHaveLength(4);
    // As good as late: it may arrive whenever the object is still the same.
    fate = 'is lost';
    call('DEL', 'c2');
    call('DEL', 'c3');
    await clock.advance(16_000);
    machine.kill();
    machine.start();
    await clock.advance(100);
    const kept = call('ADD', 'c4', '0s').answer;
    await clock.advance(16_000);
    expect(kept.ip).toBeDefined();

    const refused = call('ADD', 'c5', '0s').answer;
    await clock.advance(100);
    expect(refused.ip).toBeUndefined();

    fate = 'arrives';
    const last = call('ADD', 'c6').answer;
    await clock.advance(30_000);
    expect(last.ip).toBeDefined();
  });
});

describe('the protocol of addresses in use', () => {
  const pool = (ips: readonly string[]): JsonObject => ({
    ipam: { pool: Object.fromEntries(ips.map((ip) => [ip, { resource: 'e1' }])) },
  });

  test('writes once for many changes, at most one time in 15 s, and holds back nothing of a pod', async () => {
    await api.create('one', pool(ipsTo(40)));
    await api.patch('one', { status: eni(ipsTo(40)) }, '/status');
    start({ ipam: 'eni' });
    await clock.advance(1000);
    const added = Array.from({ length: 30 }, (_, at) => call('ADD', `c${at}`).answer);
    await clock.advance(10);

    expect(added.every(({ ip }) => ip !== undefined)).toBe(true);
    await clock.advance(40_000);
    expect(writes.length).toBeLessThanOrEqual(2);
    const node = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
    expect(Object.keys(valueAt(node, 'status', 'ipam', 'used') as JsonObject)).toHaveLength(30);
  });

  test('writes what is in use again after a lost answer, and after another writer came first', async () => {
    await api.create('one', pool(ipsTo(4)));
    await api.patch('one', { status: eni(ipsTo(4)) }, '/status');
    start({ ipam: 'eni' });
    await clock.advance(1000);
    fate = 'is lost';
    call('ADD', 'c1');
    await clock.advance(16_000);
    fate = 'arrives';
    await api.patch('one', { metadata: { labels: { a: 'b' } } });
    await clock.advance(20_000);

    const node = await api.kubectl('GET', '/apis/cilium.io/v2/ciliumnodes/one');
    expect(Object.keys(valueAt(node, 'status', 'ipam', 'used') as JsonObject)).toHaveLength(1);
  });
});
