// Every command of the pages is run by a test, or the line above it says "not tested here".
import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { simulateDescription } from '../../../src/commands/simulate-description.ts';
import { statusDescription } from '../../../src/commands/status-description.ts';
import { optionNames } from '../../../src/config/option-table.ts';
import { blocksIn, blocksOf, commandsIn, pagesWithCommands } from '../../support/documented-commands.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
const continuousIntegration = read('.ci/run');
const options: readonly string[] = optionNames;
const simulateFlags: readonly string[] = simulateDescription.flags.map(({ name }) => name);
const statusFlags: readonly string[] = statusDescription.flags.map(({ name }) => name);

/** Scripts of npm that continuous integration or a test runs. */
function isRunScript(name: string): boolean {
  const isNamed = new RegExp(`npm (run (--silent )?)?${name}\\b`).test(continuousIntegration);
  return name in scripts && (isNamed || name === 'check' || name === 'release');
}

/** By program, whether something runs it with these arguments. */
const runners: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  npm: ([first = '', second = '']) => first === 'ci' || isRunScript(first === 'run' ? second : first),
  // test/chart/scenarios/documented.test.ts runs every helm command of the pages.
  helm: () => true,
  // The tests of the commands start them with every option.
  'bin/headwater': ([first, ...rest]) => {
    const flags = rest
      .filter((word) => word.startsWith('--'))
      .map((word) => word.slice(2).split('=')[0] ?? '');
    if (first === 'simulate') return flags.every((flag) => simulateFlags.includes(flag));
    if (first === 'status' || first === 'explain') return flags.every((flag) => statusFlags.includes(flag));
    // test/integration/commands/demo-blocks.test.ts
    if (first === 'demo') return flags.every((flag) => flag === 'ipam');
    return (first === 'run' || first === 'nodeipam') && flags.every((flag) => options.includes(flag));
  },
};

/** test/cni/documented.test.ts runs every block of these, whatever it holds, and the chart's tests those of helm. */
const runAsScripts = ['docs/without-cilium.md'];

function isRun([program = '', ...words]: readonly string[]): boolean {
  return runners[program]?.(words) ?? false;
}

const untested = (page: string): readonly string[] =>
  blocksOf(page)
    .filter(({ language, isUntested }) => language === 'sh' && !isUntested)
    .flatMap(({ text }) => commandsIn(text))
    .filter((words) => !isRun(words))
    .map((words) => words.join(' '));

