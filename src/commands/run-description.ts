// Describes the commands run, check, nodeipam and agent: their flags are the option table.
import { optionGroups, type OptionRow } from '../config/option-row.ts';
import { type ConfiguredCommand, defaultsIn, kindIn, optionsOfCommand } from '../config/option-scope.ts';
import { environmentNameOf, optionTable, type OptionName } from '../config/option-table.ts';
import { agentModeRow } from '../config/options/agent-options.ts';
import { withoutEffectIn } from '../config/options/options-without-effect.ts';
import {
  type CommandDescription,
  type FlagDescription,
  flagOf,
  outputKind,
  switchFlag,
} from './command-description.ts';

const familyHelp = {
  'enable-ipv4': 'Gives out IPv4 addresses. If unset, it is on if this node has an IPv4 block.',
  'enable-ipv6': 'Gives out IPv6 addresses. If unset, it is on if this node has an IPv6 block.',
} as const;

const precedence =
  '\n\nAn option comes from the command line, else from its environment variable, else from a file of its name in ' +
  '--config-dir, else from its default. A value that is not accepted ends the start with exit code 2.';

export const runDescription: Omit<CommandDescription, 'run'> = {
  name: 'run',
  summary: 'supply the nodes of a cluster',
  description:
    'Watches the CiliumNodes of a cluster and keeps each supplied with addresses, until it is stopped.' +
    precedence,
  flags: optionFlags('run'),
};

export const checkDescription: Omit<CommandDescription, 'run'> = {
  name: 'check',
  summary: 'look for what would keep the controller from working',
  description:
    'Takes the options of headwater run, and looks at everything that a controller with them needs: the options themselves, the API server with its definitions and permissions, ' +
    'Nodes and CiliumNodes, other programs that write them, and the cloud with its permissions and subnets. It changes nothing. Each row says what was found, and what to do about it. ' +
    'Permissions are those of who runs it: run it as the service account and the role of the controller.\n\n' +
    'Its exit code is 0 if nothing is wrong, 1 if there is a problem, and 2 if there is none, but something could not be found out.',
  flags: [
    flagOf('output', outputKind, { help: 'How to print it.', otherwise: 'text' }),
    switchFlag(
      'skip-access-review',
      'Does not ask which permissions in Kubernetes are granted: for an account other than that of the controller, such as of the Job of the chart, which may read what the command reads and no more.',
    ),
    ...runDescription.flags,
  ],
};

export const nodeIpamDescription: Omit<CommandDescription, 'run'> = {
  name: 'nodeipam',
  summary: 'give each Node a CIDR for its pods',
  description:
    'Gives each Node a block of --cluster-cidr, as the node-ipam-controller of kube-controller-manager does, until it is ' +
    'stopped; with --cidr-allocator-type=CloudAllocator, what a cloud routes to the instance of each Node. Only one of the two ' +
    'may run: start kube-controller-manager with --controllers=*,-node-ipam-controller.' +
    precedence,
  flags: optionFlags('nodeipam'),
};

export const agentDescription: Omit<CommandDescription, 'run'> = {
  name: 'agent',
  summary: 'give the addresses of one node to its pods',
  description:
    'Gives addresses of the blocks of this node to its pods, over a Unix socket: to the CNI plugin headwater-ipam, and to ' +
    'other clients by REST, until it is stopped.' +
    precedence,
  flags: optionFlags('agent'),
};

/** Where a name has a meaning of its own in a command. */
function rowIn(command: ConfiguredCommand, name: OptionName): OptionRow {
  if (command === 'run') return optionTable[name];
  const row: OptionRow = { ...optionTable[name], ...defaultsIn[command][name] };
  if (command !== 'agent') return row;
  const own = { ...row, kind: kindIn('agent', name), group: 'agent' } as const;
  if (name === 'ipam') return { ...own, help: agentModeRow.help };
  return name in familyHelp ? { ...own, help: familyHelp[name as keyof typeof familyHelp] } : own;
}

function optionFlags(command: ConfiguredCommand): readonly FlagDescription[] {
  const names = optionsOfCommand(command);
  const byGroup = Object.keys(optionGroups).flatMap((group) =>
    names.filter((name) => rowIn(command, name).group === group),
  );
  return [...byGroup.map((name) => optionFlag(command, name)), ...flagsWithoutEffect(command)];
}

export function optionFlag(command: ConfiguredCommand, name: OptionName): FlagDescription {
  const row = rowIn(command, name);
  const { kind, group, help } = row;
  const value = { placeholder: kind.placeholder, ...(kind.bare !== undefined && { bare: kind.bare }) };
  return { name, value, group: `${optionGroups[group]}:`, help, notes: notesOn(name, row) };
}

function notesOn(
  name: OptionName,
  { kind, fromConfigDir, default: fallback, legacyVariable }: OptionRow,
): readonly string[] {
  const words = typeof fallback === 'object' ? fallback.words : fallback;
  const byDefault = words === undefined ? 'unset' : words === '' ? 'empty' : words;
  const orLegacy = legacyVariable === undefined ? '' : `, else ${legacyVariable}`;
  const notFromDirectory = fromConfigDir ? '' : '; never from --config-dir';
  return [
    `Accepted: ${kind.accepts}`,
    `Default: ${byDefault}. Environment: ${environmentNameOf(name)}${orLegacy}${notFromDirectory}`,
  ];
}

function flagsWithoutEffect(command: ConfiguredCommand): readonly FlagDescription[] {
  const ignored = withoutEffectIn(command);
  if (ignored === undefined) return [];
  return Object.entries(ignored.reasons).map(([name, reason]) => ({
    name,
    value: { placeholder: 'value', bare: 'true' },
    group: `Accepted from ${ignored.program}, without effect:`,
    help: `Does nothing: ${reason}.`,
    notes: [],
  }));
}
