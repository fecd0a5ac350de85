import { expect, test } from '@jest/globals';
import { shownClusterName } from '../../../../src/controller/eni/shown-cluster-name.ts';

const key = 'aws:eks:cluster-name';

type Values = Readonly<Record<string, readonly string[]>>;

/** `asked`: default: the instances that are shown. */
function shownOf(values: Values, asked: readonly string[] = Object.keys(values)) {
  return shownClusterName({ key, asked, shown: new Map(Object.entries(values)) });
}

test.each<[string, Values, number]>([
  ['one instance', { 'i-1': ['blue'] }, 1],
  ['some of them, because EKS sets the tag after the instance has joined', { 'i-1': ['blue'], 'i-2': [] }, 1],
  ['all of them', { 'i-1': ['blue'], 'i-2': ['blue'] }, 2],
  ['an instance that shows the tag twice alike', { 'i-1': ['blue', 'blue'] }, 1],
])('the name is that in the tag of %s', (_, values, instances) => {
  expect(shownOf(values)).toEqual({ kind: 'found', name: 'blue', instances });
});

test.each<[string, Values, readonly string[] | undefined, RegExp]>([
  ['no Node names an instance', {}, [], /^no Node names an instance by its provider ID$/],
  ['the cloud shows no instance', {}, ['i-2', 'i-1'], /shows none of the instances .* \(i-1, i-2\)$/],
  [
    'no instance carries the tag',
    { 'i-1': [], 'i-2': [] },
    undefined,
    /^none of .* carries the tag aws:eks:/,
  ],
  [
    'two carry different names',
    { 'i-1': ['green'], 'i-2': ['blue'], 'i-3': ['blue'], 'i-4': ['blue'], 'i-5': ['blue'] },
    undefined,
    /carry 2 names in the tag .*: "blue" on i-2, i-3, i-4 and 1 more, "green" on i-1$/,
  ],
  ['one is shown with two', { 'i-1': ['blue', 'green'] }, undefined, /"blue" on i-1, "green" on i-1$/],
  ['one is empty', { 'i-1': ['blue'], 'i-2': [''] }, undefined, /^the tag .* of i-2 is empty$/],
  ['one is no name', { 'i-1': ['a\u0007 b'] }, undefined, /of i-1 is ".*", which is no name of a cluster$/],
  ['one is too long', { 'i-1': ['x'.repeat(129)] }, undefined, /which is no name of a cluster$/],
  ['one asks for a tag', { 'i-1': [`tag=${key}`] }, undefined, /which is no name of a cluster$/],
])('there is no name if %s', (_, values, asked, problem) => {
  expect(shownOf(values, asked)).toEqual({
    kind: 'none',
    problem: expect.stringMatching(problem),
    remedy: expect.stringContaining('set --cluster-name to the name itself'),
  });
});
