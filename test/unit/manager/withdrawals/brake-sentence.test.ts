import { expect, test } from '@jest/globals';
import { sentenceOf, type BrakeState } from '../../../../src/manager/withdrawals/withdrawal-brake.ts';

const scope = 'eu-west-1 of account 1234';
const held = {
  kind: 'held',
  since: 0,
  instanceIds: new Set(Array.from({ length: 2000 }, (_, index) => `i-${index}`)),
  token: '0123456789',
  recent: 0,
  users: 2400,
} as const satisfies BrakeState;

test.each<[state: Exclude<BrakeState, { kind: 'open' }>, networkIds: readonly string[], sentence: string]>([
  [
    { kind: 'misdirected', missing: 2000, of: 2000 },
    ['vpc-1'],
    'none of the 2,000 instances of vpc-1 is in eu-west-1 of account 1234: is this the right region and role? Nothing is taken away until most of them are found',
  ],
  [
    { kind: 'misdirected', missing: 1600, of: 2000 },
    [],
    'only 400 of the 2,000 instances are in eu-west-1 of account 1234: is this the right region and role? Nothing is taken away until most of them are found',
  ],
  [
    { kind: 'misdirected', missing: 2, of: 3 },
    ['vpc-1', 'vpc-2', 'vpc-3', 'vpc-4'],
    'only 1 of the 3 instances of vpc-1, vpc-2, vpc-3 and 1 more is in eu-west-1 of account 1234: is this the right region and role? Nothing is taken away until most of them are found',
  ],
  [
    held,
    ['vpc-1'],
    'interfaces or addresses of 2,000 nodes of vpc-1 are missing in eu-west-1 of account 1234, where 2,400 use addresses: is this the right region and role? Nothing is taken away until they are shown again; if they are gone for good, approve that with --allow-withdrawals=0123456789',
  ],
  [
    { ...held, instanceIds: new Set(['i-1']), recent: 3 },
    ['vpc-1'],
    'interfaces or addresses of 1 node of vpc-1, and of 3 nodes in the 10 minutes before, are missing in eu-west-1 of account 1234, where 2,400 use addresses: is this the right region and role? Nothing is taken away until they are shown again; if they are gone for good, approve that with --allow-withdrawals=0123456789',
  ],
  [
    { kind: 'inherited', note: { since: 0, token: 'ab', nodes: 4, sentence: 'much is missing' } },
    ['vpc-1'],
    'nothing is taken away before this process has read eu-west-1 of account 1234 twice, because the previous leader held withdrawals: much is missing',
  ],
])('the reason why withdrawals are held is one sentence: %#', (state, networkIds, sentence) => {
  expect(sentenceOf(state, scope, networkIds)).toBe(sentence);
});
