import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { setElsewhere } from '../../../docs/chart-schema.ts';
import { optionsOfCommand } from '../../../src/config/option-scope.ts';
import { optionTable, type OptionName } from '../../../src/config/option-table.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { ValueShape } from '../../../src/config/value-kinds.ts';
import { chart, helm, templateWith, templateWithText } from '../rig/helm.ts';
import { argumentsOf, configOf, objectsIn } from '../../../rig/manifests.ts';

/** The message of helm for these values, without the part that every refusal has. */
async function refusalOf(yaml: string): Promise<string> {
  const { exitCode, errors } = await templateWith(parse(yaml) as JsonObject);
  expect(exitCode).toBe(1);
  const lines = errors
    .split('\n')
    .filter((line) => line.startsWith('- at ') || line.startsWith('Error: execution'));
  return lines.map((line) => line.replace(/^- |^Error: execution error at \([^)]*\): /, '')).join('\n');
}

describe('a value that the chart refuses', () => {
  test.each([
    [
      'replica: 3',
      "at '/replica': value must be 'left out: the chart has no such value (helm show values lists them)'",
    ],
    [
      'serve: { address: 1.2.3.4 }',
      "at '/serve/address': value must be 'left out: the chart has no such value (helm show values lists them)'",
    ],
    ['replicas: three', "at '/replicas': value must be 'a whole number from 1 to 5'"],
    ['options: { cluster: x }', 'options: unknown option --cluster'],
    ['options: { cluster-nme: x }', 'options: unknown option --cluster-nme; did you mean --cluster-name?'],
    [
      'nodeIpam: { enabled: true, options: { cluster-cdir: 10.0.0.0/8 } }',
      'nodeIpam.options: unknown option --cluster-cdir; did you mean --cluster-cidr?',
    ],
    [
      'agent: { enabled: true, options: { exclude-ip: [10.0.0.9] } }',
      'agent.options: unknown option --exclude-ip; did you mean --exclude-ips?',
    ],
    [
      'mode: cluster-pool',
      'options.cluster-pool-ipv4-cidr: "" is refused because blocks come from nowhere; accepted: at least one CIDR for ipam=cluster-pool',
    ],
    [
      'mode: nodeipam',
      'options.cluster-cidr: "" is refused because blocks come from nowhere; accepted: one CIDR, or one of each family',
    ],
    [
      'nodeIpam: { enabled: true, options: { cidr-allocator-type: CloudAllocator, cloud-provider: azure } }',
      'nodeIpam.options.cloud-provider: "azure" is refused because Azure routes no blocks to an instance, only single addresses of its interfaces; accepted: aws or gce, with a cidr-allocator-type that follows it',
    ],
    [
      'mode: nodeipam\noptions: { cluster-cidr: 10.0.0.0/8 }\nagent: { enabled: true, options: { cilium-node-protocol: pools } }',
      'agent.options.cilium-node-protocol: "pools" is refused because only with ipam=eni, azure, alibabacloud are there addresses of interfaces; accepted: used',
    ],
    [
      'options: { ipam: cluster-pool, cluster-pool-ipv4-cidr: 10.0.0.0/8, enable-ipv6: true }',
      'options.cluster-pool-ipv6-cidr: "" is refused because enable-ipv6 is true; accepted: at least one IPv6 CIDR',
    ],
    [
      'agent: { enabled: true, options: { ipam: host-scope } }',
      'agent.options.ipv4-range: "" is refused because ipam=host-scope has no addresses without it, or without ipv6-range; accepted: an IPv4 CIDR, such as 10.10.0.0/24',
    ],
    [
      'options: { ipam: kubernetes }',
      "at '/options/ipam': value must be 'eni, azure, alibabacloud, cluster-pool, multi-pool'",
    ],
    [
      'options: { azure-subscription-id: production }',
      "at '/options/azure-subscription-id': value must be 'subscription ids (32 hexadecimal digits in five groups) separated by commas or spaces'",
    ],
    [
      'workloadIdentity: { clientId: headwater }',
      "at '/workloadIdentity/clientId': value must be 'the client id of a managed identity: 32 hexadecimal digits in five groups'",
    ],
    [
      'alibabaCloud: { roleName: "acs:ram::1:role/headwater" }',
      "at '/alibabaCloud/roleName': value must be 'the name of a RAM role, not its ARN: letters, digits, - and .'",
    ],
    [
      'alibabaCloud: { roleArn: headwater, oidcProviderArn: "acs:ram::1:oidc-provider/ack" }',
      "at '/alibabaCloud/roleArn': value must be 'the ARN of a RAM role, such as acs:ram::1234567890123456:role/headwater'",
    ],
    [
      'alibabaCloud: { roleArn: "acs:ram::1:role/headwater" }',
      "at '/alibabaCloud/oidcProviderArn': value must be 'the ARN of the OIDC provider of the cluster while roleArn is set'",
    ],
    [
      'alibabaCloud: { oidcProviderArn: "acs:ram::1:oidc-provider/ack" }',
      "at '/alibabaCloud/roleArn': value must be 'the ARN of a RAM role while oidcProviderArn is set'",
    ],
    [
      'alibabaCloud: { roleName: headwater, accessKeySecret: keys }',
      "at '/alibabaCloud/accessKeySecret': value must be 'empty while roleName is set, because an AccessKey would be used instead of the role'",
    ],
    [
      'options: { aws-region: Frankfurt }',
      "at '/options/aws-region': value must be 'the name of an AWS region, such as eu-central-1'",
    ],
    [
      'options: { parallel-alloc-workers: 0 }',
      "at '/options/parallel-alloc-workers': value must be 'a whole number from 1 to 1000'",
    ],
    [
      'options: { aws-release-excess-ips: maybe }',
      "at '/options/aws-release-excess-ips': value must be 'true or false'",
    ],
    [
      'options: { resync-interval: often }',
      "at '/options/resync-interval': value must be 'a duration from 10s to 24h as Go writes it (1m30s, 300ms)'",
    ],
    [
      'options: { resync-interval: 5s }',
      'options.resync-interval is 5s: it must be a duration from 10s to 24h as Go writes it (1m30s, 300ms).',
    ],
    [
      'options: { leader-election-lease-duration: 1500ms }',
      'options.leader-election-lease-duration is 1500ms: it must be a duration from 1s to 10m as Go writes it (1m30s, 300ms) and in whole seconds.',
    ],
    [
      'options: { subnet-ids-filter: [subnet-x] }',
      "at '/options/subnet-ids-filter': value must be 'ids of subnets or vSwitches, separated by commas or spaces'",
    ],
    [
      'options: { eni-tags: [a] }',
      expect.stringMatching(/^at '\/options\/eni-tags': value must be 'key=value pairs/),
    ],
    [
      'options: { serve-addr: ":9966" }',
      "at '/options/serve-addr': value must be 'not set here: set serve.port and serve.bind'",
    ],
    [
      'serve: { port: 9963 }',
      expect.stringMatching(
        /^at '\/serve\/port': value must be 'none of .*9963.* because Cilium listens there'$/,
      ),
    ],
    ['serve: { bind: everywhere }', "at '/serve/bind': value must be 'loopback, podIP, all'"],
    [
      'serviceMonitor: { create: true }',
      "at '/serve/bind': value must be 'podIP or all while serviceMonitor.create is true, because Prometheus does not reach loopback'",
    ],
    [
      'hostNetwork: false',
      "at '/serve/bind': value must be 'podIP or all while hostNetwork is false, because the kubelet does not reach loopback of a pod'",
    ],
    [
      'options: { leader-election: false }',
      "at '/options/leader-election': value must be 'true while replicas is more than 1, because only a Lease keeps two from acting at once'",
    ],
    ['pause: [everything]', "at '/pause/0': value must be one of 'releases', 'mutations'"],
    ['image: { digest: latest }', "at '/image/digest': value must be 'sha256: and 64 hexadecimal digits'"],
    [
      'image: { repository: registry.example.com/headwater:0.1.0 }',
      "at '/image/repository': value must be 'a repository without tag and digest: they are image.tag and image.digest'",
    ],
    [
      'options: # aws-region: eu-central-1',
      "at '': value must be 'one in which options is not empty: without that line it has its default'",
    ],
    [
      'replicas:',
      "at '': value must be 'one in which replicas is not empty: without that line it has its default'",
    ],
    [
      'serve: { port: , bind: podIP }',
      "at '/serve': value must be 'one in which port is not empty: without that line it has its default'",
    ],
    [
      'rbac: { create: }',
      "at '/rbac': value must be 'one in which create is not empty: without that line it has its default'",
    ],
    [
      'options: { parallel-alloc-workers: "0" }',
      'options.parallel-alloc-workers is 0: it must be a whole number from 1 to 1000.',
    ],
    [
      'options: { cloud-quota-share: "1.5" }',
      'options.cloud-quota-share is 1.5: it must be a number greater than 0 and at most 1, such as 0.8.',
    ],
    [
      'options: { cluster-name: 12 }',
      "at '/options/cluster-name': value must be 'a text: put it in quotes, and on the command line use --set-string'",
    ],
    [
      'options: { allow-withdrawals: 1234567890 }',
      "at '/options/allow-withdrawals': value must be 'a text: put it in quotes, and on the command line use --set-string'",
    ],
    [
      'options: { leader-election-lease-duration: 5s }',
      'options.leader-election-renew-deadline is 10s: it must be less than leader-election-lease-duration, which is 5s.',
    ],
    [
      'options: { leader-election-retry-period: 9s }',
      'options.leader-election-retry-period is 9s: multiplied by 1.2 it must be less than leader-election-renew-deadline, which is 10s.',
    ],
    [
      'nodeIpam: { enabled: true, port: 9966 }',
      'serve.port and nodeIpam.port are both 9966: they may meet on one host, so each needs its own.',
    ],
    [
      "{ agent: { enabled: true, options: { prometheus-serve-addr: ':9967' } }, nodeIpam: { enabled: true } }",
      "nodeIpam.port and the port of the agent's metrics are both 9967: they may meet on one host, so each needs its own.",
    ],
    [
      'podLabels: { app.kubernetes.io/instance: mine }',
      "at '/podLabels/app.kubernetes.io~1instance': value must be 'left out: the Deployment finds its pods by this label'",
    ],
    [
      'k8sServiceHost: https://api.example.com:6443',
      "at '/k8sServiceHost': value must be 'a host name or an address; the port is k8sServicePort'",
    ],
    [
      'fullnameOverride: Head_Water',
      "at '/fullnameOverride': value must be 'a name as Kubernetes has them: a-z, 0-9 and -, of at most 63 characters'",
    ],
  ])('%s is refused in one sentence', async (yaml, sentence) => {
    expect(await refusalOf(yaml)).toEqual(sentence);
  });

  test.each([
    ['no YAML', 'replicas: [', /^Error: failed to parse .*: .*line 1: did not find expected node content$/m],
    ['a list', '- replicas', /^Error: failed to parse .*: .*cannot unmarshal array into Go value/m],
  ])('is refused with the name of the file when that is %s', async (_, yaml, line) => {
    const { exitCode, errors } = await templateWithText(yaml);

    expect([exitCode, errors]).toEqual([1, expect.stringMatching(line)]);
  });

  test('is refused with the name of the file when that is missing', async () => {
    const { exitCode, errors } = await helm('template', 'headwater', chart, '--values', 'nowhere.yaml');

    expect([exitCode, errors]).toEqual([1, expect.stringContaining('open nowhere.yaml: no such file')]);
  });

  test('is refused with how to get an image when none is set', async () => {
    const { errors } = await helm('template', 'headwater', chart);

    expect(errors).toContain(
      'image.repository is not set: no image of Headwater is published yet, build one with image/Dockerfile and name it there.',
    );
  });
});

/** An example value of the option, as in YAML. */
function exampleOf(name: OptionName): JsonObject[string] {
  return examples[name] ?? anyOf(optionTable[name].kind.shape);
}

function anyOf(shape: ValueShape): JsonObject[string] {
  switch (shape.type) {
    case 'boolean':
    case 'choice':
      return String(shape.values[0]);
    case 'integer':
      return shape.max;
    case 'number':
      return 0.5;
    case 'duration':
      return `${shape.max / 1000}s`;
    case 'tags':
      return { purpose: 'pods', team: 'a,b' };
    case 'list':
    case 'text':
      return 'example';
  }
}

function asFlag(value: JsonObject[string] | undefined): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

const examples: Readonly<Record<string, JsonObject[string]>> = {
  'aws-region': 'eu-central-1',
  'vpc-id': 'vpc-0123456789abcdef0',
  'pod-vpc-id': 'vpc-0123456789abcdef1',
  'ec2-api-endpoint': 'vpce-1.ec2.eu-central-1.vpce.amazonaws.com',
  'k8s-api-server': 'https://api.example.com:6443',
  audit: '/var/log/headwater/audit.jsonl',
  'subnet-ids-filter': ['subnet-0123456789abcdef0'],
  'cloud-quota-overrides': ['AttachNetworkInterface=100:10'],
  'allow-withdrawals': '0123456789',
  'azure-subscription-id': ['00000000-0000-0000-0000-000000000001'],
  'azure-user-assigned-identity-id': '00000000-0000-0000-0000-0000000000cc',
  'azure-metadata-endpoint': 'http://127.0.0.1:4597',
  'network-account-role-arn': 'arn:aws:iam::444455556666:role/headwater-network',
  'alibaba-cloud-region': 'cn-hangzhou',
  'alibaba-cloud-vpc-id': 'vpc-bp1aevy8sofi8mh1q0000',
  'alibaba-cloud-metadata-endpoint': 'http://127.0.0.1:4595',
  'auto-create-cilium-pod-ip-pools': 'main=ipv4-cidrs:10.10.0.0/16;ipv4-mask-size:24',
  // Each shorter than the one before.
  'leader-election-renew-deadline': '12s',
  'leader-election-retry-period': '3s',
};

describe('an option in the values', () => {
  const own = optionsOfCommand('run').filter((name) => !(name in setElsewhere));

  test.each(own)('can be set in YAML, and reaches the process as the process reads it: %s', async (name) => {
    const { kind, live } = optionTable[name];
    const value = exampleOf(name);
    const { errors, output } = await templateWith({ replicas: 1, options: { [name]: value } });

    expect(errors).toBe('');
    const objects = objectsIn(output);
    const argument = argumentsOf(objects).find((each) => each.startsWith(`--${name}=`));
    const text = live === true ? configOf(objects)[name] : argument?.slice(name.length + 3);
    expect(text === undefined ? undefined : kind.parse(text)).toBeDefined();
  });

  test.each(own)('can be set as the text of its flag: %s', async (name) => {
    const { live } = optionTable[name];
    const text = asFlag(exampleOf(name));
    const { errors, output } = await templateWith({ replicas: 1, options: { [name]: text } });

    expect(errors).toBe('');
    const objects = objectsIn(output);
    expect([...argumentsOf(objects), configOf(objects)[name]]).toContain(
      live === true ? text : `--${name}=${text}`,
    );
  });

  test('is set by every rendering when it follows from other values', async () => {
    const objects = objectsIn((await templateWith({})).output);
    const args = argumentsOf(objects).map((each) => each.split('=')[0]);

    expect([...args, ...Object.keys(configOf(objects)).map((name) => `--${name}`)]).toEqual([
      'run',
      '--config-dir',
      '--serve-addr',
      '--dry-run',
      '--pause',
    ]);
  });
});
