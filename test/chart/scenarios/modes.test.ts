// What the chart renders for each mode of the controller.
import { describe, expect, test } from '@jest/globals';
import { argumentsOf, nameOf, objectsIn, ofKind, theOne } from '../../../rig/manifests.ts';
import { isObject, type JsonObject, listAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { type RoleScope, shippedRoles } from '../../e2e/rig/shipped-roles.ts';
import { templateWith } from '../rig/helm.ts';

const networks: Readonly<Record<string, JsonObject>> = {
  'cluster-pool': { 'cluster-pool-ipv4-cidr': '10.0.0.0/8' },
  nodeipam: { 'cluster-cidr': '10.0.0.0/8' },
};

async function rendered(values: JsonObject): Promise<readonly JsonObject[]> {
  const { errors, output } = await templateWith(values);
  expect(errors).toBe('');
  return objectsIn(output);
}

/** The arguments that say what a container does. */
async function agentModeWith(values: JsonObject): Promise<string | undefined> {
  const daemonSet = theOne(await rendered({ ...values, agent: { enabled: true } }), 'DaemonSet');
  const [container] = listAt(daemonSet, 'spec', 'template', 'spec', 'containers').filter(isObject);
  return listAt(container, 'args')
    .map(String)
    .find((each) => each.startsWith('--ipam='));
}

describe('the mode of the chart', () => {
  test.each<[string, readonly string[], RoleScope]>([
    ['eni', ['run', '--ipam=eni'], 'eni'],
    ['azure', ['run', '--ipam=azure'], 'eni'],
    ['alibabacloud', ['run', '--ipam=alibabacloud'], 'eni'],
    ['cluster-pool', ['run', '--cluster-pool-ipv4-cidr=10.0.0.0/8', '--ipam=cluster-pool'], 'cluster-pool'],
    ['multi-pool', ['run', '--ipam=multi-pool'], 'multi-pool'],
    ['nodeipam', ['nodeipam', '--cluster-cidr=10.0.0.0/8'], 'nodeipam'],
  ])('%s is the command, its arguments and its roles', async (mode, words, scope) => {
    const objects = await rendered({ mode, options: networks[mode] ?? {} });
    const [command = '', config, address, ...others] = argumentsOf(objects);
    const [clusterRole, role] = await shippedRoles(scope);

    expect([command, ...others]).toEqual(words);
    expect([config, address]).toEqual(['--config-dir=/etc/headwater', '--serve-addr=127.0.0.1:9966']);
    expect(valueAt(theOne(objects, 'ClusterRole'), 'rules')).toEqual(clusterRole?.rules);
    expect(valueAt(theOne(objects, 'Role'), 'rules')).toEqual(role?.rules);
  });

  test.each<[string, RoleScope]>([
    ['eni', 'eni'],
    ['multi-pool', 'multi-pool'],
  ])('%s has more rules if it opens Nodes whose agent is ready', async (mode, scope) => {
    const objects = await rendered({ mode, options: { 'manage-agent-taint': true } });
    const [own] = await shippedRoles(scope);
    const [more] = await shippedRoles('agent-taint');

    expect(valueAt(theOne(objects, 'ClusterRole'), 'rules')).toEqual([
      ...(own?.rules ?? []),
      ...(more?.rules ?? []),
    ]);
  });

  test('follows from the option ipam if it is empty', async () => {
    const options = { ipam: 'cluster-pool', ...networks['cluster-pool'] };

    expect(await rendered({ options })).toEqual(await rendered({ mode: 'cluster-pool', options }));
  });

  test.each([
    ['nodeipam', 'kubernetes'],
    ['cluster-pool', 'cluster-pool'],
    ['multi-pool', 'multi-pool'],
    ['eni', 'eni'],
  ])('%s is that of the agents as well: %s', async (mode, own) => {
    expect(await agentModeWith({ mode, options: networks[mode] ?? {} })).toBe(`--ipam=${own}`);
  });

  test('of agents follows from nothing else', async () => {
    expect(await agentModeWith({ options: { ipam: 'multi-pool' } })).toBeUndefined();
  });

  test('may be nothing but the agent', async () => {
    const objects = await rendered({ controller: { enabled: false }, agent: { enabled: true } });

    expect(objects.map(nameOf).toSorted()).toEqual([
      'ClusterRole headwater-agent',
      'ClusterRoleBinding headwater-agent',
      'ConfigMap headwater-agent',
      'DaemonSet headwater-agent',
      'ServiceAccount headwater-agent',
    ]);
  });

  test.each(['cluster-pool', 'multi-pool'])(
    'has no right to write definitions that it does not create: %s',
    async (mode) => {
      const options = { ...networks[mode], 'skip-crd-creation': true };
      const rules = listAt(theOne(await rendered({ mode, options }), 'ClusterRole'), 'rules');
      const about = rules.filter((rule) => JSON.stringify(rule).includes('customresourcedefinitions'));

      expect(about.map((rule) => valueAt(rule, 'verbs'))).toEqual([['get']]);
    },
  );

  test.each([
    [
      { mode: 'nodeipm' },
      "at '/mode': value must be 'eni, azure, alibabacloud, cluster-pool, multi-pool, nodeipam'",
    ],
    [
      { mode: 'eni', options: { ipam: 'azure' } },
      "at '/options/ipam': value must be 'left out, or eni: mode is eni'",
    ],
    [{ mode: 'nodeipam', options: { ipam: 'eni' } }, 'options: unknown option --ipam'],
    [
      { mode: 'multi-pool', options: { 'cluster-cidr': '10.0.0.0/8' } },
      'options: unknown option --cluster-cidr',
    ],
    [
      { mode: 'nodeipam', nodeIpam: { enabled: true } },
      "at '/nodeIpam/enabled': value must be 'false while mode is nodeipam: the release runs it already, with options instead of nodeIpam.options'",
    ],
  ])('refuses %j', async (values, sentence) => {
    const { exitCode, errors } = await templateWith(values);

    expect([exitCode, errors]).toEqual([1, expect.stringContaining(sentence)]);
  });
});

describe('a second controller of the chart', () => {
  const pod = {
    updateStrategy: { type: 'Recreate' },
    priorityClassName: 'own',
    podAnnotations: { 'example.com/owner': 'network' },
    podLabels: { team: 'network' },
    nodeSelector: { 'kubernetes.io/os': 'linux', pool: 'own' },
    tolerations: [{ key: 'own', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://10.0.0.10:3128' }],
    extraVolumes: [{ name: 'own', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'own', mountPath: '/own' }],
    topologySpreadConstraints: [{ topologyKey: 'own', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
    service: { create: true, annotations: { 'example.com/scraped': 'often' } },
    serviceMonitor: { create: true, labels: { release: 'prometheus' }, interval: '15s' },
    podDisruptionBudget: { create: false },
    dryRun: true,
    pause: ['mutations'],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
  };

  test('is what a release of its own would be, but for its name and its port', async () => {
    const options = networks['nodeipam'] ?? {};
    const own = {
      mode: 'nodeipam',
      fullnameOverride: 'headwater-nodeipam',
      nameOverride: 'headwater-nodeipam',
    };
    const alone = await rendered({ ...own, ...pod, options, serve: { port: 9967, bind: 'podIP' } });
    const second = await rendered({
      controller: { enabled: false },
      nodeIpam: { enabled: true, ...pod, options, bind: 'podIP' },
    });

    expect(ofKind(second, 'Deployment')).toHaveLength(1);
    expect(second).toEqual(alone);
  });
});
