// Compares an answer with the expectation of a step, and describes the differences.
import type { Expected, Matcher } from './step.ts';

/** Captured values, by name. */
export type Captured = Readonly<Record<string, string>>;

/** A text with captured values filled in. */
export function filled(text: string, captured: Captured): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => captured[name] ?? whole);
}

/** One line for each difference between `actual` and the expectation. */
export function differences(
  actual: unknown,
  expected: Expected,
  captured: Captured,
  path = 'body',
): readonly string[] {
  if (isMatcher(expected)) return matcherDifferences(actual, expected, path);
  if (Array.isArray(expected))
    return listDifferences(actual, expected as readonly Expected[], captured, path);
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null)
      return [`${path}: expected an object, got ${shown(actual)}`];
    return Object.entries(expected).flatMap(([name, value]) =>
      differences((actual as Record<string, unknown>)[name], value, captured, `${path}.${name}`),
    );
  }
  const wanted = typeof expected === 'string' ? filled(expected, captured) : expected;
  return actual === wanted ? [] : [`${path}: expected ${shown(wanted)}, got ${shown(actual)}`];
}

function listDifferences(
  actual: unknown,
  expected: readonly Expected[],
  captured: Captured,
  path: string,
): readonly string[] {
  if (!Array.isArray(actual)) return [`${path}: expected a list, got ${shown(actual)}`];
  if (actual.length !== expected.length)
    return [`${path}: expected ${expected.length} items, got ${shown(actual)}`];
  return expected.flatMap((item, index) => differences(actual[index], item, captured, `${path}[${index}]`));
}

function isMatcher(expected: Expected): expected is Matcher {
  return typeof expected === 'object' && expected !== null && 'match' in expected;
}

function matcherDifferences(
  actual: unknown,
  { match, pattern = '' }: Matcher,
  path: string,
): readonly string[] {
  switch (match) {
    case 'present':
      return actual === undefined ? [`${path}: expected something`] : [];
    case 'absent':
      return actual === undefined ? [] : [`${path}: expected nothing, got ${shown(actual)}`];
    case 'pattern':
      return typeof actual === 'string' && new RegExp(pattern, 's').test(actual)
        ? []
        : [`${path}: expected a text like ${pattern}, got ${shown(actual)}`];
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
