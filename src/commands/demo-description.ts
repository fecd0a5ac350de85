// Describes the command demo.
import { integer, oneOf } from '../config/value-kinds.ts';
import { type CommandDescription, flagOf, switchFlag, textFlag } from './command-description.ts';
import { demoCloudNames } from './demo/controller-options.ts';

export const demoKinds = {
  nodes: integer({ min: 4, max: 100 }),
  ipam: { ...oneOf(['eni', 'cluster-pool', 'multi-pool', 'nodeipam']), placeholder: 'mode' },
  cloud: { ...oneOf(demoCloudNames), placeholder: 'name' },
};

export const demoDescription: Omit<CommandDescription, 'run'> = {
  name: 'demo',
  summary: 'watch the controller at work on a cluster in this process',
  description:
    'Starts a model of EC2, Azure or Alibaba Cloud, an embedded Kubernetes API and a fleet of nodes with agents, and the ' +
    'controller in its own process, as in production. Step by step, nodes join, pods arrive, answers get lost, a subnet ' +
    'runs out, addresses are released, and the controller is killed and another one takes over. The demonstration judges ' +
    "by the cloud's state and the agents' memory, never by what the controller says. It takes 90 s, longer on a " +
    'busy machine. Its exit code is 0, or 1 if an invariant was broken or the controller ended; 3 if this machine is too ' +
    'slow, so that nothing changes for 60 s before every node has what its watermarks ask for; 130 if it is interrupted. ' +
    'The log of the controller is on disk, and stays there if the exit code is 1 or 3.',
  flags: [
    flagOf('cloud', demoKinds.cloud, { help: 'The cloud whose addresses to show.', otherwise: 'aws' }),
    flagOf('ipam', demoKinds.ipam, {
      help: 'What to show: addresses of a cloud, or blocks to 60 nodes without any cloud, which takes less than 60 s.',
      otherwise: 'eni; with another --cloud, its addresses',
    }),
    flagOf('nodes', demoKinds.nodes, {
      help: 'How many nodes: of mixed instance types over three zones, or in scale sets of both kinds.',
      otherwise: '50',
    }),
    textFlag('seed', 'text', {
      help: 'What the addresses, delays and choices of the embedded parts are drawn from.',
      notes: ['Default: headwater.'],
    }),
    switchFlag(
      'keep-running',
      'Stays up after the last chapter until it is interrupted, and prints what to try and what to break.',
    ),
    switchFlag(
      'prometheus',
      'Starts a Prometheus that scrapes the controller and holds the alert rules of the chart, where one is installed.',
      ['With --keep-running it stays up too.'],
    ),
    switchFlag('plain', 'Prints plain lines, as it does where the output is no terminal.'),
  ],
};
