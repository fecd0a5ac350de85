import { expect, test } from '@jest/globals';
import { type Age, ageOf } from '../../../../src/kubernetes/watch/resource-version.ts';

test.each<[string, string, Age]>([
  ['7', '7', 'same'],
  ['9', '10', 'older'],
  ['10', '9', 'newer'],
  ['99', '100', 'older'],
  ['9007199254740993', '9007199254740992', 'newer'],
  ['0', '1', 'older'],
  ['007', '8', 'unknown'],
  ['abc', '8', 'unknown'],
  ['abc', 'abc', 'same'],
  ['', '1', 'unknown'],
  ['-1', '1', 'unknown'],
])('the version %j compared with %j is %s', (version, other, age) => {
  expect(ageOf(version, other)).toBe(age);
});
