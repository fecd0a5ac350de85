// Parses the command line and dispatches to the named command. It knows only the descriptions of commands, so that help
// and version load none.
import { Command, CommanderError, Help, type HelpConfiguration, Option } from 'commander';
import type { RawFlags } from '../config/raw-option.ts';
import { plainValue } from '../network/untrusted-text.ts';
import { systemClock } from '../runtime/system-clock.ts';
import type { CommandDescription, FlagDescription } from './command-description.ts';
import { nearest } from '../runtime/did-you-mean.ts';
import { exitCode } from './exit-code.ts';
import { problemLine, type Readers } from './problem-line.ts';

export interface CommandLineOptions {
  readonly version: string;
  readonly commands: readonly CommandDescription[];
  readonly terminal: Terminal;
}

export interface Terminal {
  /** For requested output. */
  readonly out: (text: string) => void;
  /** For errors. */
  readonly err: (text: string) => void;
  /** Undefined without a terminal. */
  readonly columns: number | undefined;
  /** The audience of errors. Default: people. */
  readonly readers?: Readers;
}

/**
 * Runs the command in `args` (without the program's name) and resolves to its exit code. An invalid command line runs
 * nothing and prints one line per problem on `err`.
 */
export async function runCommandLine(args: readonly string[], options: CommandLineOptions): Promise<number> {
  let code: number = exitCode.usage;
  const program = buildProgram(options, async (command, given, extraArguments) => {
    const problems = findUnknown(command, unexpectedIn(command, extraArguments));
    for (const problem of problems) reportProblem(options.terminal, command.name, problem);
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

/** Rejects help on an unknown command like that command: the library would print the full help. */
function meantBy(args: readonly string[], commands: readonly CommandDescription[]): readonly string[] {
  const [first, topic] = args;
  const isKnown = topic === undefined || topic === 'help' || commands.some(({ name }) => name === topic);
  return first !== 'help' || isKnown || topic.startsWith('-') ? args : [topic];
}

/** Words that remain after the argument of the command, or after those that it takes. */
function unexpectedIn(
  { argument, words: taken }: CommandDescription,
  words: readonly string[],
): readonly string[] {
  if (taken !== undefined) return words.filter((word) => word.startsWith('-'));
  const isGiven = argument !== undefined && words[0]?.startsWith('-') === false;
  return isGiven ? words.slice(1) : words;
}

type Handler = (
  command: CommandDescription,
  given: RawFlags,
  extraArguments: readonly string[],
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
      `\nExit codes: ${exitCode.fine} fine, ${exitCode.failure} failure, ${exitCode.usage} usage, ${exitCode.tooSlow} machine too slow for a demo, ${exitCode.interrupted} interrupted.`,
    );
  for (const description of commands) addCommand(program, description, { handle, terminal });
  return program;
}

function reportProblem(
  { err, readers = 'people' }: Terminal,
  command: string | undefined,
  text: string,
): void {
  err(problemLine(command, text, readers, systemClock));
}

function addCommand(
  program: Command,
  description: CommandDescription,
  { handle, terminal }: { readonly handle: Handler; readonly terminal: Terminal },
): void {
  const given = new Map<string, readonly string[]>();
  const command = program
    .command(description.name)
    .summary(description.summary)
    .description(description.description)
    .helpOption('-h, --help', 'print this help')
    .allowUnknownOption()
    .allowExcessArguments()
    .configureOutput({
      outputError: (text) =>
        // Commander names no command, but for programs this line must look like every other line of `run`.
        reportProblem(
          terminal,
          terminal.readers === 'programs' ? description.name : undefined,
          onOneLine(text),
        ),
    });
  for (const flag of description.flags) command.addOption(optionFor(flag, given));
  const { argument, words } = description;
  if (argument !== undefined) command.argument(`<${argument.name}>`, argument.help);
  if (words !== undefined) command.argument(`[${words.of}...]`, words.help);
  command.action(() => {
    if (argument !== undefined) given.set(argument.name, command.args.slice(0, 1));
    const further = words === undefined ? [] : command.args.filter((word) => !word.startsWith('-'));
    if (words !== undefined && further.length > 0)
      given.set(words.of, [...(given.get(words.of) ?? []), ...further]);
    return handle(description, given, command.args);
  });
}

/** An option that appends each of its values to `given`. */
function optionFor(flag: FlagDescription, given: Map<string, readonly string[]>): Option {
  const { name, value, group = 'Options:', help, notes } = flag;
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

/** The rest once all known flags are read: unknown flags, possible values of theirs, and stray words. */
function findUnknown({ flags }: CommandDescription, extraArguments: readonly string[]): readonly string[] {
  const known = flags.map(({ name }) => `--${name}`);
  const unknown = extraArguments
    .filter((argument) => argument.startsWith('-'))
    .map((argument) => unknownInWords(/^(--[\w-]*|-\w?)/.exec(argument)?.[0] ?? '-', known));
  return unknown.length > 0
    ? unknown
    : extraArguments.map((word) => {
        const shown = plainValue(word);
        return shown === undefined ? 'unexpected argument' : `unexpected argument ${JSON.stringify(shown)}`;
      });
}

function unknownInWords(flag: string, known: readonly string[]): string {
  if (known.includes(flag)) return `option ${flag} takes no value`;
  const meant = nearest(flag, known);
  return `unknown option ${flag}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function quoted(text: string | undefined): string {
  return text === undefined ? '' : `'${text}'`;
}

/** Commander quotes what it was given: a flag of ours, or anything. */
function onOneLine(text: string): string {
  return text
    .replace(/'(.*)'/s, (_, given: string) =>
      quoted(/^--[\w-]*(?: [<[].*)?/.exec(given)?.[0] ?? plainValue(given)),
    )
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
}

const narrowest = 60;
const widest = 110;
const indent = ' '.repeat(8);

/** Wide enough for paragraphs and narrow enough to read. 80 without a terminal. */
function helpWidth(columns: number | undefined): number {
  return Math.min(widest, Math.max(narrowest, columns ?? 80));
}

/** Short terms stand beside their description, long ones above it, so that paragraphs stay readable on 80 columns. */
const helpLayout: HelpConfiguration = {
  optionDescription: (option) => option.description,
  formatItem: (term, termWidth, description, helper) => {
    const besides = termWidth <= 24;
    if (besides) return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    const lines = helper.boxWrap(description, (helper.helpWidth ?? widest) - indent.length);
    return `  ${term}\n${lines.replaceAll(/^/gm, indent)}`;
  },
  formatItemList: (heading, items) => {
    if (items.length === 0) return [];
    const apart = items.some((item) => item.includes('\n')) ? '\n\n' : '\n';
    return [heading, items.join(apart), ''];
  },
};
