// The page of options, made from their table.
import { optionGroups, type OptionRow } from '../src/config/option-row.ts';
import { environmentNameOf, optionNames, optionTable, type OptionName } from '../src/config/option-table.ts';
import { optionsWithoutEffect } from '../src/config/options/options-without-effect.ts';

const introduction = `# Options

Of \`headwater run\`. An option comes from the first place that says something:

1. the command line: \`--name=value\` or \`--name value\`,
2. its environment variable,
3. the file of its name in the directory that \`--config-dir\` names, as a mounted ConfigMap has them,
4. its default.

Options whose variable begins with \`CILIUM_\` are those of cilium-operator, under its names and with its meaning, so that
its command line and the ConfigMap \`cilium-config\` can be kept. Files of \`--config-dir\` that are no options of Headwater
are ignored.

An empty variable or file counts as unset. An empty value on the command line unsets an option that has no default, and
empties a list or map. A flag that is repeated adds to a list or map; of others the last one counts.

A value that is not accepted ends the start with exit code 2 and one line for each problem, naming the option, the value, where
it came from, and what is accepted.
`;

const ofTheProgram = `## Variables of the program itself

\`bin/headwater\` reads these before it starts; they are no options of \`run\`.

- \`HEADWATER_NODE\`: path of the Node.js (24.11 or newer) to run on, instead of the one that comes with the installation. The
  controller that \`demo\` starts runs on it as well.
- \`HEADWATER_V8_FLAGS\`: flags of V8 for \`run\`, in place of those that keep its memory small.
`;

export function optionsPage(): string {
  const groups = Object.entries(optionGroups).map(([group, title]) => {
    const names = optionNames.filter((name) => optionTable[name].group === group);
    return [`## ${title}\n`, ...names.map((name) => section(name, optionTable[name]))].join('\n');
  });
  return [introduction, ...groups, ofTheProgram, sectionWithoutEffect()].join('\n');
}

function section(name: OptionName, { kind, help, fromConfigDir, default: fallback }: OptionRow): string {
  const words = typeof fallback === 'object' ? fallback.words : `\`${fallback ?? ''}\``;
  const byDefault = fallback === undefined ? 'unset' : fallback === '' ? 'empty' : words;
  return `### \`--${name}\`

${help}

- Accepted: ${kind.accepts}.
- Default: ${byDefault}.
- Environment: \`${environmentNameOf(name)}\`.
${fromConfigDir ? '' : '- Never read from `--config-dir`.\n'}`;
}

function sectionWithoutEffect(): string {
  const rows = Object.entries(optionsWithoutEffect).map(([name, reason]) => `| \`--${name}\` | ${reason} |`);
  return `## Accepted from cilium-operator, without effect

Given by flag or environment, each is noticed in the log at start; in \`--config-dir\` it is ignored silently.

| Option | Why it does nothing |
| --- | --- |
${rows.join('\n')}
`;
}
