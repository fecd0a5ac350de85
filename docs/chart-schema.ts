// The schema of the chart's values, and what its templates have to know of the options, made from their table.
import { timingBounds } from '../src/config/cross-validation.ts';
import { type ConfiguredCommand, optionsOfCommand } from '../src/config/option-scope.ts';
import { type OptionNeed, optionNeeds } from '../src/config/option-needs.ts';
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

const modesOfRun = choicesOf('ipam');
/** What a controller does: the modes of headwater run, and the command nodeipam. */
const modes = [...modesOfRun, 'nodeipam'];

function choicesOf(name: OptionName): readonly string[] {
  const { shape } = optionTable[name].kind;
  return shape.type === 'choice' ? shape.values : [];
}

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

/** Values of any pod. */
const podValues: Readonly<Record<string, JsonSchema>> = {
  resources: anyObject,
  updateStrategy: anyObject,
  priorityClassName: text,
  podAnnotations: texts,
  podLabels: {
    ...texts,
    properties: { 'app.kubernetes.io/name': selected, 'app.kubernetes.io/instance': selected },
  },
  nodeSelector: texts,
  tolerations: objects,
  affinity: anyObject,
  extraEnv: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
};

/** Values of any process that serves metrics. */
const scrapeValues: Readonly<Record<string, JsonSchema>> = {
  service: group(
    'Lets scrapers find the pods. Not created where they do not reach the metrics.',
    ['create'],
    {
      create: flag,
      annotations: texts,
    },
  ),
  serviceMonitor: group('For the Prometheus operator.', ['create', 'interval'], {
    create: flag,
    labels: texts,
    interval: accepting({ type: 'string', pattern: String.raw`^\d+(ms|s|m|h)$` }, 'a duration such as 30s'),
  }),
};

/** Values of any Deployment of a controller. */
const controllerValues: Readonly<Record<string, JsonSchema>> = {
  ...podValues,
  ...scrapeValues,
  replicas: accepting({ type: 'integer', minimum: 1, maximum: 5 }, 'a whole number from 1 to 5'),
  dryRun: flag,
  pause: {
    description: optionTable.pause.help,
    type: 'array',
    uniqueItems: true,
    items: { enum: pausable },
  },
  podDisruptionBudget: group('At most one replica is evicted at a time.', ['create'], { create: flag }),
  topologySpreadConstraints: objects,
};

/**
 * Options of a command by name; `elsewhere`: those that follow from other values. A template refuses names that are none, with the
 * nearest one.
 */
function optionsOf(command: ConfiguredCommand, elsewhere: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    description: `Options of headwater ${command} by name, as YAML or as the text of a flag.`,
    type: 'object',
    properties: {
      ...Object.fromEntries(optionsOfCommand(command).map((name) => [name, optionSchema(optionTable[name])])),
      ...elsewhere,
    },
  };
}

/** Refuses each of these options in these words. */
function elsewhere(words: Readonly<Record<string, string>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(words).map(([name, why]) => [name, never(why)]));
}

const agentMetrics = ['none', 'loopback', 'podIP', 'all'];

