import { describe, expect, test } from '@jest/globals';
import { BlockLedger } from '../../../../src/blocks/allocation/block-ledger.ts';
import { comparedBlocks } from '../../../../src/blocks/modes/given-blocks.ts';
import { cidrOf } from '../../../../src/blocks/set/cidr.ts';

const ledgerOf = (): BlockLedger =>
  new BlockLedger(
    [
      { pool: 'default', text: '10.0.0.0/16', maskSize: 24 },
      { pool: 'default', text: 'fd00::/104', maskSize: 112 },
      { pool: 'blue', text: '10.1.0.0/16', maskSize: 28 },
    ].flatMap(({ text, ...pool }) => {
      const cidr = cidrOf(text);
      return cidr === undefined ? [] : [{ ...pool, cidr }];
    }),
  );

interface Given {
  readonly before?: readonly string[];
  readonly now: readonly string[];
  /** The blocks that the plan adds. */
  readonly would?: readonly string[];
  readonly why?: string;
  /** Blocks of another node, and those that are planned for it. */
  readonly others?: readonly string[];
  readonly reserved?: readonly string[];
  /** Whether agents return blocks. */
  readonly returns?: true;
  readonly isOwn?: true;
}

const read = (texts: readonly string[]) => texts.flatMap((text) => cidrOf(text) ?? []);

function outcomeOf({ before = [], now, would = [], why, ...given }: Given): unknown {
  const { others = [], reserved = [], returns = false, isOwn = false } = given;
  const ledger = ledgerOf();
  for (const cidr of read(['10.0.200.0/24'])) ledger.reserve(cidr);
  for (const cidr of read([...others, ...reserved])) ledger.hold('b', cidr);
  return comparedBlocks(
    {
      before: { uid: 'a', blocks: before },
      holder: { uid: 'a', blocks: now },
      plan: { blocks: [...before, ...would], why },
      isOwn,
      sharing: [{ uid: 'b', name: 'b', blocks: others }],
    },
    ledger,
    returns,
  );
}

const otherwise = (would: string, did: string): object => ({ kind: 'otherwise', would, did });
const one = 'give 1 IPv4 /24 of pool default';

describe('the blocks that another program gives', () => {
  test.each<[string, Given]>([
    ['the very same', { now: ['10.0.0.0/24'], would: ['10.0.0.0/24'] }],
    ['another one of that kind', { now: ['10.0.9.0/24'], would: ['10.0.0.0/24'] }],
    [
      'one of each family, in another order',
      { now: ['fd00::9:0/112', '10.0.9.0/24'], would: ['10.0.0.0/24', 'fd00::/112'] },
    ],
    [
      'as many more of that pool',
      {
        before: ['10.1.0.0/28'],
        now: ['10.1.0.0/28', '10.1.3.0/28', '10.1.4.0/28'],
        would: ['10.1.1.0/28', '10.1.2.0/28'],
      },
    ],
    [
      'one that is planned for another node',
      { now: ['10.0.1.0/24'], would: ['10.0.0.0/24'], others: ['10.0.7.0/24'], reserved: ['10.0.1.0/24'] },
    ],
  ])('agree if they are %s', (_, given) => {
    expect(outcomeOf(given)).toEqual({ kind: 'same' });
  });

  test.each<[string, Given, object]>([
    [
      'they are outside all pools',
      { now: ['10.9.0.0/24'], would: ['10.0.0.0/24'] },
      otherwise(one, 'give 1 IPv4 /24 of no pool'),
    ],
    [
      'they have another mask size',
      { now: ['10.0.0.0/25'], would: ['10.0.0.0/24'] },
      otherwise(one, 'give 1 IPv4 /25 of pool default'),
    ],
    [
      'they are of another pool',
      { now: ['10.1.0.0/28'], would: ['10.0.0.0/24'] },
      otherwise(one, 'give 1 IPv4 /28 of pool blue'),
    ],
    [
      'a family is missing',
      { now: ['10.0.9.0/24'], would: ['10.0.0.0/24', 'fd00::/112'] },
      otherwise(`${one} and 1 IPv6 /112 of pool default`, one),
    ],
    [
      'they are more',
      { now: ['10.0.9.0/24', '10.0.8.0/24'], would: ['10.0.0.0/24'] },
      otherwise(one, 'give 2 IPv4 /24 of pool default'),
    ],
    [
      'another node has one',
      { now: ['10.0.1.0/24'], would: ['10.0.0.0/24'], others: ['10.0.0.0/22'] },
      otherwise(one, `${one} that b has`),
    ],
    [
      'they are addresses of Services',
      { now: ['10.0.200.0/24'], would: ['10.0.0.0/24'] },
      otherwise(one, `${one} of Services`),
    ],
    [
      'nothing is free',
      { now: ['10.0.0.0/24'], why: 'PodCIDRsExhausted' },
      otherwise('nothing (PodCIDRsExhausted)', one),
    ],
    [
      'nothing is needed',
      { before: ['10.0.0.0/24'], now: ['10.0.0.0/24', 'x'] },
      otherwise('nothing', 'give 1 unreadable'),
    ],
    [
      'one is released',
      { before: ['10.0.0.0/24', 'fd00::/112'], now: ['fd00::/112'], isOwn: true },
      otherwise('nothing', 'release 1 IPv4 /24 of pool default'),
    ],
    [
      'one takes the place of another',
      { before: ['10.0.0.0/24'], now: ['10.0.1.0/24'] },
      otherwise('nothing', `${one} and release 1 IPv4 /24 of pool default`),
    ],
    [
      'they are of too many kinds to be named',
      { now: [8, 9, 10, 11, 12, 13, 14].map((length) => `11.0.0.0/${length}`) },
      otherwise(
        'nothing',
        `give ${[10, 11, 12, 13, 14].map((length) => `1 IPv4 /${length} of no pool`).join(' and ')} and others`,
      ),
    ],
    [
      'too many kinds differ in what is not named',
      {
        now: [10, 11, 12, 13, 14, 8].map((length) => `11.0.0.0/${length}`),
        would: [10, 11, 12, 13, 14, 9].map((length) => `12.0.0.0/${length}`),
      },
      expect.objectContaining({ kind: 'otherwise' }),
    ],
  ])('do not agree if %s', (_, given, outcome) => {
    expect(outcomeOf(given)).toEqual(outcome);
  });

  test.each<[string, Given]>([
    ['the same in another spelling', { before: ['FD00::/112'], now: ['fd00::/112'], would: ['10.0.0.0/24'] }],
    [
      'fewer, as agents return them',
      { before: ['10.1.0.0/28', '10.1.1.0/28'], now: ['10.1.0.0/28'], returns: true },
    ],
    ['rubbish no longer', { before: ['10.0.0.0/24', 'x'], now: ['10.0.0.0/24'] }],
    ['again what its agent returned', { before: [], now: ['10.1.0.0/28'], isOwn: true, returns: true }],
  ])('say nothing while the node shows %s', (_, given) => {
    expect(outcomeOf(given)).toBeUndefined();
  });
});
