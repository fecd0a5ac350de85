// The schema of the chart's values, and what its templates have to know of the options, made from their table.
import { timingBounds } from '../src/config/cross-validation.ts';
import { optionsOfCommand } from '../src/config/option-scope.ts';
import { optionNames, optionTable, type OptionName } from '../src/config/option-table.ts';
import { agentModeRow } from '../src/config/options/agent-options.ts';
import { pausable } from '../src/providers/gate/mutation-permission.ts';
import {
  accepting,
  closedObject,
  type JsonSchema,
  never,
  refusing,
  refusingGaps,
  type ConflictingValues,
} from './json-schema.ts';
import { optionSchema } from './option-schema.ts';

/** Options that follow from other values of the chart. */
export const setElsewhere = {
  'serve-addr': 'not set here: set serve.port and serve.bind',
  'config-dir': 'not set here: it holds dryRun, pause and, with ciliumConfig.mount, cilium-config',
  'dry-run': 'not set here: set dryRun',
  pause: 'not set here: set pause',
  'k8s-namespace': 'not set here: it is the namespace of the release, where the Role is',
} as const satisfies Partial<Record<OptionName, string>>;

const text: JsonSchema = { type: 'string' };
const flag: JsonSchema = { type: 'boolean' };
const anyObject: JsonSchema = { type: 'object' };
const texts: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };
const objects: JsonSchema = { type: 'array', items: anyObject };
const port: JsonSchema = accepting(
  { type: 'integer', minimum: 1, maximum: 65_535 },
  'a port from 1 to 65535',
);

/** Ports that Cilium's chart takes on every host: https://docs.cilium.io/en/stable/operations/system_requirements/#firewall-rules */
const portsOfCilium = [4240, 4244, 9234, 9878, 9879, 9890, 9891, 9893, 9901, 9962, 9963, 9964, 9965];

const name: JsonSchema = accepting(
  { type: 'string', pattern: '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$' },
  'a name as Kubernetes has them: a-z, 0-9 and -, of at most 63 characters',
);

/** Labels of a Deployment's selector, in templates/_names.tpl. */
const selected = never('left out: the Deployment finds its pods by this label');

const binds = ['loopback', 'podIP', 'all'];

/** Values that belong together; `needed` may not be empty. */
function group(
  description: string,
  needed: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return { ...closedObject(description, properties), ...refusingGaps(needed) };
}

const path: JsonSchema = accepting({ type: 'string', pattern: '^/[^:]+$' }, 'an absolute path');

const mounted = never('not set here: it is where the chart mounts it');

const agent = closedObject('The command headwater agent, as a DaemonSet of its own.', {
  enabled: flag,
  options: closedObject(
    'Options of headwater agent by name, as YAML or as the text of a flag.',
    {
      ...Object.fromEntries(optionsOfCommand('agent').map((name) => [name, optionSchema(optionTable[name])])),
      ipam: optionSchema({ ...optionTable.ipam, ...agentModeRow }),
      'node-name': never('not set here: it is the node of the pod'),
      'socket-path': mounted,
      'state-dir': mounted,
      'config-dir': never('not set here: nothing is mounted there'),
    },
    'left out: headwater agent has no such option (docs/options.md lists them)',
  ),
  pluginDirectory: path,
  network: group('The configuration of the network of the pods.', ['create', 'path', 'conflist'], {
    create: flag,
    path: accepting(
      { type: 'string', pattern: String.raw`^/[^:]+\.conflist$` },
      'an absolute path that ends with .conflist',
    ),
    conflist: anyObject,
  }),
  resources: anyObject,
  nodeSelector: texts,
});

