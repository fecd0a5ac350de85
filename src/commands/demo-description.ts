// What the command demo tells about itself.
import type { CommandDescription } from './command-description.ts';

export const demoDescription: Omit<CommandDescription, 'run'> = {
  name: 'demo',
  summary: 'watch the controller at work on a cluster in this process',
  description:
    'Starts an embedded EC2, an embedded Kubernetes API and a fleet of nodes with agents of both protocols and pods ' +
    'that arrive, then the controller as a process of its own, as it runs in production. Ends by itself within a ' +
    'minute: with exit code 0, or 1 when an invariant was broken or somebody was left without addresses. It judges by ' +
    "the cloud's state and the agents' memory, never by the controller's word.",
  flags: [
    {
      name: 'nodes',
      value: { placeholder: 'number' },
      group: 'Options:',
      help: 'How many nodes, of mixed instance types over three zones.',
      notes: ['Accepted: a whole number from 1 to 200', 'Default: 50.'],
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