const agent = closedObject('The command headwater agent, as a DaemonSet of its own.', {
  enabled: flag,
  options: optionsOf('agent', {
    ipam: optionSchema({ ...optionTable.ipam, ...agentModeRow }),
    'node-name': never('not set here: it is the node of the pod'),
    'socket-path': mounted,
    'state-dir': mounted,
    'config-dir': never('not set here: nothing is mounted there'),
    'agent-health-port': never('not set here: set agent.healthPort'),
  }),
  healthPort: port,
  metrics: group('Where metrics are served over TCP.', ['bind', 'port'], {
    bind: accepting({ enum: agentMetrics }, agentMetrics.join(', ')),
    port,
  }),
  pluginDirectory: path,
  network: group('The configuration of the network of the pods.', ['create', 'path', 'conflist'], {
    create: flag,
    path: accepting(
      { type: 'string', pattern: String.raw`^/[^:]+\.conflist$` },
      'an absolute path that ends with .conflist',
    ),
    conflist: anyObject,
  }),
  serviceAccountAnnotations: texts,
  ...podValues,
  ...scrapeValues,
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
  ...controllerValues,
  mode: accepting({ enum: ['', ...modes] }, modes.join(', ')),
  controller: closedObject('The controller of the mode.', { enabled: flag }),
  options: { description: 'Options of the command of the mode by name.', type: 'object' },
  nodeIpam: closedObject('The command headwater nodeipam, as a Deployment of its own.', {
    enabled: flag,
    ...controllerValues,
    options: optionsOf(
      'nodeipam',
      elsewhere({
        'serve-addr': 'not set here: set nodeIpam.port and nodeIpam.bind',
        'config-dir': 'not set here: it holds nodeIpam.dryRun and nodeIpam.pause',
        'k8s-namespace': setElsewhere['k8s-namespace'],
      }),
    ),
    serviceAccountAnnotations: texts,
    port,
    bind: accepting({ enum: binds }, binds.join(', ')),
  }),
  agent,
  check: closedObject('The command headwater check, as a Job before each install and upgrade.', {
    enabled: flag,
    serviceAccountAnnotations: texts,
    resources: anyObject,
  }),
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

const isOn: JsonSchema = { const: true };

/** What values must not say together. */
const together: readonly ConflictingValues[] = [
  ...modesOfRun.map((mode) => ({
    where: { mode: { const: mode }, 'options.ipam': { not: { const: mode } } },
    path: 'options.ipam',
    words: `left out, or ${mode}: mode is ${mode}`,
  })),
  {
    where: { mode: { const: 'nodeipam' }, 'nodeIpam.enabled': { const: true } },
    path: 'nodeIpam.enabled',
    words:
      'false while mode is nodeipam: the release runs it already, with options instead of nodeIpam.options',
  },
  {
    where: { mode: { const: 'nodeipam' }, 'check.enabled': isOn },
    path: 'check.enabled',
    words: 'false while mode is nodeipam: headwater check knows the modes of headwater run',
  },
  {
    where: { 'controller.enabled': { const: false }, 'check.enabled': isOn },
    path: 'check.enabled',
    words: 'false while controller.enabled is false: there is no controller to check for',
  },
  {
    where: { 'agent.metrics.bind': { not: { const: 'none' } }, 'agent.options.prometheus-serve-addr': {} },
    path: 'agent.options.prometheus-serve-addr',
    words:
      'left out while agent.metrics.bind is not none: the address follows from that and agent.metrics.port',
  },
  {
    where: {
      'agent.serviceMonitor.create': isOn,
      'agent.metrics.bind': { enum: ['none', 'loopback'] },
      'agent.options': { not: { required: ['prometheus-serve-addr'] } },
    },
    path: 'agent.metrics.bind',
    words:
      'podIP or all while agent.serviceMonitor.create is true, because Prometheus reaches neither a socket nor loopback',
  },
  {
    where: { 'agent.serviceMonitor.create': isOn, 'agent.service.create': { const: false } },
    path: 'agent.service.create',
    words:
      'true while agent.serviceMonitor.create is true, because a ServiceMonitor finds agents by a Service',
  },
  ...[
    { of: '', bind: 'serve.bind' },
    { of: 'nodeIpam.', bind: 'nodeIpam.bind' },
  ].flatMap(({ of, bind }) => [
    {
      where: { [`${of}serviceMonitor.create`]: { const: true }, [bind]: { const: 'loopback' } },
      path: bind,
      words: `podIP or all while ${of}serviceMonitor.create is true, because Prometheus does not reach loopback`,
    },
    {
      where: { [`${of}serviceMonitor.create`]: { const: true }, [`${of}service.create`]: { const: false } },
      path: `${of}service.create`,
      words: `true while ${of}serviceMonitor.create is true, because a ServiceMonitor finds replicas by a Service`,
    },
    {
      where: {
        [`${of}replicas`]: { minimum: 2 },
        [`${of}options.leader-election`]: { enum: [false, 'false'] },
      },
      path: `${of}options.leader-election`,
      words: `true while ${of}replicas is more than 1, because only a Lease keeps two from acting at once`,
    },
  ]),
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

/** Every mode of the controller but nodeipam is one of headwater run. */
const optionsByMode: JsonSchema = {
  if: { properties: { mode: { const: 'nodeipam' } }, required: ['mode'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { properties: { options: optionsOf('nodeipam', elsewhere(setElsewhere)) } },
  else: { properties: { options: optionsOf('run', elsewhere(setElsewhere)) } },
};

export function chartSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart headwater. Made by docs/generate.ts: change docs/chart-schema.ts.',
    ...closedObject('All values.', properties),
    ...refusingGaps(needed, refusing(together, optionsByMode)),
  };
}

/** Which options each command has, in the order of its help, and what it needs of them together. */
export function chartCommands(): string {
  const names = (['run', 'nodeipam', 'agent'] as const).map((command) => [
    command,
    optionsOfCommand(command),
  ]);
  return `${JSON.stringify({ ...Object.fromEntries(names), needs: optionNeeds }, undefined, 2)}\n`;
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
      ...(decides.has(name) && { default: optionTable[name].default }),
      ...lessThan(name),
      ...(live === true && { live }),
    };
    return [name, fact] as const;
  });
  const present = facts.filter(([, fact]) => Object.keys(fact).length > 0);
  return `${JSON.stringify(Object.fromEntries(present), undefined, 2)}\n`;
}

/** Options whose value decides what others are needed. */
const decides: ReadonlySet<string> = new Set(
  Object.values<OptionNeed>(optionNeeds).flatMap(({ where = {} }) => Object.keys(where)),
);

function lessThan(name: OptionName): object {
  const bound = timingBounds.find((each) => each.name === name);
  if (bound === undefined) return {};
  const { limit, factor } = bound;
  const [own, others] = [optionTable[name].default, optionTable[limit].default];
  return { default: own, lessThan: { limit, factor, default: others } };
}
