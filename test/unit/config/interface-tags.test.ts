import { describe, expect, test } from '@jest/globals';
import { loadOptions } from '../../../src/config/load-options.ts';

function load(flags: Readonly<Record<string, readonly string[]>>): ReturnType<typeof loadOptions> {
  const missing = (): never => {
    throw Object.assign(new Error('missing'), { code: 'ENOENT' });
  };
  const processEnvironment = { environment: {}, readFile: missing, readDirectory: missing };
  return loadOptions(new Map(Object.entries(flags)), processEnvironment);
}

function problemsOf(flags: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const loaded = load(flags);
  return loaded.kind === 'refused' ? loaded.problems : [];
}

describe('tags of new interfaces', () => {
  const tags = (count: number, prefix: string): string =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}=x`).join(',');

  test.each([
    ['46 beside the four that Headwater sets', { 'eni-tags': tags(46, 'a') }],
    ['48 and one to find them again', { 'eni-tags': tags(47, 'a'), 'eni-gc-tags': 'mine=1' }],
    [
      'those that are set anyway do not count twice',
      { 'eni-tags': tags(48, 'a'), 'eni-gc-tags': tags(48, 'a') },
    ],
  ])('are accepted up to the limit of EC2: %s', (_, flags) => {
    const given = Object.entries(flags).map(([name, text]) => [name, [text]] as const);

    expect(problemsOf(Object.fromEntries(given))).toEqual([]);
  });

  test.each([
    ['eni-tags', { 'eni-tags': tags(47, 'a') }, /^eni-tags: 51 tags for each new interface.*at most 46/],
    [
      'eni-gc-tags',
      { 'eni-gc-tags': tags(49, 'a') },
      /^eni-gc-tags: 51 tags for each new interface.*at most 48/,
    ],
  ])('are refused beyond 50: %s', (_, flags, line) => {
    const given = Object.entries(flags).map(([name, text]) => [name, [text]] as const);

    expect(problemsOf(Object.fromEntries(given))).toEqual([expect.stringMatching(line)]);
  });
});

test.each([
  ['5s', 1],
  ['59s', 1],
  ['1m', 0],
  ['0', 0],
])('listing detached interfaces every %s causes %d notices about the cost', (text, count) => {
  const loaded = load({ 'eni-gc-interval': [text], 'cluster-name': ['blue'] });

  const notices = loaded.kind === 'options' ? loaded.notices : [];
  expect(notices.map(({ message }) => message)).toEqual(
    Array(count).fill('orphaned interfaces are looked for very often'),
  );
  for (const { details } of notices) expect(details['cost']).toMatch(/calls an hour.*1m/);
});
