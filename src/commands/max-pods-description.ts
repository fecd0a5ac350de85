// Describes the command max-pods.
import type { OptionName } from '../config/option-table.ts';
import { integer, list, oneOf } from '../config/value-kinds.ts';
import { type CommandDescription, flagOf, flagsUnder, textFlag } from './command-description.ts';
import { optionFlag } from './run-description.ts';

/** Options that decide how many addresses a node can hold, and where the cloud is asked; as for the command run. */
export const maxPodsOptions = [
  'ipam',
  'config-dir',
  'aws-enable-prefix-delegation',
  'aws-use-primary-address',
  'pod-vpc-id',
  'aws-region',
  'ec2-api-endpoint',
  'azure-use-primary-address',
  'alibaba-cloud-region',
  'alibaba-cloud-endpoint',
  'alibaba-cloud-ecs-endpoint',
  'alibaba-cloud-metadata-endpoint',
  'extra-ca-file',
] as const satisfies readonly OptionName[];

const types = list(
  'type,...',
  /^[\w.-]{1,64}$/,
  'names of instance types, separated by commas or spaces, such as m6i.large',
);

export const maxPodsKinds = {
  type: { ...types, parse: (text: string) => (/^[\s,]*$/.test(text) ? undefined : types.parse(text)) },
  'first-interface-index': integer({ min: 0, max: 255 }),
  interfaces: integer({ min: 1, max: 64 }),
  'host-network-pods': integer({ min: 0, max: 1000 }),
  output: oneOf(['text', 'json', 'karpenter']),
};

export const maxPodsDescription: Omit<CommandDescription, 'run'> = {
  name: 'max-pods',
  summary: 'say how many pods instance types can hold',
  description:
    'Reads the limits of instance types from the cloud, and says how many pods a node of each can have: its pod addresses, and pods in the network of the host, which take none. ' +
    'Give the kubelet that number (maxPods), or the scheduler places pods that never get an address. On Azure, all sizes have the same limits, and no cloud is asked for them.\n\n' +
    'Its exit code is 0 if all types are known, 1 if not, and 2 if it could not find out.',
  words: { of: 'type', help: 'Instance types, as those of --type.' },
  flags: [
    flagOf('type', maxPodsKinds.type, { help: 'The instance types. May be repeated.' }),
    flagOf('first-interface-index', maxPodsKinds['first-interface-index'], {
      help: 'The device index of the first interface for pods: first-interface-index of the agents.',
      otherwise: 'that of a CiliumNode that sets none; at least 1 if pods are in a VPC of their own',
    }),
    flagOf('interfaces', maxPodsKinds.interfaces, {
      help: 'The interfaces of a node, on Azure, where its machine is given them.',
      otherwise: '1',
    }),
    flagOf('host-network-pods', maxPodsKinds['host-network-pods'], {
      help: 'Pods of each node in the network of the host, such as the agent of Cilium and kube-proxy.',
      otherwise: '2',
    }),
    textFlag('output', 'format', {
      help: 'How to print it. karpenter is the part of a node class, with the least of all types.',
      notes: ['Accepted: text, json, karpenter (on AWS and Azure)', 'Default: text.'],
    }),
    ...flagsUnder(
      'As for headwater run:',
      maxPodsOptions.map((name) => optionFlag('run', name)),
    ),
  ],
};
