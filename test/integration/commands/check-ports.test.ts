// Answers of the command check about the port that a controller serves at, in clusters of one process.
import { describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import type { Finding } from '../../../src/commands/check/finding.ts';
import type { PortTrial } from '../../../src/commands/check/port-findings.ts';
import { type Machine, thisMachine } from '../../../src/commands/check/this-machine.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { checkedWorld } from '../../support/checked-world.ts';
import type { GivenFlags } from '../../support/given-options.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { addPod, ciliumConfig, podOf } from './staged-causes.ts';

interface PortPod {
  readonly ports?: readonly JsonObject[];
  readonly hostNetwork?: boolean;
  readonly args?: readonly string[];
  readonly phase?: string;
}

async function clean(): Promise<World> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
  for (const machine of world.machines) await world.announce(machine);
  return world;
}

async function withPod(
  world: World,
  { ports = [], hostNetwork = false, args = [], phase }: PortPod,
): Promise<void> {
  const pod = podOf(world.machine(), 'other', {}, { ...(phase !== undefined && { status: { phase } }) });
  const containers = [{ name: 'main', image: 'image', args: [...args], ports: [...ports] }];
  await addPod(world, { ...pod, spec: { nodeName: world.machine().name, hostNetwork, containers } });
}

const portsOf = (findings: readonly Finding[]): readonly string[] =>
  findings.flatMap(({ what, verdict, found }) => (what === 'ports' ? [`${verdict} ${found}`] : []));

async function checkedPorts(
  world: World,
  flags: GivenFlags = {},
  machine?: Machine,
): Promise<readonly string[]> {
  return portsOf((await checkedWorld(world, flags, machine)).findings);
}

/** The machine of the first node, where an attempt to listen has this outcome. */
function hostOf(world: World, outcome: PortTrial): Machine {
  return {
    addresses: () => new Set(['127.0.0.1', world.machine().primaryAddress]),
    tryPort: () => Promise.resolve(outcome),
  };
}

