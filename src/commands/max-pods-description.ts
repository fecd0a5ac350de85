// Describes the command max-pods.
import type { OptionName } from '../config/option-table.ts';
import { type CommandDescription, flagsUnder } from './command-description.ts';
import { optionFlag } from './run-description.ts';

/** Options that decide how many addresses a node can hold, and where the cloud is asked; as for the command run. */
export const maxPodsOptions = [
  'ipam',
  'config-dir',
  'aws-enable-prefix-delegation',
  'aws-use-primary-address',
  'aws-region',
  'ec2-api-endpoint',
  'azure-use-primary-address',
  'alibaba-cloud-region',
  'alibaba-cloud-endpoint',
  'alibaba-cloud-ecs-endpoint',
  'alibaba-cloud-metadata-endpoint',
  'extra-ca-file',
] as const satisfies readonly OptionName[];

export const maxPodsDescription: Omit<CommandDescription, 'run'> = {
  name: 'max-pods',
  summary: 'say how many pods instance types can hold',
  description:
    'Reads the limits of instance types from the cloud, and says how many pods a node of each can have: its pod addresses, and pods in the network of the host, which take none. ' +
    'Give the kubelet that number (maxPods), or the scheduler places pods that never get an address. On Azure, all sizes have the same limits, and no cloud is asked for them.\n\n' +
    'Its exit code is 0 if all types are known, 1 if not, and 2 if it could not find out.',
  words: { of: 'type', help: 'Instance types, as those of --type.' },
  flags: [
    ...flagsUnder('Options:', [
      {
        name: 'type',
        value: { placeholder: 'type,...' },
        help: 'The instance types. May be repeated.',
        notes: ['Accepted: names separated by commas or spaces, such as m6i.large'],
      },
      {
        name: 'first-interface-index',
        value: { placeholder: 'number' },
        help: 'The device index of the first interface for pods: first-interface-index of the agents.',
        notes: ['Accepted: a whole number from 0 to 255', 'Default: that of a CiliumNode that sets none.'],
      },
      {
        name: 'interfaces',
        value: { placeholder: 'number' },
        help: 'The interfaces of a node, on Azure, where its machine is given them.',
        notes: ['Accepted: a whole number from 1 to 64', 'Default: 1.'],
      },
      {
        name: 'host-network-pods',
        value: { placeholder: 'number' },
        help: 'Pods of each node in the network of the host, such as the agent of Cilium and kube-proxy.',
        notes: ['Accepted: a whole number from 0 to 1000', 'Default: 2.'],
      },
      {
        name: 'output',
        value: { placeholder: 'format' },
        help: 'How to print it. karpenter is the part of a node class, with the least of all types.',
        notes: ['Accepted: text, json, karpenter (on AWS and Azure)', 'Default: text.'],
      },
    ]),
    ...maxPodsOptions.map((name) => ({ ...optionFlag('run', name), group: 'As for headwater run:' })),
  ],
};
