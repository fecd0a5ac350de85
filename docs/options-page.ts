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

An empty variable or file says nothing. An empty value on the command line unsets an option that has no default, and
empties a list or map. A flag that is repeated adds to a list or map; of others the last one counts.

What is not accepted ends the start with exit code 2 and one line for each problem, naming the option, the value, where
it came from, and what is accepted.
`;

export function optionsPage(): string {
  const groups = Object.entries(optionGroups).map(([group, title]) => {
    const names = optionNames.filter((name) => optionTable[name].group === group);
    return [`## ${title}\n`, ...names.map((name) => section(name, optionTable[name]))].join('\n');
  });
  return [introduction, ...groups, sectionWithoutEffect()].join('\n');
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

Given by flag or environment, each is noticed in the log at start; in \`--config-dir\` it passes in silence.

| Option | Why it does nothing |
| --- | --- |
${rows.join('\n')}
`;
}
