import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectsIn, ofKind, theOne } from '../../../rig/manifests.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
  valueAt,
} from '../../../src/simulator/workload/json.ts';
import { shippedRoles } from '../../e2e/rig/shipped-roles.ts';
import { render, templateWith } from '../rig/helm.ts';

const image = { repository: 'registry.example/headwater' };

async function rendered(agent: JsonObject): Promise<readonly JsonObject[]> {
  const { output } = await templateWith({ image, agent });
  return objectsIn(output).filter((object) => textAt(object, 'metadata', 'name') === 'headwater-agent');
}

function listOf(object: JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  return listAt(object, 'spec', 'template', 'spec', ...path).filter(isObject);
}

describe('agent of the chart', () => {
  test('adds nothing unless it is enabled', async () => {
    expect(await rendered({ options: { ipam: 'cluster-pool' } })).toEqual([]);
  });

  test('adds a DaemonSet with an account, a role and a network of its own', async () => {
    const objects = await rendered({
      enabled: true,
      options: { ipam: 'cluster-pool', 'log-level': 'debug' },
    });
    const daemonSet = theOne(objects, 'DaemonSet');
    const [container = {}] = listOf(daemonSet, 'containers');
    const [role] = await shippedRoles('agent');

    expect(objects.map((object) => textAt(object, 'kind')).toSorted()).toEqual([
      'ClusterRole',
      'ClusterRoleBinding',
      'ConfigMap',
      'DaemonSet',
      'ServiceAccount',
    ]);
    expect(valueAt(container, 'args')).toEqual(['agent', '--ipam=cluster-pool', '--log-level=debug']);
    expect(textAt(daemonSet, 'spec', 'template', 'spec', 'serviceAccountName')).toBe('headwater-agent');
    expect(valueAt(theOne(objects, 'ClusterRole'), 'rules')).toEqual(role?.rules);
  });

  test('names the port of metrics if there is one', async () => {
    const options = { 'prometheus-serve-addr': '127.0.0.1:9967' };
    const portsOf = async (agent: JsonObject): Promise<unknown> =>
      listOf(theOne(await rendered({ enabled: true, ...agent }), 'DaemonSet'), 'containers')[0]?.['ports'];

    expect(await portsOf({})).toBeUndefined();
    expect(await portsOf({ options })).toEqual([
      { name: 'metrics', containerPort: 9967, hostPort: 9967, protocol: 'TCP' },
    ]);
  });

  test('mounts every volume that it has, and has every volume that it mounts', async () => {
    for (const create of [true, false]) {
      const daemonSet = theOne(await rendered({ enabled: true, network: { create } }), 'DaemonSet');
      const mounts = ['initContainers', 'containers'].flatMap((kind) =>
        listOf(daemonSet, kind).flatMap((container) => listAt(container, 'volumeMounts').filter(isObject)),
      );
      const namesOf = (list: readonly JsonObject[]): readonly string[] =>
        [...new Set(list.map((each) => textAt(each, 'name')))].toSorted();

      expect(namesOf(mounts)).toEqual(namesOf(listOf(daemonSet, 'volumes')));
    }
  });

  test('installs the plugin and the network where the values say', async () => {
    const objects = await rendered({
      enabled: true,
      pluginDirectory: '/usr/libexec/cni',
      network: { path: '/etc/cni/other/05-own.conflist', conflist: { name: 'mine' } },
    });
    const daemonSet = theOne(objects, 'DaemonSet');
    const [init = {}] = listOf(daemonSet, 'initContainers');
    const paths = listOf(daemonSet, 'volumes').map((volume) => textAt(volume, 'hostPath', 'path'));

    expect(valueAt(init, 'command')).toEqual([
      '/opt/headwater/bin/install-plugin',
      '/host/plugins',
      '/etc/headwater/network/network.conflist',
      '/host/networks/05-own.conflist',
    ]);
    expect(paths).toEqual(expect.arrayContaining(['/usr/libexec/cni', '/etc/cni/other']));
    const conflist = textAt(theOne(objects, 'ConfigMap'), 'data', 'network.conflist');
    expect(JSON.parse(conflist)).toMatchObject({
      name: 'mine',
      plugins: [
        { type: 'ptp', ipam: { type: 'headwater-ipam' } },
        { type: 'portmap' },
        { type: 'headwater-ipam' },
      ],
      cniVersions: ['1.0.0', '1.1.0'],
    });
  });

  test.each([
    ['livenessProbe', 200, 0],
    ['livenessProbe', 503, 0],
    ['livenessProbe', undefined, 1],
    ['readinessProbe', 200, 0],
    ['readinessProbe', 503, 1],
    ['readinessProbe', undefined, 1],
  ])('has a %s that exits, where the agent answers %p, with %i', async (name, status, exit) => {
    const [container = {}] = listOf(theOne(await rendered({ enabled: true }), 'DaemonSet'), 'containers');
    const probe = objectAt(container, name);
    const command = listAt(probe, 'exec', 'command').map(String);
    const directory = await mkdtemp(join(tmpdir(), 'headwater-probe-'));
    const socket = join(directory, 'agent.sock');
    const server = createServer((_, response) => response.writeHead(status ?? 500).end());
    if (status !== undefined) await once(server.listen(socket), 'listening');

    const args = command.slice(1).map((word) => word.replace('/var/run/headwater/agent.sock', socket));
    const exited: readonly unknown[] = await once(spawn(process.execPath, args), 'exit');

    expect(command[0]).toBe('node');
    expect(exited[0]).toBe(exit);
    // One that says nothing fails then.
    expect(valueAt(probe, 'timeoutSeconds')).toBe(10);
    server.close();
    await rm(directory, { recursive: true });
  });

  test('leaves the network to the node if it is told to', async () => {
    const objects = await rendered({ enabled: true, network: { create: false } });
    const [init = {}] = listOf(theOne(objects, 'DaemonSet'), 'initContainers');

    expect(ofKind(objects, 'ConfigMap')).toEqual([]);
    expect(valueAt(init, 'command')).toEqual(['/opt/headwater/bin/install-plugin', '/host/plugins']);
  });

  test('finds no pod of a Deployment', async () => {
    const objects = await render('agent');
    const nameOf = (object: JsonObject): string =>
      textAt(objectAt(object, 'spec', 'selector', 'matchLabels'), 'app.kubernetes.io/name');

    expect(nameOf(theOne(objects, 'DaemonSet'))).toBe('headwater-agent');
    expect(ofKind(objects, 'Deployment').map(nameOf)).toEqual(['headwater']);
  });

  test.each([
    [{ options: { 'socket-path': '/run/other.sock' } }, 'not set here: it is where the chart mounts it'],
    [{ options: { 'node-name': 'one' } }, 'not set here: it is the node of the pod'],
    [{ options: { 'cluster-cidr': '10.0.0.0/8' } }, 'left out: headwater agent has no such option'],
    [{ pluginDirectory: 'opt/cni/bin' }, 'an absolute path'],
    [{ network: { path: '/etc/cni/net.d/10-headwater' } }, 'an absolute path that ends with .conflist'],
  ])('refuses %j', async (agent, words) => {
    const { exitCode, errors } = await templateWith({ image, agent: { enabled: true, ...agent } });

    expect(exitCode).not.toBe(0);
    expect(errors).toContain(words);
  });
});
