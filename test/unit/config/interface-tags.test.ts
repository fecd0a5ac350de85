import { describe, expect, test } from '@jest/globals';
import { load, problemsOf } from './loading.ts';

/** Each flag once. */
function asGiven(flags: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
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
    expect(problemsOf(load({ flags: asGiven(flags) }))).toEqual([]);
  });

  test.each([
    [
      'exclude-interface-tags',
      { 'eni-tags': 'team=net', 'exclude-interface-tags': 'role=storage,team=net' },
      /^exclude-interface-tags: the interfaces that Headwater creates carry "team=net"/,
    ],
    ['eni-tags', { 'eni-tags': tags(47, 'a') }, /^eni-tags: 51 tags for each new interface.*at most 46/],
    [
      'eni-gc-tags',
      { 'eni-gc-tags': tags(49, 'a') },
      /^eni-gc-tags: 51 tags for each new interface.*at most 48/,
    ],
  ])('are refused beyond 50: %s', (_, flags, line) => {
    expect(problemsOf(load({ flags: asGiven(flags) }))).toEqual([expect.stringMatching(line)]);
  });

  test.each([
    [15, []],
    [16, [expect.stringMatching(/^eni-tags: 21 tags for each new interface.*at most 15 .*ECS takes 20$/)]],
  ])('leave room for the index of agents on Alibaba Cloud: %d', (count, problems) => {
    const flags = { ipam: 'alibabacloud', 'eni-tags': tags(count, 'a') };
    expect(problemsOf(load({ flags: asGiven(flags) }))).toEqual(problems);
  });

  const form = 'accepted: keys of at most 128 characters that do not begin with aliyun or acs:';
  test.each([
    ['eni-tags', 'aliyunteam=x', '"aliyunteam"'],
    ['eni-tags', 'acs:team=x', '"acs:team"'],
    ['eni-tags', 'wiki=https://wiki/x', '"wiki"'],
    ['eni-tags', `long=${'x'.repeat(129)}`, '"long"'],
    ['eni-gc-tags', 'mine=http://x', '"mine"'],
    ['cluster-name', 'http://x', '"io.cilium/cluster-name"'],
  ])('are refused on Alibaba Cloud if ECS takes none such: --%s=%s', (option, text, key) => {
    const flags = { ipam: 'alibabacloud', [option]: text };

    expect(problemsOf(load({ flags: asGiven(flags) }))).toEqual([
      expect.stringContaining(`${option}: ECS refuses the tag ${key} (the flag --${option}); ${form}`),
    ]);
    expect(problemsOf(load({ flags: asGiven({ ...flags, ipam: 'eni' }) }))).toEqual([]);
  });
});
