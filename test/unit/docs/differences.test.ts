import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { titlesOf } from './titles-of.ts';

interface Proof {
  readonly file: URL;
  readonly title: string;
}

interface Point {
  readonly name: string;
  readonly text: string;
  readonly proofs: readonly Proof[];
}

const page = new URL('../../../docs/differences.md', import.meta.url);
const tests = new URL('../../', import.meta.url);

/** `- [name](address): \`title\``, a line each, which closes a point. */
const proof = /^- \[([^\]]+)\]\(([^)]+)\): `([^`]+)`$/;

const points = pointsOf(readFileSync(page, 'utf8'));

function pointsOf(text: string): readonly Point[] {
  const sections = text.split(/^(?=##)/m).filter((section) => section.startsWith('### '));
  return sections.map((section) => {
    const [heading = '', ...lines] = section.trimEnd().split('\n');
    const listed = lines.filter((line) => line.startsWith('- '));
    return {
      name: heading.slice(4),
      text: lines.filter((line) => !line.startsWith('- ')).join(' '),
      proofs: listed.map(proofOf),
    };
  });
}

function proofOf(line: string): Proof {
  const [, name = '', address = '', title = ''] = proof.exec(line) ?? [];
  const file = new URL(address, page);
  if (name === '' || !file.pathname.endsWith(`/${name}`)) throw new Error(`names no test: ${line}`);
  return { file, title };
}

describe('the page of differences', () => {
  test('has points', () => {
    expect(points.length).toBeGreaterThan(30);
    expect(new Set(points.map(({ name }) => name)).size).toBe(points.length);
  });

  test.each(points)('tells of both sides and of what one sees: $name', ({ text }) => {
    for (const word of ['cilium-operator', 'Headwater', 'You see']) expect(text).toContain(word);
  });

  test.each(points)('names tests that there are: $name', ({ proofs }) => {
    expect(proofs).not.toEqual([]);
    for (const { file, title } of proofs) {
      expect(file.pathname.startsWith(tests.pathname) && existsSync(file) && file.pathname).toBe(
        file.pathname,
      );
      expect(titlesOf(readFileSync(file, 'utf8'))).toContain(title);
    }
  });

  test('knows a test by its groups and its title as they are written, and nothing else', () => {
    const source = `
      // test('in a comment', () => {});
      describe('a', () => {
        test('b', () => {});
        describe.each([1])('c %s', () => {
          it.each<number>([2])('d $x', () => { call('no test'); });
          test.skip('it\\'s', async () => {});
        });
      });
      test('e', () => {});
    `;

    expect(titlesOf(source)).toEqual(['a b', 'a c %s d $x', "a c %s it's", 'e']);
  });
});
