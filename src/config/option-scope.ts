// Decides which options count: each command has its own, and of those of the command run, each mode has its own. The others
// keep their defaults, whatever a shared ConfigMap says.
import type { OptionName } from './option-table.ts';
import { optionNames, optionTable } from './option-table.ts';
import { agentModeRow, agentOptions } from './options/agent-options.ts';
import {
  blockOptions,
  ciliumNodeOptions,
  onlyInClusterPool,
  onlyInMultiPool,
} from './options/block-options.ts';
import { kubernetesOptions } from './options/kubernetes-options.ts';
import { nodeIpamOptions } from './options/node-ipam-options.ts';
import { processOptions } from './options/process-options.ts';
import { onlyTrue, type ValueKind } from './value-kinds.ts';

/** The commands that run a controller. */
export type OptionCommand = 'run' | 'nodeipam';

/** The commands that take options of the table. */
export type ConfiguredCommand = OptionCommand | 'agent';

/**
 * The purpose of an option: a cloud's addresses, blocks to nodes under Cilium agents or without them, or the addresses of one
 * node.
 */
export type OptionScope = 'cloud' | 'cluster-pool' | 'multi-pool' | 'nodeipam' | 'agent';

/** Options of processes and of Kubernetes that only the modes of clouds have. */
const onlyWithClouds: ReadonlySet<string> = new Set<OptionName>(['require-node', 'node-metrics-limit']);

/** Options of any process that talks to Kubernetes, whatever it does. */
const shared: ReadonlySet<string> = new Set([
  ...Object.keys({ ...kubernetesOptions, ...processOptions }).filter((name) => !onlyWithClouds.has(name)),
  'parallel-alloc-workers',
]);

/** Options of the command nodeipam that clouds have as well: it may follow one. */
const sharedWithClouds: ReadonlySet<string> = new Set<OptionName>([
  'aws-region',
  'ec2-api-endpoint',
  'aws-max-results-per-call',
  'cloud-call-timeout',
  'audit',
  'cloud-quota-share',
  'cloud-quota-overrides',
  'limit-ipam-api-qps',
  'limit-ipam-api-burst',
]);

/** Options of the command nodeipam that cluster-pool has as well. */
const sharedWithBlocks: ReadonlySet<string> = new Set<OptionName>(['bigger-blocks-share']);

/** Options of modes of blocks that clouds have as well. */
const sharedWithClusterPool: ReadonlySet<string> = new Set<OptionName>([
  'ipam',
  'enable-ipv4',
  'release-pod-check',
]);
const sharedWithMultiPool: ReadonlySet<string> = new Set<OptionName>(['ipam', 'release-pod-check']);

/** Options of the command agent that others have as well. */
const sharedWithAgent: ReadonlySet<string> = new Set<OptionName>([
  'ipam',
  'enable-ipv4',
  'enable-ipv6',
  'ipam-default-ip-pool',
  'k8s-api-server',
  'k8s-kubeconfig-path',
  'config-dir',
  'log-level',
  'debug',
]);

/** The options that the command takes. */
export function optionsOfCommand(command: ConfiguredCommand): readonly OptionName[] {
  return command === 'run'
    ? optionNames.filter((name) => !(name in nodeIpamOptions) && !(name in agentOptions))
    : optionNames.filter((name) => countsIn(command, name));
}

/** Whether the option has an effect. */
export function countsIn(scope: OptionScope, name: OptionName): boolean {
  switch (scope) {
    case 'agent':
      return name in agentOptions || sharedWithAgent.has(name);
    case 'nodeipam':
      return (
        [sharedWithClouds, sharedWithBlocks, shared].some((names) => names.has(name)) ||
        name in nodeIpamOptions
      );
    case 'cluster-pool':
      return countsWithBlocks(name, sharedWithClusterPool, onlyInMultiPool);
    case 'multi-pool':
      return countsWithBlocks(name, sharedWithMultiPool, onlyInClusterPool);
    case 'cloud':
      return !(name in elsewhere);
  }
}

function countsWithBlocks(name: OptionName, also: ReadonlySet<string>, except: ReadonlySet<string>): boolean {
  const isOwn = name in blockOptions || name in ciliumNodeOptions;
  return also.has(name) || (isOwn && !except.has(name)) || shared.has(name);
}

/** Options of other modes and commands than those of clouds. */
const elsewhere = { ...nodeIpamOptions, ...blockOptions, ...agentOptions };

const ipv4Only = onlyTrue('Headwater supplies IPv4 addresses');

export function kindIn(scope: OptionScope, name: OptionName): ValueKind<unknown> {
  if (scope === 'agent' && name === 'ipam') return agentModeRow.kind;
  return scope === 'cloud' && name === 'enable-ipv4' ? ipv4Only : optionTable[name].kind;
}

/** Defaults that differ from those of the table. */
export const defaultsIn: Readonly<
  Record<OptionScope, Readonly<Partial<Record<OptionName, { readonly default: string }>>>>
> = {
  cloud: {},
  'cluster-pool': {},
  'multi-pool': {},
  nodeipam: { 'leader-election-lease-name': { default: 'headwater-nodeipam' } },
  agent: { ipam: { default: agentModeRow.default } },
};
