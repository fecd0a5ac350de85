// The titles of the tests that a source file holds, as they are written there: groups first, in the order of the file.
import { type CallExpression, type Expression, parseSync } from '@swc/core';

const groups = new Set(['describe']);
const tests = new Set(['test', 'it']);

/** `group title`, as jest prints them; placeholders of tables stay placeholders. */
export function titlesOf(source: string): readonly string[] {
  const titles: string[] = [];
  visit(parseSync(source, { syntax: 'typescript' }).body, [], titles);
  return titles;
}

function visit(part: unknown, path: readonly string[], titles: string[]): void {
  if (typeof part !== 'object' || part === null) return;
  const title = isCall(part) ? titleOf(part) : undefined;
  if (!isCall(part) || title === undefined) {
    for (const inner of Object.values(part)) visit(inner, path, titles);
    return;
  }
  const name = nameOf(part.callee);
  const full = [...path, title];
  if (tests.has(name)) titles.push(full.join(' '));
  if (groups.has(name)) visit(part.arguments.slice(1), full, titles);
}

function isCall(part: object): part is CallExpression {
  return 'type' in part && part.type === 'CallExpression';
}

/** Undefined where the call is no group and no test. */
function titleOf({ callee, arguments: [first] }: CallExpression): string | undefined {
  const name = nameOf(callee);
  if (!groups.has(name) && !tests.has(name)) return undefined;
  return first?.expression.type === 'StringLiteral' ? first.expression.value : undefined;
}

/** What is called in the end: `test` of `test`, of `test.each(rows)` and of `test.skip.each(rows)`. */
function nameOf(callee: CallExpression['callee'] | Expression): string {
  switch (callee.type) {
    case 'Identifier':
      return callee.value;
    case 'MemberExpression':
      return nameOf(callee.object);
    case 'CallExpression':
      return nameOf(callee.callee);
    case 'TsInstantiation':
      return nameOf(callee.expression);
    default:
      return '';
  }
}
