import { expect, test } from '@jest/globals';
import { complaintsOf, type Findings, lineOf } from './findings.ts';

const good: Findings = {
  story: 'something happened',
  addresses: { before: 20_000, after: 19_400, lost: [], doubled: [] },
  times: [{ what: 'release', troubled: 11, calm: 10 }],
  sentence: 'is this the right region and role?',
  complaints: [],
};

test('a trial passes that lost no address, took no longer than allowed and reported what it had to', () => {
  expect(complaintsOf(good)).toEqual([]);
  expect(lineOf('one', good).split('\n')).toEqual([
    'passed  one',
    '        something happened',
    '        in use: 20,000 before, 19,400 after, 0 lost, 0 on two nodes',
    '        release: 11.0 s beside 10.0 s (× 1.1)',
    '        it says: is this the right region and role?',
  ]);
});

test.each<[string, Partial<Findings>, string]>([
  [
    'an address in use was lost',
    { addresses: { ...good.addresses, lost: ['10.0.0.1 of a'] } },
    'lost in use: 10.0.0.1 of a',
  ],
  [
    'an address was on two nodes',
    { addresses: { ...good.addresses, doubled: ['10.0.0.1 of a and b'] } },
    'on two nodes: 10.0.0.1 of a and b',
  ],
  [
    'lawful work was delayed by more than a resync',
    { times: [{ what: 'release', troubled: 31, calm: 10 }] },
    'release took more than 2 times as long as without the trouble',
  ],
  ['a trial complains', { complaints: ['it is reported once'] }, 'it is reported once'],
])('a trial where %s has failed, and says why', (_, found, complaint) => {
  const findings = { ...good, ...found };

  expect(complaintsOf(findings)).toEqual([complaint]);
  expect(lineOf('one', findings)).toMatch(/^FAILED {2}one\n/);
  expect(lineOf('one', findings)).toContain(`NOT SO: ${complaint}`);
});

test('a trial that lost many addresses names three of them', () => {
  const lost = ['a', 'b', 'c', 'd', 'e'];

  expect(complaintsOf({ ...good, addresses: { ...good.addresses, lost } })).toEqual([
    'lost in use: a, b, c and 2 more',
  ]);
});
