import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';

const sources = new URL('../../../../src/node/', import.meta.url);

/** Files under src/node with a match, and how many each has. */
function matchesIn(pattern: RegExp): Readonly<Record<string, number>> {
  const files = globSync('**/*.ts', { cwd: sources }).toSorted();
  const counts = files.map((file) => {
    const found = readFileSync(new URL(file, sources), 'utf8').match(pattern) ?? [];
    return [file, found.length] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

// Each part says in `requeueAfter` when it takes its next step; a task in flight may sleep.
test('a node has one timer, the one of its loop', () => {
  expect(
    matchesIn(/\.(?:schedule|later)\(|\bset(?:Timeout|Interval|Immediate)\(|\bnew RequeueTimer\(/g),
  ).toEqual({ 'reconcile/node-reconciler.ts': 1 });
});