const properties: Readonly<Record<string, JsonSchema>> = {
  image: closedObject('The image of Headwater. No image is published yet: build one and name it.', {
    repository: accepting(
      { type: 'string', pattern: '^([^/@]+/)?[^:@]*$' },
      'a repository without tag and digest: they are image.tag and image.digest',
    ),
    tag: { type: ['string', 'null'], description: "The chart's appVersion if empty." },
    digest: accepting(
      { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      'sha256: and 64 hexadecimal digits',
    ),
    pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
  }),
  imagePullSecrets: objects,
  nameOverride: name,
  fullnameOverride: name,
  replicas: accepting({ type: 'integer', minimum: 1, maximum: 5 }, 'a whole number from 1 to 5'),
  options: closedObject(
    'Options of headwater run by name, as YAML or as the text of a flag.',
    {
      ...Object.fromEntries(optionsOfCommand('run').map((name) => [name, optionSchema(optionTable[name])])),
      ...Object.fromEntries(Object.entries(setElsewhere).map(([name, words]) => [name, never(words)])),
    },
    'left out: headwater run has no such option (docs/options.md lists them)',
  ),
  nodeIpam: closedObject('The command headwater nodeipam, as a Deployment of its own.', {
    enabled: flag,
    replicas: accepting({ type: 'integer', minimum: 1, maximum: 5 }, 'a whole number from 1 to 5'),
    options: closedObject(
      'Options of headwater nodeipam by name, as YAML or as the text of a flag.',
      {
        ...Object.fromEntries(
          optionsOfCommand('nodeipam').map((name) => [name, optionSchema(optionTable[name])]),
        ),
        'serve-addr': never('not set here: set nodeIpam.port'),
        'k8s-namespace': never('not set here: it is the namespace of the release, where the Role is'),
      },
      'left out: headwater nodeipam has no such option (docs/options.md lists them)',
    ),
    serviceAccountAnnotations: anyObject,
    port,
    resources: anyObject,
  }),
  agent,
  dryRun: flag,
  pause: {
    description: optionTable.pause.help,
    type: 'array',
    uniqueItems: true,
    items: { enum: pausable },
  },
  ciliumConfig: group('The ConfigMap of Cilium, read as --config-dir is.', ['mount', 'name'], {
    mount: flag,
    name: text,
  }),
  hostNetwork: flag,
  dnsPolicy: { enum: ['Default', 'ClusterFirst', 'ClusterFirstWithHostNet', 'None'] },
  dnsConfig: anyObject,
  k8sServiceHost: accepting(
    { type: 'string', pattern: String.raw`^([\w.-]*|[\da-fA-F:.]+)$` },
    'a host name or an address; the port is k8sServicePort',
  ),
  k8sServicePort: port,
  serve: group('Where health, metrics and status are served.', ['port', 'bind'], {
    port,
    bind: accepting({ enum: binds }, binds.join(', ')),
  }),
  nodes: accepting(
    { type: 'integer', minimum: 1, maximum: 20_000 },
    'the number of nodes, a whole number from 1 to 20000',
  ),
  resources: anyObject,
  serviceAccount: group('The service account of the pods.', ['create'], {
    create: flag,
    name: text,
    annotations: texts,
  }),
  workloadIdentity: closedObject('Workload Identity of Azure.', {
    clientId: accepting(
      { type: 'string', pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$' },
      'the client id of a managed identity: 32 hexadecimal digits in five groups',
    ),
  }),
  alibabaCloud: closedObject(
    'Credentials of Alibaba Cloud: one of a role by name, a role by ARN, and a Secret.',
    {
      roleName: accepting(
        { type: 'string', pattern: String.raw`^[\w.-]{0,64}$` },
        'the name of a RAM role, not its ARN: letters, digits, - and .',
      ),
      roleArn: accepting(
        { type: 'string', pattern: String.raw`^(acs:ram::\d+:role/[\w.-]{1,64})?$` },
        'the ARN of a RAM role, such as acs:ram::1234567890123456:role/headwater',
      ),
      oidcProviderArn: accepting(
        { type: 'string', pattern: String.raw`^(acs:ram::\d+:oidc-provider/[\w.-]{1,128})?$` },
        'the ARN of an OIDC provider, such as acs:ram::1234567890123456:oidc-provider/ack-rrsa-c0123456789',
      ),
      accessKeySecret: accepting(
        { type: 'string', pattern: String.raw`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$` },
        'the name of a Secret',
      ),
    },
  ),
  rbac: group('Roles and bindings.', ['create'], { create: flag }),
  podDisruptionBudget: group('At most one replica is evicted at a time.', ['create'], { create: flag }),
  service: group('Lets scrapers find the replicas. Not created if serve.bind is loopback.', ['create'], {
    create: flag,
    annotations: texts,
  }),
  serviceMonitor: group('For the Prometheus operator.', ['create', 'interval'], {
    create: flag,
    labels: texts,
    interval: accepting({ type: 'string', pattern: String.raw`^\d+(ms|s|m|h)$` }, 'a duration such as 30s'),
  }),
  dashboards: group('For Grafana: one ConfigMap for each dashboard.', ['create'], {
    create: flag,
    namespace: text,
    labels: texts,
    annotations: texts,
  }),
  prometheusRule: group('For the Prometheus operator.', ['create'], { create: flag, labels: texts }),
  runbookBaseUrl: text,
  networkPolicy: group('Created only if hostNetwork is off.', ['create'], {
    create: flag,
    extraEgress: objects,
  }),
  priorityClassName: text,
  podAnnotations: texts,
  podLabels: {
    ...texts,
    properties: { 'app.kubernetes.io/name': selected, 'app.kubernetes.io/instance': selected },
  },
  nodeSelector: texts,
  tolerations: objects,
  affinity: anyObject,
  topologySpreadConstraints: objects,
  extraEnv: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
  global: anyObject,
};

/** Without these the templates have nothing to go by, or make something else than their defaults are. */
const needed = [
  'image',
  'replicas',
  'options',
  'dryRun',
  'ciliumConfig',
  'hostNetwork',
  'dnsPolicy',
  'k8sServicePort',
  'serve',
  'nodes',
  'serviceAccount',
  'rbac',
  'podDisruptionBudget',
  'service',
  'serviceMonitor',
  'networkPolicy',
];

const isGiven: JsonSchema = { minLength: 1 };

/** What values must not say together. */
const together: readonly ConflictingValues[] = [
  {
    where: { 'serviceMonitor.create': { const: true }, 'serve.bind': { const: 'loopback' } },
    path: 'serve.bind',
    words: 'podIP or all while serviceMonitor.create is true, because Prometheus does not reach loopback',
  },
  {
    where: { hostNetwork: { const: false }, 'serve.bind': { const: 'loopback' } },
    path: 'serve.bind',
    words: 'podIP or all while hostNetwork is false, because the kubelet does not reach loopback of a pod',
  },
  {
    where: { hostNetwork: { const: true }, 'serve.port': { enum: portsOfCilium } },
    path: 'serve.port',
    words: `none of ${portsOfCilium.join(', ')} while hostNetwork is true, because Cilium listens there`,
  },
  {
    where: { replicas: { minimum: 2 }, 'options.leader-election': { enum: [false, 'false'] } },
    path: 'options.leader-election',
    words: 'true while replicas is more than 1, because only a Lease keeps two from acting at once',
  },
  {
    where: { 'serviceMonitor.create': { const: true }, 'service.create': { const: false } },
    path: 'service.create',
    words: 'true while serviceMonitor.create is true, because a ServiceMonitor finds replicas by a Service',
  },
  {
    where: { 'alibabaCloud.roleArn': isGiven, 'alibabaCloud.oidcProviderArn': { maxLength: 0 } },
    path: 'alibabaCloud.oidcProviderArn',
    words: 'the ARN of the OIDC provider of the cluster while roleArn is set',
  },
  {
    where: { 'alibabaCloud.oidcProviderArn': isGiven, 'alibabaCloud.roleArn': { maxLength: 0 } },
    path: 'alibabaCloud.roleArn',
    words: 'the ARN of a RAM role while oidcProviderArn is set',
  },
  {
    where: { 'alibabaCloud.roleName': isGiven, 'alibabaCloud.roleArn': isGiven },
    path: 'alibabaCloud.roleArn',
    words: 'empty while roleName is set, because the webhook mounts the token then',
  },
  ...['roleName', 'roleArn'].map((role) => ({
    where: { 'alibabaCloud.accessKeySecret': isGiven, [`alibabaCloud.${role}`]: isGiven },
    path: 'alibabaCloud.accessKeySecret',
    words: `empty while ${role} is set, because an AccessKey would be used instead of the role`,
  })),
];

export function chartSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart headwater. Made by docs/generate.ts: change docs/chart-schema.ts.',
    ...closedObject('All values.', properties),
    ...refusingGaps(needed, refusing(together)),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/**
 * What templates cannot know otherwise: which options may change while running, the bounds of durations and numbers, and which
 * durations must be less than others.
 */
export function chartOptionFacts(): string {
  const facts = optionNames.map((name) => {
    const { kind, live } = optionTable[name];
    const { shape, accepts } = kind;
    const isBounded = ['duration', 'integer', 'number'].includes(shape.type);
    const fact = {
      ...(isBounded && { ...shape, accepts }),
      ...lessThan(name),
      ...(live === true && { live }),
    };
    return [name, fact] as const;
  });
  const present = facts.filter(([, fact]) => Object.keys(fact).length > 0);
  return `${JSON.stringify(Object.fromEntries(present), undefined, 2)}\n`;
}

function lessThan(name: OptionName): object {
  const bound = timingBounds.find((each) => each.name === name);
  if (bound === undefined) return {};
  const { limit, factor } = bound;
  const [own, others] = [optionTable[name].default, optionTable[limit].default];
  return { default: own, lessThan: { limit, factor, default: others } };
}
