// Installs each mode that needs no cloud with helm on a real API server, and runs its controller as the service account and with
// the roles of the chart until a node has a block.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControllerChild } from '../../../rig/controller-child.ts';
import { argumentsOf, nameOf, objectsIn, podOf, theOne } from '../../../rig/manifests.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type JsonObject, listAt, objectAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { freePorts } from '../../e2e/rig/free-ports.ts';
import { type RealApi, startRealApi } from '../../e2e/rig/real-api.ts';
import { AgentProcess } from '../../integration/commands/agent-process.ts';
import { endAll } from '../../integration/commands/child.ts';
import { chart, helmDone } from '../rig/helm.ts';
import { helmIn, installed, namespace, release } from '../rig/installation.ts';

const nodes = '/api/v1/nodes';
const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';
const image = 'image.repository=registry.example/headwater';

/** A node that asks for a block, and where its blocks are then. */
interface Asking {
  readonly path: string;
  readonly object: JsonObject;
  readonly blocksOf: (object: JsonObject) => readonly string[];
}

const node: JsonObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } };

function ciliumNode(ipam: JsonObject): JsonObject {
  return { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name: 'one' }, spec: { ipam } };
}

const askings: Readonly<Record<'cluster-pool' | 'multi-pool' | 'nodeipam', Asking>> = {
  nodeipam: { path: nodes, object: node, blocksOf: (object) => textsAt(object, 'spec', 'podCIDRs') },
  'cluster-pool': {
    path: ciliumNodes,
    object: ciliumNode({}),
    blocksOf: (object) => textsAt(object, 'spec', 'ipam', 'podCIDRs'),
  },
  'multi-pool': {
    path: ciliumNodes,
    object: ciliumNode({ pools: { requested: [{ pool: 'default', needed: { 'ipv4-addrs': 4 } }] } }),
    blocksOf: (object) =>
      listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((entry) => textsAt(entry, 'cidrs')),
  },
};

describe('a mode of the chart on a real API server', () => {
  const controllers: ControllerChild[] = [];
  const places: string[] = [];
  let api: RealApi;

  beforeAll(async () => {
    api = await startRealApi({ clock: systemClock, withoutRoles: true });
  });

  afterEach(async () => {
    await Promise.all(controllers.splice(0).map((controller) => controller.kill()));
    await endAll();
    for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
    await helmIn(api, 'uninstall', release, '--ignore-not-found');
    for (const path of [nodes, ciliumNodes]) await api.call('DELETE', `${path}/one`).catch(() => undefined);
  });

  afterAll(() => api.stop());

  test.each<[keyof typeof askings, readonly string[], string]>([
    ['nodeipam', ['mode=nodeipam', 'options.cluster-cidr=10.7.0.0/16'], 'headwater'],
    [
      'nodeipam',
      ['controller.enabled=false', 'nodeIpam.enabled=true', 'nodeIpam.options.cluster-cidr=10.7.0.0/16'],
      'headwater-nodeipam',
    ],
    ['cluster-pool', ['mode=cluster-pool', 'options.cluster-pool-ipv4-cidr=10.7.0.0/16'], 'headwater'],
    [
      'multi-pool',
      [
        'mode=multi-pool',
        'options.auto-create-cilium-pod-ip-pools=default=ipv4-cidrs:10.7.0.0/16;ipv4-mask-size:24',
      ],
      'headwater',
    ],
  ])('gives a node its block: %s by %j', async (mode, values, name) => {
    const set = [image, ...values].flatMap((each) => ['--set', each]);
    const objects = objectsIn(await helmDone('template', release, chart, '--namespace', namespace, ...set));
    await helmIn(api, 'install', release, chart, ...set);
    expect(await installed(api)).toEqual(expect.arrayContaining(objects.map(nameOf)));
    expect(objects.map(nameOf)).toContain(`Deployment ${name}`);
    const { path, object, blocksOf } = askings[mode];
    await api.call('POST', path, object);

    const controller = await start(objects);

    let given: readonly string[] = [];
    await until('the node has a block', async () => {
      given = blocksOf(await api.call('GET', `${path}/one`));
      return given.length > 0;
    });
    expect(given).toHaveLength(1);
    expect(given[0]).toMatch(/^10\.7\.\d+\.0\/24$/);
    expect(controller.lines.filter((line) => /"msg":"(?:may not|no permissions)/.test(line))).toEqual([]);
  });

  test('gives addresses of the block of its Node, with agent.enabled', async () => {
    const values = ['mode=nodeipam', 'options.cluster-cidr=10.8.0.0/16', 'agent.enabled=true'];
    const set = [image, ...values].flatMap((each) => ['--set', each]);
    const objects = objectsIn(await helmDone('template', release, chart, '--namespace', namespace, ...set));
    await helmIn(api, 'install', release, chart, ...set);
    await api.call('POST', nodes, node);
    await start(objects);
    const daemonSet = objectAt(theOne(objects, 'DaemonSet'), 'spec', 'template', 'spec');
    const [container] = listAt(daemonSet, 'containers');
    const [port = 0] = await freePorts(1);
    const [command, ...flags] = listAt(container, 'args').map(String);
    const place = mkdtempSync(join(tmpdir(), 'agent-'));
    places.push(place);

    const agent = new AgentProcess(place, [
      ...flags.filter((each) => !each.startsWith('--agent-health-port=')),
      `--agent-health-port=${port}`,
      '--node-name=one',
      `--k8s-kubeconfig-path=${await api.kubeconfigOf(textAt(daemonSet, 'serviceAccountName'))}`,
    ]);
    expect(command).toBe('agent');
    await agent.start();

    await until('the agent is ready', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
    const [block = ''] = askings.nodeipam.blocksOf(await api.call('GET', `${nodes}/one`));
    expect(await agent.ask('POST', '/v1/ipam?family=ipv4&owner=test')).toMatchObject({
      status: 201,
      body: {
        address: { ipv4: expect.stringContaining(block.split('.', 3).join('.')) },
        'host-addressing': { ipv4: { 'alloc-range': block } },
      },
    });
  });

  /** The controller of the rendering, as its service account. */
  async function start(objects: readonly JsonObject[]): Promise<ControllerChild> {
    const controller = await ControllerChild.start({
      args: [
        ...argumentsOf(objects).filter((each) => !/^--(serve-addr|config-dir)=/.test(each)),
        '--serve-addr=127.0.0.1:0',
        `--k8s-kubeconfig-path=${await api.kubeconfigOf(textAt(podOf(objects), 'serviceAccountName'))}`,
      ],
    });
    controllers.push(controller);
    return controller;
  }

  async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = AbortSignal.timeout(60_000);
    while (!(await isSo())) {
      await sleep(systemClock, 100, end).catch(() => {
        const said = controllers.flatMap(({ lines }) => lines).join('\n');
        throw new Error(`it did not come about that ${what}:\n${said}`);
      });
    }
  }
});
