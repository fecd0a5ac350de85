// Files that the pages for engineers name exist in the repository.
import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { metricTable } from '../../../src/observability/metrics.ts';
import { priorities } from '../../../src/providers/contract/priority.ts';

const root = new URL('../../../', import.meta.url);
const pages = [
  'CONTRIBUTING.md',
  'bench/notes.md',
  'docs/architecture.md',
  'docs/ciliumnode-contract.md',
  'docs/differences.md',
  'docs/glossary.md',
  'docs/simulation.md',
  ...globSync('docs/decisions/*.md', { cwd: root }),
];
const read = (page: string): string => readFileSync(new URL(page, root), 'utf8');

/** Directories at the top; a path that starts with one of them is relative to the top. */
const tops = 'bench|bin|charts|docs|image|localstack|monitoring|rig|src|test|\\.ci';
const quotedPath = new RegExp(`\`((?:${tops})/[^\`\\s]*)\``, 'g');

/** Files and directories that a page links, or names from the top of the repository. No globs, and no examples in capitals. */
function namedIn(page: string, markdown: string): readonly URL[] {
  const links = Array.from(markdown.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g), ([, link = '']) => link);
  const quoted = Array.from(markdown.matchAll(quotedPath), ([, path = '']) => path);
  return [
    ...links.filter((link) => !/^https?:/.test(link)).map((link) => new URL(link, new URL(page, root))),
    ...quoted.filter((path) => !/[*<]|NAME/.test(path)).map((path) => new URL(path, root)),
  ];
}

function missingIn(page: string, markdown: string): readonly string[] {
  return namedIn(page, markdown)
    .filter((file) => !existsSync(file))
    .map(({ pathname }) => pathname.slice(root.pathname.length));
}

describe('the files that a page names', () => {
  test.each(pages)('exist: %s', (page) => {
    expect(missingIn(page, read(page))).toEqual([]);
  });

  test('are reported as missing when a link or a quoted path leads nowhere', () => {
    const markdown = '[a](../src/main.ts) [b](nowhere.ts#c) `src/nowhere.ts` `src/node/` `src/<cloud>/`';

    expect(missingIn('docs/page.md', markdown)).toEqual(['docs/nowhere.ts', 'src/nowhere.ts']);
  });
});

describe('the metrics that pages name', () => {
  const metrics = read('docs/metrics.md');

  test('exist', () => {
    const named = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].flatMap((page) =>
      Array.from(read(page).matchAll(/\bheadwater_[a-z_]+[a-z]\b/g), ([name]) => ({ page, name })),
    );

    expect(named.length).toBeGreaterThan(100);
    // A histogram has several series.
    const isKnown = (name: string): boolean =>
      metrics.includes(`| \`${name.replace(/_(bucket|sum|count)$/, '')}\` |`);
    expect(named.filter(({ name }) => !isKnown(name))).toEqual([]);
  });
});

describe('the page of architecture', () => {
  test('names a file for each question', () => {
    const rows = read('docs/architecture.md')
      .split('\n')
      .filter((line) => /^\| [A-Z].*\? \|/.test(line));

    expect(rows.length).toBeGreaterThanOrEqual(10);
    expect(rows.length).toBeLessThanOrEqual(15);
    expect(rows.filter((row) => row.split('](../src/').length !== 2)).toEqual([]);
  });

  test('says what each room decides', () => {
    const rooms = globSync('src/{*,node/*,providers/*}/', { cwd: root }).map(
      (room) => `\`${room.replace(/\/?$/, '/')}\``,
    );
    const table = read('docs/architecture.md')
      .split('\n')
      .filter((line) => line.startsWith('| `src/'))
      .join('\n');
    // The table lists the folders of these two instead.
    const inParts = ['`src/node/`', '`src/providers/`'];

    expect(rooms.length).toBeGreaterThan(20);
    expect(rooms.filter((room) => !inParts.includes(room) && !table.includes(room))).toEqual([]);
  });
});

describe('the page of differences', () => {
  const points = read('docs/differences.md')
    .split(/^(?=### )/m)
    .slice(1)
    .map((text) => ({ name: text.slice(4, text.indexOf('\n')), text }));

  test('links each point to the tests that verify it', () => {
    const untested = points.filter(({ text }) => !/\]\(\.\.\/test\/[^)]+\.test\.ts\)/.test(text));

    expect(points.length).toBeGreaterThan(30);
    expect(untested.map(({ name }) => name)).toEqual([]);
  });
});

describe('the page of the CiliumNode contract', () => {
  const headings = Array.from(
    read('docs/ciliumnode-contract.md').matchAll(/^##+ ([\d.]+?)\.? /gm),
    (found) => found[1],
  );
  const files = globSync('{src,test}/**/*.ts', { cwd: root });
  const citedIn = (text: string): readonly (string | undefined)[] =>
    Array.from(text.matchAll(/docs\/ciliumnode-contract\.md ([\d.]*\d)/g), ([, section]) => section);
  /** Citations from which a reader cannot tell which page is meant. */
  const incompleteIn = (text: string): readonly string[] =>
    Array.from(
      text.matchAll(/\b(?:[Cc]ontract|(?<!docs\/)ciliumnode-contract\.md) \d[\d.]*/g),
      ([found]) => found,
    );

  test('has each section that a comment cites', () => {
    const cited = files.flatMap((file) => citedIn(read(file)).map((section) => ({ file, section })));

    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ section }) => !headings.includes(section))).toEqual([]);
  });

  test('is named by its path in each comment that cites it', () => {
    const incomplete = files.flatMap((file) => incompleteIn(read(file)).map((found) => `${file}: ${found}`));

    expect(incomplete).toEqual([]);
  });

  test.each([
    ['// Contract', '8.8.', 1],
    ['as in the contract', '3', 1],
    ['(ciliumnode-contract.md', '1.6)', 1],
    ['(docs/ciliumnode-contract.md', '1.6, B 3)', 0],
    ['a contract of', '3 parts', 0],
  ])('is cited without its path or not: %s %s', (page, section, count) => {
    expect(incompleteIn(`${page} ${section}`)).toHaveLength(count);
  });
});

describe('the glossary', () => {
  test('has the states of nodes, the priorities and the reasons of a pause that metrics show', () => {
    const text = read('docs/glossary.md').toLowerCase();
    const states: readonly string[] = metricTable.headwater_nodes.labels['state'] as readonly string[];
    const words = [
      ...states.filter((state) => state !== 'total'),
      ...priorities,
      'dry run',
      'conflicting writer',
      'held withdrawals',
    ];

    expect(words.map((word) => word.replaceAll('_', ' ')).filter((word) => !text.includes(word))).toEqual([]);
  });
});
