// The command completion: prints what makes a shell complete the commands and flags of this program, from their descriptions.
import type { CommandDescription } from './command-description.ts';
import { exitCode } from './exit-code.ts';

type Described = Omit<CommandDescription, 'run'>;

export const completionDescription: Described = {
  name: 'completion',
  summary: 'print the completion of a shell',
  description:
    'Prints a script that makes a shell complete the commands and options of headwater, and of kubectl-headwater.\n\n' +
    'bash: source <(headwater completion bash). zsh: source <(headwater completion zsh). fish: headwater completion fish | source.',
  flags: [],
  argument: { name: 'shell', help: 'bash, zsh or fish.' },
};

const programs = 'headwater kubectl-headwater';

const scripts: Readonly<Record<string, (commands: readonly Described[]) => string>> = {
  bash: (commands) => `_headwater() {
  local current=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${casesOf(commands, (words) => `COMPREPLY=($(compgen -W "${words}" -- "$current"))`)}
  esac
}
complete -o nospace -F _headwater ${programs}
`,
  zsh: (commands) => `#compdef ${programs}
_headwater() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, summary }) => `      ${quoted(`${name}:${summary}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  case $words[2] in
${casesOf(commands, (words) => `compadd -- ${words}`)}
  esac
}
if [ "$funcstack[1]" = _headwater ]; then _headwater "$@"; else compdef _headwater ${programs}; fi
`,
  fish: (commands) =>
    programs
      .split(' ')
      .flatMap((program) => commands.flatMap((command) => fishLines(program, command)))
      .map((line) => `${line}\n`)
      .join(''),
};

function casesOf(commands: readonly Described[], act: (words: string) => string): string {
  return commands
    .filter(({ flags }) => flags.length > 0)
    .map(({ name, flags }) => `    ${name}) ${act(flags.map((flag) => `--${flag.name}`).join(' '))} ;;`)
    .join('\n');
}

function fishLines(program: string, { name, summary, flags }: Described): readonly string[] {
  const begin = `complete --command ${program}`;
  return [
    `${begin} --condition __fish_use_subcommand --no-files --arguments ${name} --description ${quoted(summary)}`,
    ...flags.map(
      (flag) => `${begin} --condition '__fish_seen_subcommand_from ${name}' --long-option ${flag.name}`,
    ),
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '')}'`;
}

export function completion(shell: string, commands: readonly Described[]): number {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script !== undefined) process.stdout.write(script([...commands, completionDescription]));
  else process.stderr.write(`headwater completion: accepted: ${Object.keys(scripts).join(', ')}\n`);
  return script === undefined ? exitCode.usage : exitCode.fine;
}
