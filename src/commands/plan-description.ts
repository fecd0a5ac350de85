// Describes the command plan.
import type { OptionName } from '../config/option-table.ts';
import { integer, list, text } from '../config/value-kinds.ts';
import { type CommandDescription, flagOf, flagsUnder, textFlag } from './command-description.ts';
import { optionFlag } from './run-description.ts';
import { askingFlags } from './status-description.ts';

/** Options that say where the cloud is asked about a type that no node has; as for the command run. */
export const cloudOptions = [
  'config-dir',
  'aws-region',
  'ec2-api-endpoint',
  'alibaba-cloud-region',
  'alibaba-cloud-endpoint',
  'alibaba-cloud-ecs-endpoint',
  'alibaba-cloud-metadata-endpoint',
  'extra-ca-file',
] as const satisfies readonly OptionName[];

export const planKinds = {
  add: integer({ min: 1, max: 10_000 }),
  type: text('type', /^[\w.-]{1,64}$/, 'the name of an instance type, such as m6i.xlarge'),
  zone: list(
    'zone,...',
    /^[\w-]{1,64}$/,
    'names of zones, separated by commas or spaces, or the ends of names',
  ),
  subnet: text('subnet', /^[\w./()-]{1,500}$/, 'the id of a subnet'),
  pods: integer({ min: 0, max: 10_000 }),
  'agent-addresses': integer({ min: 0, max: 100 }),
  'pre-allocate': integer({ min: 0, max: 10_000 }),
  pool: text('pool', /^[\w.-]{1,253}$/, 'the name of a CiliumPodIPPool'),
};

export const planDescription: Omit<CommandDescription, 'run'> = {
  name: 'plan',
  summary: 'say what further nodes would take, and which subnets run out',
  description:
    'Plans nodes that do not exist yet, by the rules that plan for those that do, with what the leader knows: interfaces, addresses and prefixes of each, ' +
    'subnets that run out and after which node, and how long the rate limits hold the calls back. It changes nothing, in the cluster or in the cloud. ' +
    'It needs get on leases, list on pods, and get and create on pods/portforward.\n\n' +
    'Its exit code is 0 if all nodes get what they ask for, 1 if not, and 2 if it could not find out.',
  flags: [
    flagOf('add', planKinds.add, { help: 'How many nodes to plan.' }),
    flagOf('type', planKinds.type, {
      help: 'Their instance type. The cloud is asked about one that no node has, with its credentials as for headwater run.',
      otherwise: 'that of most nodes in their zone',
    }),
    flagOf('zone', planKinds.zone, {
      help: 'The zones that they are spread over. May be repeated.',
      otherwise: 'all with nodes',
    }),
    flagOf('subnet', planKinds.subnet, {
      help: 'The subnet that their instances are in: they are planned like nodes that are in it, too.',
      otherwise: 'that of most nodes in their zone',
    }),
    flagOf('pods', planKinds.pods, {
      help: 'The pods of each node that need an address.',
      otherwise: 'as many as it can hold',
    }),
    flagOf('agent-addresses', planKinds['agent-addresses'], {
      help: 'The pod addresses that the agent of each node takes for itself: of its router, and of its health endpoint.',
      otherwise: '2',
    }),
    flagOf('pre-allocate', planKinds['pre-allocate'], {
      help: 'The addresses that each node keeps free.',
      otherwise: 'as most nodes in their zone; with pools of blocks, 8 of the pool named default',
    }),
    flagOf('pool', planKinds.pool, {
      help: 'With multi-pool: the pool that the addresses are of.',
      otherwise: 'the only one, else that named default',
    }),
    textFlag('snapshot', 'path', {
      help: 'A file of headwater snapshot to plan with. No cluster is asked then.',
    }),
    ...askingFlags,
    ...flagsUnder(
      'As for headwater run, where the cloud is asked:',
      cloudOptions.map((name) => optionFlag('run', name)),
    ),
  ],
};

export const snapshotDescription: Omit<CommandDescription, 'run'> = {
  name: 'snapshot',
  summary: 'save what the controller knows, for plans',
  description:
    'Finds the leader by its Lease, reads its status through the API server, and prints it with what headwater plan needs as one JSON document, or writes it to a file. ' +
    'It changes nothing. It needs get on leases, list on pods, and get and create on pods/portforward.\n\n' +
    'Its exit code is 0 if it has a snapshot, and 2 if not.',
  flags: [
    textFlag('file', 'path', {
      help: 'The file to write. It is replaced as a whole, or not at all.',
      notes: ['Default: standard output.'],
    }),
    ...askingFlags.filter(({ name }) => name !== 'output'),
  ],
};
