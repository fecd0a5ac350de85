// What the command demo tells about itself.
import type { CommandDescription } from './command-description.ts';

export const demoDescription: Omit<CommandDescription, 'run'> = {
  name: 'demo',
  summary: 'watch the controller at work on a cluster in this process',
  description:
    'Starts an embedded EC2, an embedded Kubernetes API and a fleet of nodes with agents of both protocols, then the ' +
    'controller as a process of its own, as it runs in production. In chapters: nodes join, pods arrive, answers get ' +
    'lost, a subnet runs out, addresses are given back, the controller is killed and another goes on. Ends by itself ' +
    'within 90 s: with exit code 0, or 1 when an invariant was broken, or when somebody was left with fewer or more ' +
    "addresses than the watermarks ask for. It judges by the cloud's state and the agents' memory, never by the " +
    "controller's word.",
  flags: [
    {
      name: 'nodes',
      value: { placeholder: 'number' },
      group: 'Options:',
      help: 'How many nodes, of mixed instance types over three zones.',
      notes: ['Accepted: a whole number from 4 to 100', 'Default: 50.'],
    },
    {
      name: 'seed',
      value: { placeholder: 'text' },
      group: 'Options:',
      help: 'What the addresses, delays and choices of the embedded parts are drawn from.',
      notes: ['Default: headwater.'],
    },
    {
      name: 'keep-running',
      group: 'Options:',
      help: 'Stays up when all is done, and says what to try, until it is interrupted.',
      notes: [],
    },
    {
      name: 'plain',
      group: 'Options:',
      help: 'Prints plain lines, as it does where the output is no terminal.',
      notes: [],
    },
  ],
};
