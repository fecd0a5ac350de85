// Describes the commands that ask a controller: status and explain.
import { integer } from '../config/value-kinds.ts';
import {
  type CommandDescription,
  type FlagDescription,
  flagOf,
  outputKind,
  textFlag,
} from './command-description.ts';
import { optionFlag } from './run-description.ts';

/** Options that name a cluster and its controller, as for the command run. */
export const placeOptions = [
  'k8s-kubeconfig-path',
  'k8s-api-server',
  'k8s-namespace',
  'leader-election-lease-name',
] as const;

export const askingFlags = [
  ...placeOptions.map(placeFlag),
  textFlag('address', 'host:port', {
    help: 'Where a controller serves its status. It is read there, without Kubernetes.',
    notes: ['Accepted: host:port or http://host:port, such as 127.0.0.1:9966'],
  }),
  flagOf('output', outputKind, {
    help: 'How to print it. json is the answer of /status, unchanged.',
    otherwise: 'text',
  }),
];

const finding =
  'It changes nothing. It needs get on leases, list on pods, and get and create on pods/portforward.\n\n' +
  'Its exit code is 0 if nothing is wrong, 1 if something is, and 2 if it could not find out.';

/** In seconds. */
export const watchInterval = { ...integer({ min: 1, max: 3600 }), placeholder: 'seconds', bare: '2' };

const watchFlag = flagOf('watch', watchInterval, {
  help: 'Asks again after so many seconds, until it is interrupted, and shows the answer in place. Without a terminal, it prints one after the other.',
  otherwise: 'once; 2 without a number',
});

const nodeFlag = textFlag('node', 'name', {
  help: 'Asks the agent of this node instead: which addresses it has, how many pods have some, and what it waits for. It needs list on pods, and get and create on pods/portforward, in the namespace of the agents.',
  notes: ['Accepted: the name of a Node', 'Default: the controller is asked.'],
});

export const statusDescription: Omit<CommandDescription, 'run'> = {
  name: 'status',
  summary: 'show whether the controller is well, and what it lacks',
  description:
    'Finds the leader by its Lease, reads its status through the API server, and shows it: who leads, whether it is ready, nodes by state, pods that wait, reasons, ' +
    `subnets or pools, rate limits, and what is paused or held. ${finding}`,
  flags: [...askingFlags, nodeFlag, watchFlag],
};

export const explainDescription: Omit<CommandDescription, 'run'> = {
  name: 'explain',
  summary: 'show why a node lacks addresses, and what to do',
  description:
    'Asks the leader about one node, and shows the chain from its need to the remedy: what it wants and why, what it has and could have, which ' +
    `subnets it may take addresses from and why not from the others, its last calls, and when the next try is. ${finding}`,
  flags: askingFlags,
  argument: { name: 'node', help: 'The name of the Node.' },
};

/** The option of the command run, in the words of this one. */
function placeFlag(name: (typeof placeOptions)[number]): FlagDescription {
  const flag = optionFlag('run', name);
  const notes = flag.notes.map((note) =>
    note
      .replace('; never from --config-dir', '')
      .replace('Default: headwater.', 'Default: headwater, else headwater-nodeipam.'),
  );
  return { ...flag, group: 'Options:', notes };
}