describe('commands in the pages', () => {
  test.each(pagesWithCommands.filter((page) => !runAsScripts.includes(page)))(
    'are run by a test, or listed as not run: %s',
    (page) => {
      expect(untested(page)).toEqual([]);
    },
  );

  test('are searched in every page that has some', () => {
    const pages = ['README.md', ...globSync(['docs/**/*.md', 'bench/**/*.md'], { cwd: root })];

    expect(pages.filter((page) => !pagesWithCommands.includes(page) && /^```sh/m.test(read(page)))).toEqual(
      [],
    );
  });

  test.each(pagesWithCommands)('are in blocks with a language: %s', (page) => {
    const others = blocksOf(page).filter(
      ({ language }) => !['sh', 'json', 'yaml', 'ini', 'hcl', ''].includes(language),
    );
    const unmarked = blocksOf(page).filter(({ language, isUntested }) => language === 'hcl' && !isUntested);

    expect([...others, ...unmarked]).toEqual([]);
  });

  test.each(pagesWithCommands)('are next to valid JSON: %s', (page) => {
    for (const { text } of blocksOf(page).filter(({ language }) => language === 'json')) JSON.parse(text);
  });

  test('are separated from comments, joined over lines, and split at pipes', () => {
    const [tested, not] = blocksIn(
      "Do:\n\n```sh\na --b 'c d' \\\n  e # why\n# all\nf | g\n```\n\nNot tested here:\n\n```sh\nh && i\n```\n",
    );

    expect(commandsIn(tested?.text ?? '')).toEqual([['a', '--b', 'c d', 'e'], ['f'], ['g']]);
    expect([tested?.isUntested, not?.isUntested]).toEqual([false, true]);
    expect(isRun(['npm', 'run', 'nothing'])).toBe(false);
    expect(isRun(['kubectl', 'get', 'nodes'])).toBe(false);
    expect(isRun(['bin/headwater', 'run', '--no-option'])).toBe(false);
  });
});

describe('commands in the sentences and tables of the pages', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync(['docs/**/*.md', 'bench/*.md'], { cwd: root })];
  const figuresIn = (text: string): readonly string[] =>
    Array.from(text.matchAll(/--only ([\w-]+)/g), ([, figure = '']) => `bench/figures/${figure}.ts`);
  const files = (text: string): readonly string[] => [
    ...Array.from(text.matchAll(/`npm run bench [^`]*`/g), ([command]) => figuresIn(command)).flat(),
    ...Array.from(text.matchAll(/`node (?:-\S+ )*([\w/.-]+)/g), ([, path = '']) => path),
  ];

  test.each(pages)('are existing scripts, figures and files: %s', (page) => {
    const text = read(page);
    const named = Array.from(text.matchAll(/`npm run ([\w:-]+)/g), ([, name = '']) => name);

    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(files(text).filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  test('are found', () => {
    expect(files('`npm run bench -- --only idle-cpu --only none`, `node bench/run.ts --small`')).toEqual([
      'bench/figures/idle-cpu.ts',
      'bench/figures/none.ts',
      'bench/run.ts',
    ]);
  });
});

describe('options in the pages', () => {
  const operating = pagesWithCommands.filter(
    (page) => page.startsWith('docs/') && page !== 'docs/simulation.md',
  );

  test.each(operating)('exist: %s', (page) => {
    const text = read(page).replaceAll(/^```.*?^```$/gms, '');
    const named = [
      ...Array.from(text.matchAll(/`--([a-z][\w-]+)[=`]/g), ([, name = '']) => name),
      ...Array.from(text.matchAll(/`options\.([a-z][\w-]+)/g), ([, name = '']) => name),
    ];

    expect(named.filter((name) => !options.includes(name) && !flagsOfOthers.has(name))).toEqual([]);
  });

  /** Options of other programs: eksctl, the release of Node.js, our own test runs. */
  const flagsOfOthers = new Set(['role-only', 'max-old-space-size', 'controllers']);
});

describe('the page of symptoms', () => {
  /** Words of Kubernetes, and values of the chart. */
  const elsewhere = new Set(['Pending', 'ContainerCreating', 'OOMKilled']);

  test('quotes messages that exist', () => {
    const sources = globSync(
      ['src/**/*.ts', 'bin/*', 'charts/**/*.{tpl,yaml}', 'test/chart/scenarios/refusals.test.ts'],
      { cwd: root },
    );
    const said = sources.map(read).join('\n');
    const symptoms = read('docs/troubleshooting.md')
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split(' | ')[0] ?? '');
    const quoted = symptoms
      .flatMap((symptom) => Array.from(symptom.matchAll(/`([^`]+)`/g), ([, text = '']) => text))
      .flatMap((text) => text.split('…').map((part) => part.replace(/^[:;] /, '').trim()))
      .filter((part) => part.length > 3 && !elsewhere.has(part));

    expect(quoted.length).toBeGreaterThan(15);
    expect(quoted.filter((part) => !said.includes(part))).toEqual([]);
  });
});

describe('keys of /status in the pages', () => {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
  const reports = globSync('src/{controller/reporting/{*status,self},blocks/modes/*status}-report.ts', {
    cwd: root,
  });
  const texts = reports.map(read).join('\n');
  const fields = Array.from(texts.matchAll(/^ {2}readonly (\w+)\??:/gm), ([, name = '']) => name);

  test.each(pages)('exist: %s', (page) => {
    const named = Array.from(
      read(page).matchAll(/status \| jq \.(\w+)|`(\w+)` in `\/status`/g),
      ([, one, other = one]) => other,
    );

    expect(named.filter((name) => name === undefined || !fields.includes(name))).toEqual([]);
  });
});

describe('the length of a page', () => {
  test.each([
    ['docs/install-self-managed-aws.md', 60],
    ['docs/upgrade.md', 60],
    ['docs/migrate.md', 150],
    ['docs/answers.md', 100],
    ['docs/compatibility.md', 60],
    ['docs/sizing.md', 60],
    ['docs/troubleshooting.md', 60],
    ['docs/security.md', 60],
  ])('is limited: %s has at most %d lines', (page, max) => {
    expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(max);
  });
});
