// Reads a command line and hands over to the command that it names. It knows commands by their descriptions alone, so
// that help and version come without loading any.
import { Command, CommanderError, Option } from 'commander';
import type { GivenFlags } from '../config/given-text.ts';
import type { CommandDescription, FlagDescription } from './command-description.ts';
import { nearest } from './did-you-mean.ts';
import { exitCode } from './exit-code.ts';
import { helpLayout, helpWidth } from './help-layout.ts';

export interface CommandLineOptions {
  readonly version: string;
  readonly commands: readonly CommandDescription[];
  readonly terminal: Terminal;
}

export interface Terminal {
  /** For what was asked for. */
  readonly out: (text: string) => void;
  /** For what went wrong. */
  readonly err: (text: string) => void;
  /** Undefined where nobody looks. */
  readonly columns: number | undefined;
}

/**
 * Runs the command that `args` (without the program's name) asks for and resolves to its exit code. A command line that
 * is not understood is told in one line each on `err`, and nothing is run.
 */
export async function runCommandLine(args: readonly string[], options: CommandLineOptions): Promise<number> {
  let code: number = exitCode.usage;
  const program = buildProgram(options, async (command, given, leftovers) => {
    const problems = findUnknown(command, leftovers);
    for (const problem of problems) options.terminal.err(`headwater ${command.name}: ${problem}\n`);
    if (problems.length === 0) code = await command.run(given);
  });

  try {
    await program.parseAsync(meantBy(args, options.commands), { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCode.fine : exitCode.usage;
  }
}

/** Help on what is no command is refused as that command is: the library would show the help of everything. */
function meantBy(args: readonly string[], commands: readonly CommandDescription[]): readonly string[] {
  const [first, topic] = args;
  const isKnown = topic === undefined || topic === 'help' || commands.some(({ name }) => name === topic);
  return first !== 'help' || isKnown || topic.startsWith('-') ? args : [topic];
}

type Handler = (
  command: CommandDescription,
  given: GivenFlags,
  leftovers: readonly string[],
) => Promise<void>;

function buildProgram({ version, commands, terminal }: CommandLineOptions, handle: Handler): Command {
  const program = new Command('headwater')
    .description(
      'Keeps every Kubernetes node supplied with pod addresses of the cloud network, under unmodified Cilium agents.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureHelp(helpLayout)
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      getOutHelpWidth: () => helpWidth(terminal.columns),
      getErrHelpWidth: () => helpWidth(terminal.columns),
      outputError: (text, write) => write(`headwater: ${onOneLine(text)}\n`),
    })
    .addHelpText(
      'after',
      `\nExit codes: ${exitCode.fine} fine, ${exitCode.failure} failure, ${exitCode.usage} usage.`,
    );
  for (const description of commands) addCommand(program, description, handle);
  return program;
}

function addCommand(program: Command, description: CommandDescription, handle: Handler): void {
  const given = new Map<string, readonly string[]>();
  const command = program
    .command(description.name)
    .summary(description.summary)
    .description(description.description)
    .helpOption('-h, --help', 'print this help')
    .allowUnknownOption()
    .allowExcessArguments();
  for (const flag of description.flags) command.addOption(optionFor(flag, given));
  command.action(() => handle(description, given, command.args));
}

/** An option that writes every text it is given into `given`. */
function optionFor(flag: FlagDescription, given: Map<string, readonly string[]>): Option {
  const { name, value, group, help, notes } = flag;
  const keep = (text: string): string => {
    given.set(name, [...(given.get(name) ?? []), text]);
    return text;
  };
  const description = [help, ...notes].join('\n');
  if (value === undefined)
    return new Option(`--${name}`, description).helpGroup(group).preset('true').argParser(keep);
  const { placeholder, bare } = value;
  const option = new Option(
    `--${name} ${bare === undefined ? `<${placeholder}>` : `[${placeholder}]`}`,
    description,
  );
  return (bare === undefined ? option : option.preset(bare)).helpGroup(group).argParser(keep);
}

/** What remains when every known flag was read: unknown flags, what may be their values, and stray words. */
function findUnknown({ flags }: CommandDescription, leftovers: readonly string[]): readonly string[] {
  const known = flags.map(({ name }) => `--${name}`);
  const unknown = leftovers
    .filter((leftover) => leftover.startsWith('-'))
    .map((leftover) => unknownInWords(leftover.split('=', 1)[0] ?? leftover, known));
  return unknown.length > 0
    ? unknown
    : leftovers.map((word) => `unexpected argument ${JSON.stringify(word)}`);
}

function unknownInWords(flag: string, known: readonly string[]): string {
  if (known.includes(flag)) return `option ${flag} takes no value`;
  const meant = nearest(flag, known);
  return `unknown option ${flag}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function onOneLine(text: string): string {
  return text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
}
