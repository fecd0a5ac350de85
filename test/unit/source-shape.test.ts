// Keeps the shape of the sources: parts get named ports instead of functions, and files hold one thought.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { interfacesIn, membersOf } from '../support/source-interfaces.ts';

const root = new URL('../../', import.meta.url);
const sources = globSync('src/**/*.ts', { cwd: root })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(new URL(file, root), 'utf8') }));

/** The product without the simulator and the demonstration. */
const product = sources.filter(({ file }) => !/^src\/(?:simulator|commands\/demo)\//.test(file));
const interfacesOf = (of: typeof sources) =>
  of.flatMap(({ file, text }) => interfacesIn(text).map((each) => ({ ...each, file })));

describe('the interfaces of the product', () => {
  test('have at most 185 members that are functions: a part gets a named port, and tells by one union of events', () => {
    const functions = interfacesOf(product).flatMap(({ members }) =>
      members.filter((each) => each.isFunction),
    );

    expect(functions.length).toBeLessThanOrEqual(185);
  });

  test('are at most 128 bags: what a part needs is its ports and its settings', () => {
    const bags = interfacesOf(product).filter(({ name }) =>
      /\w(?:Deps|Options|Parts|Facts|Context)$/.test(name),
    );

    expect(bags.length).toBeLessThanOrEqual(128);
  });

  test('have at most eight members in each bag: facts are grouped by what they are about', () => {
    const all = interfacesOf(product);
    const bags = all.filter(({ name }) => /\w(?:Deps|Options|Parts|Facts|Context)$/.test(name));

    expect(bags.filter((each) => membersOf(each, all).size > 8).map(({ name }) => name)).toEqual([]);
  });

  test('give no part more than eight dependencies', () => {
    const all = interfacesOf(sources);
    const deps = all.filter(({ name }) => name.endsWith('Deps'));

    const large = deps.filter((each) => membersOf(each, all).size > 8).map((each) => each.name);

    expect(deps.length).toBeGreaterThan(20);
    expect(large).toEqual([]);
  });

  test('are read with what they inherit', () => {
    const all = interfacesIn(
      [
        'interface Port {',
        '  a: number;',
        '  b(): void;',
        '  readonly c: () => void;',
        '  d?: (() => void) | undefined;',
        '}',
        "export interface PartDeps extends Omit<Port, 'a'>, Pick<Elsewhere, 'x' | 'y'> {",
        '  readonly e: Map<string, () => void>;',
        '}',
      ].join('\n'),
    );

    expect(all.map((each) => [...membersOf(each, all)])).toEqual([
      ['a', 'b', 'c', 'd'],
      ['e', 'b', 'c', 'd', 'x', 'y'],
    ]);
    expect(all.flatMap(({ members }) => members.filter((each) => each.isFunction))).toHaveLength(2);
  });
});

describe('a source file', () => {
  test('has at most 400 lines', () => {
    const tooLong = sources.filter(({ text }) => text.split('\n').length > 401).map(({ file }) => file);

    expect(tooLong).toEqual([]);
  });

  test('of under 40 lines has two importers, but for 24: a thought that only one file has belongs into it', () => {
    const imported = /from '(?<path>\.[^']+)'|import\('(?<lazy>\.[^']+)'\)/g;
    const importers = product.flatMap(({ file, text }) =>
      Array.from(text.matchAll(imported), ({ groups = {} }) =>
        normalize(join(dirname(file), groups['path'] ?? groups['lazy'] ?? '')),
      ).filter((target, index, all) => all.indexOf(target) === index),
    );
    const isAlone = (file: string): boolean => importers.filter((each) => each === file).length === 1;

    const small = product
      .filter(({ text }) => text.split('\n').length <= 40)
      .filter(({ file }) => isAlone(file));

    expect(importers.length).toBeGreaterThan(1000);
    expect(small.length).toBeLessThanOrEqual(24);
  });
});

describe('a comment', () => {
  /** The first line of each comment. A line below another `//` line only continues that comment. */
  function firstLines(text: string): readonly string[] {
    const begins =
      /\/\*\*?[\s*]*(?<block>\w.*)|^(?<!^[ \t]*\/\/.*\n)[ \t]*\/\/ (?<line>.*)|[;,{)] \/\/ (?<end>.*)/gm;
    return Array.from(
      text.matchAll(begins),
      ({ groups = {} }) => groups['block'] ?? groups['line'] ?? groups['end'] ?? '',
    );
  }

  const isHeadless = (line: string): boolean => /^(?:Of|Whose)\b/.test(line);

  test('that begins with "Of" or "Whose" is found in every form', () => {
    const comments = [
      '/** Of a call. */',
      '  /* Of a call. */',
      '  /**\n   * Of a call.\n   */',
      '// Of a call.',
      'const a = 1;\n// Whose call.',
      'f(a, /** Of a call. */ b);',
      'f(); // Of a call.',
    ];

    expect(comments.filter((text) => !firstLines(text).some(isHeadless))).toEqual([]);
  });

  test.each(['// The limit\n// Of it', '/** The limit\n * Of it */', '/** Office. */', "'a // Of b'"])(
    'that does not begin so is not found: %j',
    (text) => {
      expect(firstLines(text).filter(isHeadless)).toEqual([]);
    },
  );

  test('begins with its noun, and never with "Of" or "Whose"', () => {
    const files = globSync('{src,test,bench,rig,monitoring,plugin}/**/*.ts', { cwd: root });
    const all = files
      .filter((file) => file !== 'test/unit/source-shape.test.ts')
      .flatMap((file) =>
        firstLines(readFileSync(new URL(file, root), 'utf8')).map((line) => ({ file, line })),
      );

    expect(all.length).toBeGreaterThan(10_000);
    expect(all.filter(({ line }) => isHeadless(line))).toEqual([]);
  });

  test('of the sources begins with its noun, and never with "What"', () => {
    const lines = sources.flatMap(({ text }) => firstLines(text));

    expect(lines.length).toBeGreaterThan(7000);
    expect(lines.filter((line) => /^What\b/.test(line))).toEqual([]);
  });

  test('of blocks begins with no pronoun either: what it is about has a name', () => {
    const blocks = sources.filter(({ file }) => file.startsWith('src/blocks/'));
    const lines = blocks.flatMap(({ text }) => firstLines(text));

    expect(lines.length).toBeGreaterThan(500);
    expect(lines.filter((line) => /^(?:What|One|It|Its|That)\b/.test(line))).toEqual([]);
  });
});
