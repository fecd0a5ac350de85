// Describes the command simulate.
import type { CommandDescription } from './command-description.ts';

export const simulateDescription: Omit<CommandDescription, 'run'> = {
  name: 'simulate',
  summary: 'serve the embedded EC2, Azure or Alibaba Cloud, or the embedded Kubernetes API, to any client',
  description:
    'Starts the embedded EC2, Azure or Alibaba Cloud from a topology file, for any client of that cloud (its ' +
    'CLI, an SDK, a controller), or the embedded Kubernetes API, for kubectl and other clients, or both. Stays ' +
    'up until it is interrupted. Nothing is kept.',
  flags: [
    {
      name: 'topology',
      value: { placeholder: 'file' },
      group: 'Cloud:',
      help: 'Starts the embedded cloud with the networks and instances that this file describes, in YAML or JSON: Azure if the file says `cloud: azure`, Alibaba Cloud if it says `cloud: alibabacloud`, EC2 otherwise.',
      notes: [
        'Examples: src/simulator/ec2/examples, src/simulator/arm/examples, src/simulator/alibaba/examples.',
      ],
    },
    {
      name: 'ec2-port',
      value: { placeholder: 'port' },
      group: 'Cloud:',
      help: 'Where EC2 listens.',
      notes: ['Accepted: a whole number from 0 (any free port) to 65535', 'Default: 4599.'],
    },
    {
      name: 'azure-port',
      value: { placeholder: 'port' },
      group: 'Cloud:',
      help: 'Where Azure Resource Manager and its token endpoint listen, over HTTPS.',
      notes: ['Accepted: a whole number from 0 (any free port) to 65535', 'Default: 4598.'],
    },
    {
      name: 'azure-metadata-port',
      value: { placeholder: 'port' },
      group: 'Cloud:',
      help: 'Where the instance metadata of Azure listens, over HTTP.',
      notes: ['Accepted: a whole number from 0 (any free port) to 65535', 'Default: 4597.'],
    },
    {
      name: 'azure-ca-file',
      value: { placeholder: 'file' },
      group: 'Cloud:',
      help: 'Where to write the certificate of the authority that clients of Azure have to trust.',
      notes: ['Default: it is printed.'],
    },
    {
      name: 'alibaba-cloud-port',
      value: { placeholder: 'port' },
      group: 'Cloud:',
      help: 'Where ECS and VPC of Alibaba Cloud listen, over HTTP.',
      notes: ['Accepted: a whole number from 0 (any free port) to 65535', 'Default: 4596.'],
    },
    {
      name: 'alibaba-cloud-metadata-port',
      value: { placeholder: 'port' },
      group: 'Cloud:',
      help: 'Where the instance metadata of Alibaba Cloud listens, over HTTP.',
      notes: ['Accepted: a whole number from 0 (any free port) to 65535', 'Default: 4595.'],
    },
    {
      name: 'kubernetes',
      group: 'Kubernetes:',
      help: 'Starts the embedded Kubernetes API, with the definitions of CiliumNode and CiliumPodIPPool in it.',
      notes: [],
    },
    {
      name: 'kubernetes-port',
      value: { placeholder: 'port' },
      group: 'Kubernetes:',
      help: 'Where the Kubernetes API listens.',
      notes: ['Accepted: a whole number from 0 (any free port) to 65535', 'Default: 8099.'],
    },
    {
      name: 'kubeconfig',
      value: { placeholder: 'file' },
      group: 'Kubernetes:',
      help: 'Where to write a kubeconfig for it.',
      notes: ['Default: it is printed.'],
    },
    {
      name: 'host',
      value: { placeholder: 'address' },
      group: 'Both:',
      help: 'The address that they listen on.',
      notes: ['Default: 127.0.0.1.'],
    },
    {
      name: 'seed',
      value: { placeholder: 'text' },
      group: 'Both:',
      help: 'What addresses, ids and delays are drawn from.',
      notes: ["Default: the topology's, else headwater."],
    },
  ],
};
