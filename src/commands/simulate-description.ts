// Describes the command simulate.
import { integer } from '../config/value-kinds.ts';
import {
  type CommandDescription,
  type FlagDescription,
  flagOf,
  flagsUnder,
  switchFlag,
  textFlag,
} from './command-description.ts';

/** Where the embedded parts listen unless a flag says otherwise. */
export const usualPorts = {
  'ec2-port': 4599,
  'azure-port': 4598,
  'azure-metadata-port': 4597,
  'alibaba-cloud-port': 4596,
  'alibaba-cloud-metadata-port': 4595,
  'kubernetes-port': 8099,
} as const;

export const portKind = {
  ...integer({ min: 0, max: 65_535 }),
  placeholder: 'port',
  accepts: 'a whole number from 0 (any free port) to 65535',
};

function port(name: keyof typeof usualPorts, help: string): FlagDescription {
  return flagOf(name, portKind, { help, otherwise: String(usualPorts[name]) });
}

export const simulateDescription: Omit<CommandDescription, 'run'> = {
  name: 'simulate',
  summary: 'serve the embedded EC2, Azure or Alibaba Cloud, or the embedded Kubernetes API, to any client',
  description:
    'Starts the embedded EC2, Azure or Alibaba Cloud from a topology file, for any client of that cloud (its ' +
    'CLI, an SDK, a controller), or the embedded Kubernetes API, for kubectl and other clients, or both. Stays ' +
    'up until it is interrupted. Nothing is kept.',
  flags: [
    ...flagsUnder('Cloud:', [
      textFlag('topology', 'file', {
        help: 'Starts the embedded cloud with the networks and instances that this file describes, in YAML or JSON: Azure if the file says `cloud: azure`, Alibaba Cloud if it says `cloud: alibabacloud`, EC2 otherwise.',
        notes: [
          'Examples: src/simulator/ec2/examples, src/simulator/arm/examples, src/simulator/alibaba/examples.',
        ],
      }),
      port('ec2-port', 'Where EC2 listens.'),
      port('azure-port', 'Where Azure Resource Manager and its token endpoint listen, over HTTPS.'),
      port('azure-metadata-port', 'Where the instance metadata of Azure listens, over HTTP.'),
      textFlag('azure-ca-file', 'file', {
        help: 'Where to write the certificate of the authority that clients of Azure have to trust.',
        notes: ['Default: it is printed.'],
      }),
      port('alibaba-cloud-port', 'Where ECS and VPC of Alibaba Cloud listen, over HTTP.'),
      port('alibaba-cloud-metadata-port', 'Where the instance metadata of Alibaba Cloud listens, over HTTP.'),
    ]),
    ...flagsUnder('Kubernetes:', [
      switchFlag(
        'kubernetes',
        'Starts the embedded Kubernetes API, with the definitions of CiliumNode and CiliumPodIPPool in it.',
      ),
      port('kubernetes-port', 'Where the Kubernetes API listens.'),
      textFlag('kubeconfig', 'file', {
        help: 'Where to write a kubeconfig for it.',
        notes: ['Default: it is printed.'],
      }),
    ]),
    ...flagsUnder('Both:', [
      textFlag('host', 'address', {
        help: 'The address that they listen on.',
        notes: ['Default: 127.0.0.1.'],
      }),
      textFlag('seed', 'text', {
        help: 'What addresses, ids and delays are drawn from.',
        notes: ["Default: the topology's, else headwater."],
      }),
    ]),
  ],
};
