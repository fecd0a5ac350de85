import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isObject,
  type JsonObject,
  parseObject,
  listAt,
  objectAt,
  textAt,
  valueAt,
} from '../../../src/simulator/workload/json.ts';
import { shippedRoles } from '../../e2e/rig/shipped-roles.ts';
import { chart, helmDone, pathOfValues, render, valueFiles } from '../rig/helm.ts';
import { argumentsOf, configOf, containerOf, nameOf, ofKind, podOf, theOne } from '../../../rig/manifests.ts';

/** The account and the roles of the agent are in agent.test.ts. */
const withAgents = ['agent', 'nodeipam'];

const emulator = `${chart}/values-localstack.yaml`;

/** Nodes, request and limit of memory. */
const documentedSizes = Array.from(
  readFileSync(join(chart, '../../docs/sizing.md'), 'utf8').matchAll(
    /^\| ([\d,]+) \| (\d+Mi) \| (\d+Mi) \|/gm,
  ),
  ([, nodes = '', request = '', limit = '']) => [nodes.replace(',', ''), request, limit] as const,
);

describe('the chart', () => {
  test('is packaged with all files that its templates read', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'packaged-'));
    try {
      await helmDone('package', chart, '--destination', directory);
      const [archive = ''] = readdirSync(directory);

      expect(archive).toMatch(/^headwater-\d+\.\d+\.\d+\S*\.tgz$/);
      expect(await render('observed', { chart: join(directory, archive) })).toEqual(await render('observed'));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('has at least eight files of values that its tests render', () => {
    expect(valueFiles.length).toBeGreaterThanOrEqual(8);
  });

  test.each([
    ['the defaults', []],
    ['values-localstack', ['--values', emulator]],
  ])('passes helm lint --strict with %s', async (_, args) => {
    expect(await helmDone('lint', '--strict', chart, ...args)).toContain('0 chart(s) failed');
  });

  test.each(valueFiles)('passes helm lint --strict with %s', async (values) => {
    const output = await helmDone('lint', '--strict', chart, '--values', pathOfValues(values));

    expect(output).toContain('0 chart(s) failed');
  });

  test.each(valueFiles)('renders pods that can do nothing but their work: %s', async (values) => {
    const objects = await render(values);
    const pod = podOf(objects);
    const container = containerOf(objects);

    expect(valueAt(pod, 'securityContext')).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(valueAt(container, 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(valueAt(pod, 'terminationGracePeriodSeconds')).toBe(30);
    expect(valueAt(pod, 'priorityClassName')).toBe('system-cluster-critical');
  });

  test.each(valueFiles)('starts on hosts where nothing else runs yet: %s', async (values) => {
    const keys = listAt(podOf(await render(values)), 'tolerations').map((each) => textAt(each, 'key'));

    expect(keys).toEqual(
      expect.arrayContaining([
        'node.cilium.io/agent-not-ready',
        'node.kubernetes.io/not-ready',
        'node.cloudprovider.kubernetes.io/uninitialized',
        'node-role.kubernetes.io/control-plane',
      ]),
    );
  });

  test.each(valueFiles)(
    'replaces a pod only once the old one is gone, because both need its port: %s',
    async (values) => {
      expect(valueAt(theOne(await render(values), 'Deployment'), 'spec', 'strategy')).toEqual({
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
      });
    },
  );

  test.each(valueFiles)('probes health where it is served: %s', async (values) => {
    const objects = await render(values);
    const container = containerOf(objects);
    const loopback = argumentsOf(objects).some((each) => each.startsWith('--serve-addr=127.0.0.1:'));

    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect(valueAt(container, probe, 'httpGet', 'host')).toBe(loopback ? '127.0.0.1' : undefined);
    }
    const services = ofKind(objects, 'Service').map((each) => textAt(each, 'metadata', 'name'));
    expect(services.filter((name) => !name.endsWith('-agent'))).toHaveLength(loopback ? 0 : 1);
  });

  test.each(valueFiles.filter((values) => !withAgents.includes(values)))(
    'grants what the roles beside Chart.yaml list, and nothing else: %s',
    async (values) => {
      const objects = await render(values);
      const words = argumentsOf(objects);
      const mode = (['cluster-pool', 'multi-pool'] as const).find((each) => words.includes(`--ipam=${each}`));
      const [clusterRole, role] = await shippedRoles(mode ?? 'eni');
      const lease =
        argumentsOf(objects)
          .find((each) => each.startsWith('--leader-election-lease-name='))
          ?.split('=')[1] ?? 'headwater';
      const named = JSON.stringify(role?.rules).replaceAll('"headwater"', JSON.stringify(lease));

      expect(valueAt(theOne(objects, 'ClusterRole'), 'rules')).toEqual(clusterRole?.rules);
      expect(valueAt(theOne(objects, 'Role'), 'rules')).toEqual(JSON.parse(named));
    },
  );

  test.each(valueFiles.filter((values) => !withAgents.includes(values)))(
    'binds its roles to the account of its pods: %s',
    async (values) => {
      const objects = await render(values);
      const account = textAt(podOf(objects), 'serviceAccountName');

      expect(textAt(theOne(objects, 'ServiceAccount'), 'metadata', 'name')).toBe(account);
      for (const kind of ['ClusterRole', 'Role']) {
        const binding = theOne(objects, `${kind}Binding`);
        expect(listAt(binding, 'subjects')).toEqual([
          { kind: 'ServiceAccount', name: account, namespace: 'kube-system' },
        ]);
        expect(textAt(binding, 'roleRef', 'name')).toBe(textAt(theOne(objects, kind), 'metadata', 'name'));
      }
    },
  );
});

describe('the values of the chart', () => {
  test('run two replicas on two hosts, with the network and the resolver of the host, by default', async () => {
    const objects = await render('least');

    expect(valueAt(theOne(objects, 'Deployment'), 'spec', 'replicas')).toBe(2);
    expect(podOf(objects)).toMatchObject({ hostNetwork: true, dnsPolicy: 'Default' });
    expect(argumentsOf(objects)).toEqual([
      'run',
      '--config-dir=/etc/headwater',
      '--serve-addr=127.0.0.1:9966',
    ]);
    expect(ofKind(objects, 'NetworkPolicy')).toEqual([]);
    expect(valueAt(theOne(objects, 'PodDisruptionBudget'), 'spec', 'maxUnavailable')).toBe(1);
  });

  test('can name an API server that is reachable before the agent works, in place of the Service', async () => {
    const objects = await render('without-kube-proxy');

    expect(listAt(containerOf(objects), 'env')).toEqual([
      { name: 'KUBERNETES_SERVICE_HOST', value: 'api.production.example.com' },
      { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
    ]);
  });

  test("can make the process read Cilium's ConfigMap, with the options of the chart before it", async () => {
    const sources = async (values: string): Promise<readonly string[]> => {
      const [volume] = listAt(podOf(await render(values)), 'volumes');
      return listAt(volume, 'projected', 'sources').map((each) => textAt(each, 'configMap', 'name'));
    };

    expect(await sources('without-kube-proxy')).toEqual(['cilium-config', 'headwater']);
    expect(await sources('least')).toEqual(['headwater']);
  });

  test('can give the pods tokens of Azure by a label and an annotation', async () => {
    const of = async (values: string): Promise<readonly unknown[]> => {
      const objects = await render(values);
      const template = objectAt(theOne(objects, 'Deployment'), 'spec', 'template', 'metadata', 'labels');
      const account = objectAt(theOne(objects, 'ServiceAccount'), 'metadata', 'annotations');
      return [template['azure.workload.identity/use'], account];
    };

    expect(await of('azure')).toEqual([
      'true',
      {
        'azure.workload.identity/client-id': '00000000-0000-0000-0000-0000000000cc',
        'example.com/owner': 'network',
      },
    ]);
    expect(await of('least')).toEqual([undefined, {}]);
  });

  test('can give the pods tokens of Alibaba Cloud by the webhook: a label and an annotation', async () => {
    const objects = await render('rrsa');

    expect(objectAt(theOne(objects, 'Deployment'), 'spec', 'template', 'metadata', 'labels')).toMatchObject({
      'pod-identity.alibabacloud.com/injection': 'on',
    });
    expect(objectAt(theOne(objects, 'ServiceAccount'), 'metadata', 'annotations')).toEqual({
      'pod-identity.alibabacloud.com/role-name': 'headwater',
    });
    expect(listAt(containerOf(objects), 'env')).toEqual([]);
    expect(argumentsOf(objects).slice(3)).toEqual([
      '--alibaba-cloud-region=cn-hangzhou',
      '--alibaba-cloud-release-excess-ips=true',
      '--cluster-name=production',
      '--ipam=alibabacloud',
    ]);
  });

  test('can mount the token of a RAM role of Alibaba Cloud itself', async () => {
    const objects = await render('rrsa-token');
    const [, volume] = listAt(podOf(objects), 'volumes');
    const [, mount] = listAt(containerOf(objects), 'volumeMounts');
    const token = textAt(listAt(containerOf(objects), 'env')[2], 'value');

    expect(listAt(containerOf(objects), 'env')).toEqual([
      { name: 'ALIBABA_CLOUD_ROLE_ARN', value: 'acs:ram::1234567890123456:role/headwater' },
      {
        name: 'ALIBABA_CLOUD_OIDC_PROVIDER_ARN',
        value: 'acs:ram::1234567890123456:oidc-provider/ack-rrsa-c0123456789',
      },
      { name: 'ALIBABA_CLOUD_OIDC_TOKEN_FILE', value: token },
      { name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' },
    ]);
    expect(token).toBe(`${textAt(mount, 'mountPath')}/token`);
    expect(textAt(mount, 'name')).toBe(textAt(volume, 'name'));
    expect(listAt(volume, 'projected', 'sources')).toEqual([
      { serviceAccountToken: { audience: 'sts.aliyuncs.com', expirationSeconds: 3600, path: 'token' } },
    ]);
  });

  test('can take an AccessKey of Alibaba Cloud from a Secret', async () => {
    const args = ['--set', 'alibabaCloud.roleName=', '--set', 'alibabaCloud.accessKeySecret=headwater-key'];
    const objects = await render('rrsa', { args });
    const from = (key: string) => ({ secretKeyRef: { name: 'headwater-key', key } });

    expect(listAt(containerOf(objects), 'env')).toEqual([
      { name: 'ALIBABA_CLOUD_ACCESS_KEY_ID', valueFrom: from('access-key-id') },
      { name: 'ALIBABA_CLOUD_ACCESS_KEY_SECRET', valueFrom: from('access-key-secret') },
    ]);
  });

  test('choose Azure by the mode of the agents, with its own options', async () => {
    expect(argumentsOf(await render('azure')).slice(3)).toEqual([
      '--azure-cloud=AzurePublicCloud',
      '--azure-resource-group=mc_production_westeurope',
      '--azure-subscription-id=00000000-0000-0000-0000-000000000001',
      '--ipam=azure',
    ]);
  });

  test('become arguments as the process reads them, however YAML parses them', async () => {
    expect(argumentsOf(await render('single')).slice(3)).toEqual([
      '--cloud-quota-overrides=AttachNetworkInterface=100:10,AssignPrivateIpAddresses=200:20',
      '--eni-tags={"cost":"a,b"}',
      '--excess-ip-release-delay=3600',
      '--idle-interface-delay=0',
      '--leader-election=false',
      '--limit-ipam-api-burst=100000',
      '--limit-ipam-api-qps=0.5',
      '--parallel-alloc-workers=1000',
      '--subnet-ids-filter=subnet-0123456789abcdef0,subnet-0123456789abcdef1',
    ]);
  });

  test('change only the ConfigMap for dry run and pause, so that no pod is replaced', async () => {
    const args = ['--set', 'dryRun=true', '--set', 'pause={releases,mutations}'];
    const before = await render('irsa');
    const after = await render('irsa', { args });
    const others = (objects: readonly JsonObject[]): readonly JsonObject[] =>
      objects.filter((each) => textAt(each, 'kind') !== 'ConfigMap');

    expect(configOf(before)).toEqual({ 'dry-run': 'false', pause: '' });
    expect(configOf(after)).toEqual({ 'dry-run': 'true', pause: 'releases,mutations' });
    expect(others(after)).toEqual(others(before));
  });

  test('make the kubelet wait longer when the lease is longer', async () => {
    const failures = async (values: string): Promise<unknown> =>
      valueAt(containerOf(await render(values)), 'livenessProbe', 'failureThreshold');

    expect(await failures('least')).toBe(3);
    expect(await failures('own-lease')).toBe(5);
  });

  test('document the memory of fleets of four sizes', () => {
    expect(documentedSizes).toHaveLength(4);
  });

  test('size the memory with the fleet', async () => {
    const memory = async (values: string): Promise<unknown> =>
      valueAt(containerOf(await render(values)), 'resources');

    expect(await memory('least')).toEqual({
      requests: { cpu: '100m', memory: '224Mi' },
      limits: { memory: '448Mi' },
    });
    expect(await memory('without-kube-proxy')).toEqual({
      requests: { cpu: '250m', memory: '544Mi' },
      limits: { memory: '1088Mi' },
    });
    expect(await memory('single')).toEqual({ requests: { cpu: '50m', memory: '128Mi' } });
  });

  test.each(documentedSizes)(
    'request the memory of docs/sizing.md for %s nodes',
    async (nodes, request, limit) => {
      const objects = await render('least', { args: ['--set', `nodes=${nodes}`] });

      expect(valueAt(containerOf(objects), 'resources')).toMatchObject({
        requests: { memory: request },
        limits: { memory: limit },
      });
    },
  );

  test('give Prometheus a Service that selects each replica', async () => {
    const objects = await render('monitored');
    const service = theOne(objects, 'Service');
    const monitor = theOne(objects, 'ServiceMonitor');
    const template = objectAt(theOne(objects, 'Deployment'), 'spec', 'template', 'metadata', 'labels');

    expect(template).toMatchObject(objectAt(service, 'spec', 'selector'));
    expect(objectAt(service, 'metadata', 'labels')).toMatchObject(
      objectAt(monitor, 'spec', 'selector', 'matchLabels'),
    );
    expect(listAt(monitor, 'spec', 'endpoints')).toEqual([
      { port: 'http', path: '/metrics', interval: '15s' },
    ]);
    expect(listAt(service, 'spec', 'ports')).toMatchObject([{ port: 9977, targetPort: 'http' }]);
    expect(listAt(containerOf(objects), 'ports')).toMatchObject([{ containerPort: 9977, hostPort: 9977 }]);
  });

  test('give Grafana each dashboard and Prometheus each alert, with a runbook where runbooks are served', async () => {
    const objects = await render('observed');
    const dashboards = ofKind(objects, 'ConfigMap').filter((each) =>
      valueAt(each, 'metadata', 'labels', 'grafana_dashboard'),
    );
    const rules = listAt(theOne(objects, 'PrometheusRule'), 'spec', 'groups').flatMap((group) =>
      listAt(group, 'rules'),
    );

    expect(dashboards).toHaveLength(4);
    for (const dashboard of dashboards)
      for (const text of Object.values(objectAt(dashboard, 'data')))
        expect(parseObject(text as string)).toHaveProperty('panels');
    expect(rules.length).toBeGreaterThanOrEqual(18);
    for (const rule of rules.filter((each) => textAt(each, 'alert') !== ''))
      expect(textAt(rule, 'annotations', 'runbook_url')).toMatch(
        /^https:\/\/runbooks\.example\.com\/\w+\.md$/,
      );
  });

  test('add a policy that allows what the process needs when the pod has a network of its own', async () => {
    const objects = await render('pod-network');
    const egress = listAt(theOne(objects, 'NetworkPolicy'), 'spec', 'egress');
    const ports = egress.flatMap((each) => listAt(each, 'ports')).filter(isObject);

    expect(ports.map(({ port }) => port)).toEqual([53, 53, 443, 8443, 6443, 80, 3128]);
    expect(listAt(containerOf(objects), 'ports')).toEqual([
      { name: 'http', containerPort: 9966, protocol: 'TCP' },
    ]);
  });

  test('leave existing accounts, and roles that others bind, alone', async () => {
    const args = ['--set', 'serviceAccount.create=false,serviceAccount.name=theirs,rbac.create=false'];
    const objects = await render('least', { args });

    expect(textAt(podOf(objects), 'serviceAccountName')).toBe('theirs');
    expect(objects.map(nameOf).filter((name) => /Role|ServiceAccount/.test(name))).toEqual([]);
  });
});
