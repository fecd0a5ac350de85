import { describe, expect, test } from '@jest/globals';
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
    expect(valueAt(container, 'args')).toEqual([
      'agent',
      '--agent-health-port=9969',
      '--ipam=cluster-pool',
      '--log-level=debug',
    ]);
    expect(textAt(daemonSet, 'spec', 'template', 'spec', 'serviceAccountName')).toBe('headwater-agent');
    expect(valueAt(theOne(objects, 'ClusterRole'), 'rules')).toEqual(role?.rules);
  });

  test.each<[string, JsonObject, string | undefined, number | undefined]>([
    ['nowhere by default', {}, undefined, undefined],
    ['where the option says', { options: { 'prometheus-serve-addr': ':9977' } }, ':9977', 9977],
    [
      'on the host alone',
      { options: { 'prometheus-serve-addr': '127.0.0.1:9977' } },
      '127.0.0.1:9977',
      undefined,
    ],
    ['on the host alone', { metrics: { bind: 'loopback' } }, '127.0.0.1:9968', undefined],
    ['on the address of the node', { metrics: { bind: 'podIP' } }, '$(POD_IP):9968', 9968],
    ['everywhere', { metrics: { bind: 'all', port: 9978 } }, ':9978', 9978],
  ])('serves metrics over TCP %s: %j', async (_, agent, address, port) => {
    const objects = await rendered({ enabled: true, ...agent });
    const [container = {}] = listOf(theOne(objects, 'DaemonSet'), 'containers');
    const args = listAt(container, 'args').map(String);
    const services = ofKind(objects, 'Service');

    expect(args.find((each) => each.startsWith('--prometheus-serve-addr='))?.split('=')[1]).toBe(address);
    expect(services.map((service) => listAt(service, 'spec', 'ports'))).toEqual(
      port === undefined ? [] : [[{ name: 'metrics', port, targetPort: port, protocol: 'TCP' }]],
    );
    // A port of the host that another pod has would keep the agent from the node.
    expect(container['ports']).toBeUndefined();
    expect(listAt(container, 'env').map((each) => textAt(each, 'name'))).toEqual([
      'K8S_NODE_NAME',
      ...(address?.startsWith('$(POD_IP)') === true ? ['POD_IP'] : []),
    ]);
  });

  test('is scraped by a ServiceMonitor that finds its Service', async () => {
    const objects = await render('nodeipam');
    const monitor = ofKind(objects, 'ServiceMonitor')[0] ?? {};
    const service = ofKind(objects, 'Service')[0] ?? {};
    const template = objectAt(theOne(objects, 'DaemonSet'), 'spec', 'template', 'metadata', 'labels');

    expect(template).toMatchObject(objectAt(service, 'spec', 'selector'));
    expect(objectAt(service, 'metadata', 'labels')).toMatchObject(
      objectAt(monitor, 'spec', 'selector', 'matchLabels'),
    );
    expect(listAt(monitor, 'spec', 'endpoints')).toEqual([
      { port: 'metrics', path: '/metrics', interval: '30s' },
    ]);
  });

  test('has what pods of the controller have', async () => {
    const pod = {
      priorityClassName: 'own',
      nodeSelector: { pool: 'own' },
      tolerations: [{ key: 'own', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
    };
    const objects = await rendered({
      enabled: true,
      ...pod,
      updateStrategy: { type: 'OnDelete' },
      podAnnotations: { 'example.com/owner': 'network' },
      podLabels: { team: 'network' },
      serviceAccountAnnotations: { 'example.com/role': 'agent' },
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://10.0.0.10:3128' }],
      extraVolumes: [{ name: 'own', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'own', mountPath: '/own' }],
    });
    const spec = objectAt(theOne(objects, 'DaemonSet'), 'spec');
    const [container = {}] = listOf(theOne(objects, 'DaemonSet'), 'containers');

    expect(valueAt(spec, 'updateStrategy')).toEqual({ type: 'OnDelete' });
    expect(valueAt(spec, 'template', 'metadata')).toMatchObject({
      annotations: { 'example.com/owner': 'network', 'headwater/network': expect.any(String) },
      labels: { team: 'network' },
    });
    expect(valueAt(spec, 'template', 'spec')).toMatchObject(pod);
    expect(listAt(spec, 'template', 'spec', 'volumes')).toContainEqual({ name: 'own', emptyDir: {} });
    expect(listAt(container, 'env')).toContainEqual({ name: 'HTTPS_PROXY', value: 'http://10.0.0.10:3128' });
    expect(listAt(container, 'volumeMounts')).toContainEqual({ name: 'own', mountPath: '/own' });
    expect(valueAt(theOne(objects, 'ServiceAccount'), 'metadata', 'annotations')).toEqual({
      'example.com/role': 'agent',
    });
  });

  test('is probed without a process of its own for each probe', async () => {
    const objects = await rendered({ enabled: true, healthPort: 9979 });
    const [container = {}] = listOf(theOne(objects, 'DaemonSet'), 'containers');
    const asked = (path: string): JsonObject => ({ path, host: '127.0.0.1', port: 9979 });

    expect(valueAt(container, 'livenessProbe', 'httpGet')).toEqual(asked('/healthz'));
    expect(valueAt(container, 'readinessProbe', 'httpGet')).toEqual(asked('/readyz'));
    expect(listAt(container, 'args')).toContain('--agent-health-port=9979');
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
    [{ options: { 'cluster-cidr': '10.0.0.0/8' } }, 'agent.options: unknown option --cluster-cidr'],
    [{ serviceMonitor: { create: true } }, 'podIP or all while agent.serviceMonitor.create is true'],
    [
      { metrics: { bind: 'all' }, options: { 'prometheus-serve-addr': ':9977' } },
      'left out while agent.metrics.bind is not none',
    ],
    [{ options: { 'ip-cooldown-period': '9999h' } }, 'agent.options.ip-cooldown-period is 9999h: it must be'],
    [{ pluginDirectory: 'opt/cni/bin' }, 'an absolute path'],
    [{ network: { path: '/etc/cni/net.d/10-headwater' } }, 'an absolute path that ends with .conflist'],
  ])('refuses %j', async (agent, words) => {
    const { exitCode, errors } = await templateWith({ image, agent: { enabled: true, ...agent } });

    expect(exitCode).not.toBe(0);
    expect(errors).toContain(words);
  });
});
