import { expect, test } from '@jest/globals';
import { age, ageOfText } from '../../../../../src/simulator/kubernetes/printing/age.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

test.each([
  [-5, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 5, '2m5s'],
  [10 * minute, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [3 * hour + minute, '3h1m'],
  [8 * hour + 59 * minute, '8h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [2 * day + hour, '2d1h'],
  [8 * day + hour, '8d'],
  [729 * day, '729d'],
  [2 * year + day, '2y1d'],
  [9 * year, '9y'],
])('an age of %d seconds shows as %s', (seconds, text) => {
  expect(age(0, seconds * 1000)).toBe(text);
});

test('an object without a time has an unknown age', () => {
  expect(ageOfText('', 0)).toBe('<unknown>');
});
