// Words that the glossary gave up stay out of everything that users see.
import { beforeAll, describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { headwaterMetrics } from '../../../src/observability/headwater-metrics.ts';
import { nodeIpamMetrics } from '../../../src/observability/node-ipam-metrics.ts';
import { operatorMetrics } from '../../../src/observability/operator-metrics.ts';
import { optionGroups } from '../../../src/config/option-row.ts';
import { optionNames, optionTable } from '../../../src/config/option-table.ts';
import { textsOfSource } from '../../support/source-texts.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const filesOf = (pattern: string): readonly string[] => globSync(pattern, { cwd: root }).toSorted();

const heading = '## Rejected words';
const glossary = read('docs/glossary.md');

/** The left column of the glossary's last table. */
function givenUp(page: string): readonly string[] {
  return page
    .slice(page.indexOf(heading))
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .flatMap((line) => (line.split('|')[1] ?? '').split(',').map((word) => word.trim()));
}

const words = givenUp(glossary);

/** A word as a pattern. Up to three words may separate a verb from its particle: "give idle addresses back". */
function patternOf(word: string): string {
  const [, verb, particle] = /^(\w+) (back|aside)$/.exec(word) ?? [];
  if (verb !== undefined) return String.raw`${verb}(?:\s+[\w-]+){0,3}?\s+${particle}`;
  return word.replaceAll(' ', String.raw`\s+`);
}

const pattern = new RegExp(`\\b(${words.map(patternOf).join('|')})\\b`, 'gi');

/** The words of a text: splits names, and skips paths and links. */
function wordsIn(text: string): string {
  return text
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/[\w./-]*\/[\w./-]+|[\w-]+\.(?:test\.)?(?:ts|md|mjs)\b/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ');
}

const foundIn = (text: string): readonly string[] => wordsIn(text).match(pattern) ?? [];

/** Each given-up word with the words around it. */
function offending(where: string, texts: readonly string[]): readonly string[] {
  return texts.map(wordsIn).flatMap((text) =>
    Array.from(text.matchAll(pattern), ({ index, 0: word }) => {
      const around = text.slice(Math.max(0, index - 50), index + word.length + 50);
      return `${where}: "${word}" in "${around.replaceAll(/\s+/g, ' ')}"`;
    }),
  );
}

describe('a word that was given up', () => {
  test.each([
    ['nodes are short', 'three nodes are short'],
    ['begun', 'what was begun'],
    ['set aside', 'it is set\naside'],
    ['foreign', 'reason="foreignWriter"'],
    ['foreign', 'headwater_foreign_writes_total'],
    ['told', 'Told'],
    ['gives idle addresses back', 'a drained node gives idle addresses back'],
    ['take a dropped cidr back', 'it may take a dropped CIDR\nback in memory'],
    ['takes it back', 'an agent takes it back'],
    ['sets the node aside', 'a refusal sets the node aside'],
  ])('is found: %s in %j', (word, text) => {
    expect(foundIn(text).map((found) => found.toLowerCase().replaceAll(/\s+/g, ' '))).toContain(word);
  });

  test.each(['[a page](set-aside.md#told)', 'src/node/allocate/set-aside.ts', 'a threshold'])(
    'is not found in a path or in another word: %s',
    (text) => {
      expect(foundIn(text)).toEqual([]);
    },
  );

  test.each(['it takes an address. Back there', 'takes the one that a pod gets back'])(
    'is not found if its verb and its particle do not belong together: %s',
    (text) => {
      expect(foundIn(text)).toEqual([]);
    },
  );
});

describe('the glossary', () => {
  test('lists the words that were given up', () => {
    expect(words.length).toBeGreaterThan(40);
    expect(words).toContain('whoever');
  });
});

describe('no word that was given up', () => {
  test('is in the help of an option', () => {
    const texts = optionNames.flatMap((name) => {
      const { help, kind } = optionTable[name];
      return [name, help, kind.accepts, kind.placeholder];
    });

    expect(offending('options', [...texts, ...Object.values(optionGroups)])).toEqual([]);
  });

  test('is in the name, the help or a label of a metric', () => {
    const texts = Object.entries({ ...headwaterMetrics, ...nodeIpamMetrics, ...operatorMetrics }).flatMap(
      ([name, { help, labels }]) => [
        name,
        help,
        ...Object.entries<string | readonly string[]>(labels).flatMap(([label, values]) =>
          [label, values].flat(),
        ),
      ],
    );

    expect(offending('metrics', texts)).toEqual([]);
  });

  describe('in the program', () => {
    const texts = new Map<string, ReturnType<typeof textsOfSource>>();

    beforeAll(() => {
      for (const path of filesOf('src/**/*.ts')) {
        if (!path.startsWith('src/simulator/')) texts.set(path, textsOfSource(read(path)));
      }
    });

    const offendingBy = (kind: keyof ReturnType<typeof textsOfSource>): readonly string[] =>
      [...texts].flatMap(([path, found]) => offending(path, found[kind]));

    test('is among the texts of conditions, Events, log messages and commands', () => {
      expect([...texts.values()].flatMap(({ sentences }) => sentences).length).toBeGreaterThan(500);
      expect(offendingBy('sentences')).toEqual([]);
    });

    test('is among the fields of log messages', () => {
      expect([...texts.values()].flatMap(({ logFields }) => logFields)).toContain('node');
      expect(offendingBy('logFields')).toEqual([]);
    });

    test('is among the keys of /status', () => {
      const reports = ['status-report', 'node-status-report', 'subnet-figures', 'missing-permissions'];
      const keys = reports.flatMap(
        (name) => texts.get(`src/controller/reporting/${name}.ts`)?.properties ?? [],
      );

      expect(keys).toContain('inDeficit');
      expect(offending('/status', keys)).toEqual([]);
    });
  });

  test.each([
    'README.md',
    'CONTRIBUTING.md',
    'bench/notes.md',
    ...filesOf('docs/**/*.md'),
    ...filesOf('charts/headwater/{Chart,values,values-*}.yaml'),
    ...filesOf('charts/headwater/{*role.yaml,values.schema.json,templates/NOTES.txt}'),
    ...filesOf('charts/headwater/{rules,dashboards,alertmanager}/*'),
  ])('is in %s', (path) => {
    const text = read(path);
    const checked = path === 'docs/glossary.md' ? text.slice(0, text.indexOf(heading)) : text;

    expect(offending(path, [checked])).toEqual([]);
  });
});
