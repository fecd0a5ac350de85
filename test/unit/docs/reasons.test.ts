import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { metricTable } from '../../../src/observability/metrics.ts';

const root = new URL('../../../', import.meta.url);

/** Places where the sources define a reason: the first group of each pattern is the name. */
const places: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['types of reasons', /type \w*Reason =([^;]*);/g],
  ['what is reported', /\breason: ('[A-Z]\w+')/g],
  ['what is counted', /\badd\('(?:node|interface|subnet)', ('\w+')\)/g],
  ['why something is paused', /\bpauseReasons = (\[[^\]]*\])/g],
];

/** The same by its place, of sources of the program. The model of the cloud has its own words. */
function reasonsIn(sources: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    places.map(([what, pattern]) => {
      const found = sources.flatMap((text) => Array.from(text.matchAll(pattern), ([, names = '']) => names));
      return [
        what,
        found.flatMap((names) => Array.from(names.matchAll(/'(\w+)'/g), ([, name = '']) => name)),
      ];
    }),
  );
}

interface Row {
  readonly reason: string;
  readonly cells: readonly string[];
}

function rowsOf(page: string): readonly Row[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [reason = '', ...cells] = line.slice(2, -2).split(' | ');
      return { reason: reason.replaceAll('`', ''), cells };
    });
}

const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !/^src\/(simulator|commands\/demo)\//.test(path))
  .map((path) => readFileSync(new URL(path, root), 'utf8'));
const known = reasonsIn(sources);
const rows = rowsOf(readFileSync(new URL('docs/reasons.md', root), 'utf8'));

describe('the page of reasons', () => {
  test.each([...known])('finds %s in the sources', (_, reasons) => {
    expect(reasons).not.toEqual([]);
  });

  test('has each reason of the code once, and no other', () => {
    const inCode = new Set([...known.values()].flat());

    expect(rows.map(({ reason }) => reason).toSorted()).toEqual([...inCode].toSorted());
  });

  test.each(rows)('has the cause, the remedy and the metric: $reason', ({ cells }) => {
    const [cause = '', remedy = '', metrics = ''] = cells;
    const named = Array.from(metrics.matchAll(/`(headwater_\w+)`/g), ([, name = '']) => name);

    expect(cells).toHaveLength(3);
    expect(Math.min(cause.length, remedy.length)).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in metricTable))).toEqual([]);
    expect(named.length > 0 || metrics.startsWith('none: ')).toBe(true);
  });

  test('recognizes a reason wherever the sources name one', () => {
    const found = reasonsIn([
      "export type NodeReason =\n  | 'One'\n  | 'Two';",
      "const report = { type: 'Warning', reason: 'Three' };",
      "add('subnet', 'Four'); why({ reason: failure.reason });",
      "const pauseReasons = ['five'] as const;",
    ]);

    expect([...found.values()]).toEqual([['One', 'Two'], ['Three'], ['Four'], ['five']]);
  });
});
