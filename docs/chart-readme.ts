// The README of the chart: how to install it, and its values with what the schema accepts, the defaults and the words of
// values.yaml.
import { readFileSync } from 'node:fs';
import { isMap, isScalar, parseDocument, type Pair, stringify, type YAMLMap } from 'yaml';
import type { JsonSchema } from './json-schema.ts';

const introduction = `# Chart headwater

Installs [Headwater](../../README.md): a controller that gives Kubernetes nodes their pod addresses, or blocks of a network, and, if
wanted, an agent on each node that gives them to pods.

| \`mode\` | what the controller gives | needs | guide |
| --- | --- | --- | --- |
| \`eni\` | addresses of AWS, to CiliumNodes | Cilium agents of the same mode, or \`agent.enabled\` | [EKS](../../docs/install-eks.md), [self-managed](../../docs/install-self-managed-aws.md) |
| \`azure\` | addresses of Azure, to CiliumNodes | the same | [AKS](../../docs/install-aks.md) |
| \`alibabacloud\` | addresses of Alibaba Cloud, to CiliumNodes | the same | [ACK](../../docs/install-ack.md) |
| \`cluster-pool\` | a block to each CiliumNode | the same, and \`options.cluster-pool-ipv4-cidr\` or its IPv6 counterpart | [blocks](../../docs/cidr-modes.md#cluster-pool) |
| \`multi-pool\` | blocks of CiliumPodIPPools to CiliumNodes | the same | [blocks](../../docs/cidr-modes.md#multi-pool) |
| \`nodeipam\` | pod CIDRs to Nodes | \`options.cluster-cidr\`; any CNI that reads them, or \`agent.enabled\` | [kubeadm](../../docs/install-kubeadm.md), [blocks](../../docs/cidr-modes.md#nodeipam) |

The guides have the commands. The chart refuses what the process would refuse at its start, before anything is installed: unknown
options with the one that was meant, values that an option does not take, and options that are missing.

## Ports of a host

| port | of | value |
| --- | --- | --- |
| 9966 | health, metrics and status of the controller | \`serve.port\` |
| 9967 | the same of a second controller | \`nodeIpam.port\` |
| 9968 | metrics of the agent, if they are served over TCP | \`agent.metrics.port\` |
| 9969 | health of the agent | \`agent.healthPort\` |

## Values

\`options\`, \`nodeIpam.options\` and \`agent.options\` take [options](../../docs/options.md) by name, as YAML or as the text of a flag.

| value | default | accepted | meaning |
| --- | --- | --- | --- |
`;

interface Described {
  readonly path: string;
  readonly fallback: string;
  readonly accepted: string;
  readonly meaning: string;
}

export function chartReadme(schema: JsonSchema): string {
  const text = readFileSync(new URL('../charts/headwater/values.yaml', import.meta.url), 'utf8');
  const values = parseDocument(text).contents as YAMLMap;
  // The comment before the first value is about the whole file.
  const rows = rowsOf(values, schema, '');
  const lines = rows.map(
    ({ path, fallback, accepted, meaning }) => `| \`${path}\` | ${fallback} | ${accepted} | ${meaning} |`,
  );
  return `${introduction}${lines.join('\n')}\n`;
}

function rowsOf(values: YAMLMap, schema: JsonSchema, above: string): readonly Described[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return values.items.flatMap((pair, index) => {
    const name = keyOf(pair);
    const own = properties[name] ?? {};
    const path = above === '' ? name : `${above}.${name}`;
    const meaning = commentOf(pair, index === 0 ? values.commentBefore : undefined);
    const isGroup = own['properties'] !== undefined && isMap(pair.value) && pair.value.items.length > 0;
    if (isGroup) {
      const inner = rowsOf(pair.value as YAMLMap, own, path);
      return meaning === '' ? inner : [{ path, fallback: '', accepted: '', meaning }, ...inner];
    }
    return [{ path, fallback: fallbackOf(pair), accepted: cell(acceptedBy(own)), meaning }];
  });
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** The first paragraph: examples follow it. */
function commentOf({ key }: Pair, first: string | null | undefined): string {
  const comment = (isScalar(key) ? key.commentBefore : undefined) ?? first ?? '';
  const [paragraph = ''] = comment
    .split(/\n\s*\n/)
    .slice(-1 * Number(comment.startsWith(' Values of the chart')));
  return cell(
    paragraph
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim()
      .replace(/:$/, '.'),
  );
}

/** What does not fit into a line is in values.yaml. */
function fallbackOf({ value }: Pair): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim().replaceAll(/\s+/g, ' ');
  return text.length > 100 ? 'in values.yaml' : cell(`\`${text}\``);
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

/** In words, as refusals have them. */
function acceptedBy(schema: JsonSchema): string {
  const {
    else: otherwise,
    enum: choices,
    type,
  } = schema as {
    readonly else?: { readonly const?: string };
    readonly enum?: readonly unknown[];
    readonly type?: string | readonly string[];
  };
  if (otherwise?.const !== undefined) return otherwise.const;
  if (choices !== undefined) return choices.join(', ');
  const words: Readonly<Record<string, string>> = {
    boolean: 'true or false',
    string: 'a text',
    object: 'an object',
    array: 'a list',
  };
  return words[[type].flat()[0] ?? ''] ?? '';
}