describe('a check of ports', () => {
  test('says where nothing else was found to listen', async () => {
    const rows = await checkedPorts(await clean());

    expect(rows).toEqual([
      'ok :9966 (serve-addr) is taken neither by the options of Cilium nor by a pod, as far as those of 2 nodes show',
    ]);
  });

  test.each<[string, PortPod]>([
    ['a port of the host', { ports: [{ containerPort: 80, hostPort: 9966 }] }],
    ['a port of a pod in the network of its host', { hostNetwork: true, ports: [{ containerPort: 9966 }] }],
    ['one address of the host', { ports: [{ containerPort: 80, hostPort: 9966, hostIP: '10.0.0.9' }] }],
    [
      'the probes of an agent of Headwater',
      { hostNetwork: true, args: ['headwater', 'agent', '--agent-health-port=9966'] },
    ],
  ])('names the pod that takes %s', async (_, pod) => {
    const world = await clean();
    await withPod(world, pod);

    expect(await checkedPorts(world)).toEqual([
      'warning :9966 (serve-addr) is taken in the network of hosts by 1 pod (kube-system/other)',
    ]);
  });

  test.each<[string, PortPod, GivenFlags]>([
    ['another port', { ports: [{ containerPort: 80, hostPort: 9967 }] }, {}],
    ['a port of its own network', { ports: [{ containerPort: 9966 }] }, {}],
    ['a port of UDP', { ports: [{ containerPort: 80, hostPort: 9966, protocol: 'UDP' }] }, {}],
    ['a port until it ended', { ports: [{ containerPort: 80, hostPort: 9966 }], phase: 'Succeeded' }, {}],
    [
      'the port, and is a controller',
      { hostNetwork: true, args: ['headwater', 'run'], ports: [{ containerPort: 9966 }] },
      {},
    ],
    [
      'the port of another address',
      { ports: [{ containerPort: 80, hostPort: 9966, hostIP: '10.0.0.9' }] },
      { 'serve-addr': '127.0.0.1:9966' },
    ],
  ])('names no pod that takes %s', async (_, pod, flags) => {
    const world = await clean();
    await withPod(world, pod);

    expect(await checkedPorts(world, flags)).toEqual([expect.stringMatching(/^ok /)]);
  });

  test.each<[string, JsonObject, readonly string[]]>([
    [
      ':9963',
      { 'operator-prometheus-serve-addr': ':9963' },
      ['Cilium (operator-prometheus-serve-addr=:9963)'],
    ],
    ['127.0.0.1:9234', { ipam: 'eni' }, ['Cilium (operator-api-serve-addr=127.0.0.1:9234)']],
    [':9879', { ipam: 'eni' }, ['Cilium (agent-health-port=9879)']],
    [
      ':9966',
      { 'prometheus-serve-addr': ':9966', 'proxy-prometheus-port': '9966' },
      ['Cilium (prometheus-serve-addr=:9966)', 'Cilium (proxy-prometheus-port=9966)'],
    ],
    [':9966', { ipam: 'eni', 'prometheus-serve-addr': 'nonsense' }, []],
    [':9879', {}, []],
  ])('names the options of Cilium that take %s: %j', async (serveAddr, config, takers) => {
    const world = await clean();
    await ciliumConfig(world, config);

    const rows = await checkedPorts(world, { 'serve-addr': serveAddr });

    expect(rows).toEqual(
      takers.length === 0
        ? [expect.stringMatching(/^ok /)]
        : [
            `warning ${serveAddr} (serve-addr) is taken in the network of hosts by ${takers.join(', and by ')}`,
          ],
    );
  });

  test.each<[string, PortTrial, RegExp]>([
    ['that is free', { kind: 'free' }, /^ok /],
    ['of a controller that runs', { kind: 'ofHeadwater' }, /^ok /],
    [
      'of another program',
      { kind: 'refused', why: 'another program has the port' },
      /^problem nothing can listen on :9966 \(serve-addr\) of [\w-]+, where this runs: another program has the port$/,
    ],
  ])('tries a port %s, where it runs in the network of a node', async (_, outcome, row) => {
    const world = await clean();

    expect(await checkedPorts(world, {}, hostOf(world, outcome))).toEqual([expect.stringMatching(row)]);
  });

  test('says nothing of a port that the system chooses', async () => {
    expect(await checkedPorts(await clean(), { 'serve-addr': ':0' })).toEqual([]);
  });

  test('says nothing of pods that it may not read', async () => {
    const world = await clean();
    world.refuse(403, 'GET', /^\/api\/v1\/pods/);

    expect(await checkedPorts(world)).toEqual([
      'ok :9966 (serve-addr) is not taken by the options of Cilium',
    ]);
  });
});

describe('an attempt to listen', () => {
  const host = '127.0.0.1';

  test('finds a free port free, and leaves it so', async () => {
    const port = await freePort();

    expect(await thisMachine.tryPort({ host, port })).toEqual({ kind: 'free' });
    expect(await thisMachine.tryPort({ host, port })).toEqual({ kind: 'free' });
  });

  test('finds a port taken by what is no controller', async () => {
    const server = createServer((_, response) => void response.end('hello'));

    expect(await tried(server)).toEqual({ kind: 'refused', why: 'another program has the port' });
  });

  test('says what else is wrong', async () => {
    expect(await thisMachine.tryPort({ host: '192.0.2.1', port: 9966 })).toEqual({
      kind: 'refused',
      why: 'EADDRNOTAVAIL',
    });
  });

  async function tried(server: Server): Promise<PortTrial> {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, host, resolve);
    await promise;
    const { port } = server.address() as AddressInfo;
    try {
      return await thisMachine.tryPort({ host, port });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  function freePort(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const server = createSocketServer();
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
    return promise;
  }
});
