// The page of options, made from their table.
import { optionGroups, type OptionRow } from '../src/config/option-row.ts';
import { environmentNameOf, optionNames, optionTable, type OptionName } from '../src/config/option-table.ts';
import { optionsWithoutEffect } from '../src/config/options/options-without-effect.ts';

const introduction = `# Options

These are the options of \`headwater run\`, of \`headwater nodeipam\`, which takes those of its own group, those about
Kubernetes, leader election and the process, and for CloudAllocator those about AWS and cloud calls, and of \`headwater agent\`, which takes those of its own group, \`ipam\` with values
of its own (\`headwater agent --help\`), and a few others. An option takes its value from the first of these
sources that sets it:

1. the command line: \`--name=value\` or \`--name value\`,
2. its environment variable,
3. the file with its name in the directory \`--config-dir\`, such as a mounted ConfigMap,
4. its default.

Options whose variable begins with \`CILIUM_\` have the names and meanings of cilium-operator, so you can keep its command line
and its ConfigMap \`cilium-config\`. Headwater ignores files in \`--config-dir\` that are not its options.

An empty variable or file counts as unset. An empty value on the command line unsets an option that has no default, and
empties a list or map. A repeated flag adds to a list or map; for other options, the last value counts.

If a value is invalid, Headwater exits at startup with code 2. It prints one line for each problem, with the option, the value,
its source, and the accepted values.
`;

const ofTheProgram = `## Environment variables of bin/headwater

\`bin/headwater\` reads these environment variables before it starts. They are not options of \`run\`.

- \`HEADWATER_NODE\`: path of the Node.js (24.11 or newer) to run on, instead of the one that comes with the installation. The
  controller that \`demo\` starts runs on it as well.
- \`HEADWATER_V8_FLAGS\`: V8 flags for \`run\`, instead of those that keep its memory small.
`;

export function optionsPage(): string {
  const groups = Object.entries(optionGroups).map(([group, title]) => {
    const names = optionNames.filter((name) => optionTable[name].group === group);
    return [`## ${title}\n`, ...names.map((name) => section(name, optionTable[name]))].join('\n');
  });
  return [introduction, ...groups, ofTheProgram, sectionWithoutEffect()].join('\n');
}

function section(
  name: OptionName,
  { kind, help, fromConfigDir, default: fallback, legacyVariable }: OptionRow,
): string {
  const words = typeof fallback === 'object' ? fallback.words : `\`${fallback ?? ''}\``;
  const byDefault = fallback === undefined ? 'unset' : fallback === '' ? 'empty' : words;
  return `### \`--${name}\`

${help}

- Accepted: ${kind.accepts}.
- Default: ${byDefault}.
- Environment: \`${environmentNameOf(name)}\`${legacyVariable === undefined ? '' : `, else \`${legacyVariable}\``}.
${fromConfigDir ? '' : '- Never read from `--config-dir`.\n'}`;
}

function sectionWithoutEffect(): string {
  return Object.entries(optionsWithoutEffect)
    .map(([command, { program, variables, reasons }]) => {
      const sources = variables ? 'flag or environment' : 'flag';
      const rows = Object.entries(reasons).map(([name, reason]) => `| \`--${name}\` | ${reason} |`);
      return `## Options of ${program} without effect

\`headwater ${command}\` accepts them. If one is set by ${sources}, it logs a notice at startup. One notice
names those in \`--config-dir\`, with their reasons.

| Option | Why it does nothing |
| --- | --- |
${rows.join('\n')}
`;
    })
    .join('\n');
}
