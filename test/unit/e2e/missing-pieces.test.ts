import { expect, test } from '@jest/globals';
import { isGoNewEnough } from '../../e2e/rig/missing-pieces.ts';

test.each([
  [true, 'go version go1.23.0 linux/amd64\n'],
  [true, 'go version go1.26.8 linux/arm64\n'],
  [false, 'go version go1.19.8 linux/amd64\n'],
  [false, 'what?'],
])('a Go can build kube-apiserver or not: %s, with the version %j', (fits, output) => {
  expect(isGoNewEnough(output)).toBe(fits);
});

test('a Go that is new enough for one program may be too old for another', () => {
  expect(isGoNewEnough('go version go1.24.3 linux/amd64', 26)).toBe(false);
  expect(isGoNewEnough('go version go1.26.0 linux/amd64', 26)).toBe(true);
});
