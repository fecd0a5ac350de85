import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BlockLedger } from '../../../../src/blocks/allocation/block-ledger.ts';
import { cidrText, network, overlaps } from '../../../../src/blocks/set/cidr.ts';
import { cidr } from './holder-model.ts';

function ledger(...pools: (readonly [string, number])[]): BlockLedger {
  return new BlockLedger(pools.map(([text, maskSize]) => ({ pool: 'default', cidr: cidr(text), maskSize })));
}

function given(from: BlockLedger, holder = 'h'): string | undefined {
  const allocated = from.allocate('ipv4', holder);
  return allocated && cidrText(allocated.cidr);
}

describe('a ledger of blocks', () => {
  test('uses the CIDRs of a family in order', () => {
    const blocks = ledger(['10.0.0.0/24', 24], ['fd00::/112', 112], ['10.1.0.0/24', 24]);

    expect([given(blocks), given(blocks), given(blocks)]).toEqual(['10.0.0.0/24', '10.1.0.0/24', undefined]);
    expect(blocks.hasFree('ipv6')).toBe(true);
  });

  test('counts a block as taken if any part of it is, and names each holder', () => {
    const blocks = ledger(['10.0.0.0/23', 24]);
    blocks.hold('a', cidr('10.0.0.0/26'));
    blocks.hold('b', cidr('10.0.0.64/26'));

    expect(blocks.othersHolding([cidr('10.0.0.0/24')], 'c')).toEqual(['a', 'b']);
    expect(blocks.othersHolding([cidr('10.0.0.0/26')], 'a')).toEqual([]);
    expect(given(blocks)).toBe('10.0.1.0/24');

    blocks.release('a', [cidr('10.0.0.0/26')]);
    expect(given(blocks)).toBeUndefined();

    blocks.release('b', [cidr('10.0.0.64/26')]);
    expect(given(blocks)).toBe('10.0.0.0/24');
  });

  test('never gives out what is reserved', () => {
    const blocks = ledger(['10.0.0.0/22', 24]);
    blocks.reserve(cidr('10.0.1.128/25'));
    blocks.hold('a', cidr('10.0.1.0/24'));
    blocks.release('a', [cidr('10.0.1.0/24')]);

    expect([given(blocks), given(blocks), given(blocks), given(blocks)]).toEqual([
      '10.0.0.0/24',
      '10.0.2.0/24',
      '10.0.3.0/24',
      undefined,
    ]);
    expect(blocks.isReserved(cidr('10.0.1.0/24'))).toBe(true);
  });

  test('holds a CIDR whole, in each network that it covers, where no CIDR is bounded or its holder is trusted', () => {
    const pools = ['10.0.0.0/16', '10.1.0.0/16', '10.2.0.0/16'].map((text) => ({
      pool: 'default',
      cidr: cidr(text),
      maskSize: 26,
    }));
    const [unbounded, bounded] = [new BlockLedger(pools, Infinity), new BlockLedger(pools)];
    bounded.trust('a', cidr('10.0.0.0/15'));
    for (const blocks of [unbounded, bounded]) {
      blocks.hold('a', cidr('10.0.0.0/15'));
      expect(blocks.figures().map(({ held }) => held)).toEqual([1024, 1024, 0]);
      expect(given(blocks)).toBe('10.2.0.0/26');
      expect(blocks.othersHolding([cidr('10.1.0.0/26')], 'b')).toEqual(['a']);
      expect(blocks.othersHolding([cidr('10.0.0.0/15')], 'a')).toEqual([]);

      blocks.release('a', [cidr('10.0.0.0/15')]);
      expect(blocks.figures().map(({ held }) => held)).toEqual([0, 0, 1]);
    }
    bounded.hold('b', cidr('10.0.0.0/15'));
    expect(bounded.figures().map(({ held }) => held)).toEqual([0, 0, 1]);
    expect(bounded.blocksOf('b')).toEqual([]);
    expect(bounded.blocksIn(cidr('10.0.0.0/15'))).toBe(2048);
  });

  test('knows who holds a large part of a pool', () => {
    const blocks = ledger(['10.0.0.0/21', 24]);
    expect(blocks.largestHolders('ipv4', 'default')).toEqual([]);

    blocks.hold('hog', cidr('10.0.0.0/22'));
    blocks.hold('two', cidr('10.0.4.0/24'));
    blocks.hold('two', cidr('10.0.5.0/24'));
    blocks.hold('one', cidr('10.0.6.0/24'));
    expect(blocks.largestHolders('ipv4', 'default')).toEqual(['hog', 'two']);
    expect(blocks.largestHolders('ipv6', 'default')).toEqual([]);
    expect(blocks.largestHolders('ipv4', 'other')).toEqual([]);
  });

  test('lets one CIDR take at most 256 blocks', () => {
    const blocks = ledger(['10.0.0.0/8', 24]);
    blocks.hold('wide', cidr('10.1.0.0/16'));
    blocks.hold('wider', cidr('10.2.0.0/15'));

    expect(blocks.figures()[0]?.held).toBe(256);
    expect(['10.1.0.0/16', '10.2.0.0/15'].map((text) => blocks.poolOf(cidr(text)) !== undefined)).toEqual([
      true,
      false,
    ]);
  });

  test('names who shares a CIDR outside all pools', () => {
    const blocks = ledger(['10.0.0.0/8', 24]);
    blocks.hold('a', cidr('192.168.0.0/24'));

    expect(blocks.othersHolding([cidr('192.168.0.0/16')], 'b')).toEqual(['a']);
    expect(blocks.othersHolding([cidr('192.168.1.0/24')], 'b')).toEqual([]);
  });

  const networks = fc
    .tuple(fc.nat(63), fc.integer({ min: 18, max: 28 }))
    .map(([high, length]) => cidr(`10.0.${high}.0/${length}`));

  test('agrees with a plain list of holders, whatever is held and released', () => {
    const doings = fc.array(fc.tuple(fc.boolean(), fc.constantFrom('a', 'b', 'c'), networks), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(doings, (steps) => {
        const blocks = ledger(['10.0.0.0/18', 24]);
        const held = new Map<string, ReturnType<typeof cidr>>();
        for (const [isHeld, holder, network] of steps) {
          if (isHeld) {
            blocks.hold(holder, network);
            held.set(`${holder} ${cidrText(network)}`, network);
          } else {
            blocks.release(holder, [network]);
            held.delete(`${holder} ${cidrText(network)}`);
          }
        }
        const taken = Array.from({ length: 64 }, (_, index) => cidr(`10.0.${index}.0/24`)).filter((block) =>
          [...held.values()].some((each) => overlaps(each, block)),
        );

        expect(blocks.figures()[0]?.held).toBe(taken.length);
      }),
    );
  });

  test('gives bigger blocks aligned, apart from all others, and takes them back whole', () => {
    const doings = fc.array(fc.tuple(fc.boolean(), fc.nat(15), fc.integer({ min: 20, max: 24 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(doings, (steps) => {
        const blocks = ledger(['10.0.0.0/19', 24], ['10.1.0.0/22', 24]);
        const held = new Map<string, ReturnType<typeof cidr>>();
        for (const [isTaken, number, maskSize] of steps) {
          const holder = `h${number}`;
          const own = held.get(holder);
          if (own !== undefined) {
            blocks.release(holder, [own]);
            held.delete(holder);
          }
          if (!isTaken) continue;
          const hasFree = blocks.hasFree('ipv4', { maskSize });
          const block = blocks.allocate('ipv4', holder, { maskSize })?.cidr;

          expect(block !== undefined).toBe(hasFree);
          if (block === undefined) continue;
          expect(block).toEqual(network('ipv4', block.base, maskSize));
          expect([...held.values()].filter((each) => overlaps(each, block))).toEqual([]);
          held.set(holder, block);
        }
        const size = [...held.values()].reduce((sum, { length }) => sum + 2 ** (24 - length), 0);

        expect(blocks.figures().reduce((sum, each) => sum + each.held, 0)).toBe(size);
      }),
    );
  });

  test.each([25, 19])('has no block of /%i in a pool of /24', (maskSize) => {
    const blocks = ledger(['10.0.0.0/8', 24]);

    expect(blocks.hasFree('ipv4', { maskSize })).toBe(false);
    expect(blocks.allocate('ipv4', 'a', { maskSize })).toBeUndefined();
  });

  test('keeps what is held when its pools change, and the order of networks that stay', () => {
    const blocks = ledger(['10.0.0.0/23', 24], ['10.1.0.0/24', 24]);
    blocks.allocate('ipv4', 'a');
    blocks.hold('a', cidr('10.1.0.0/24'));
    const of = (...texts: string[]) =>
      new Map([['default', texts.map((text) => ({ pool: 'default', cidr: cidr(text), maskSize: 24 }))]]);

    blocks.change(of('10.0.0.0/23'));
    expect(blocks.outside()).toMatchObject([{ holder: 'a', cidr: cidr('10.1.0.0/24') }]);
    expect(blocks.allocate('ipv4', 'b')?.cidr).toEqual(cidr('10.0.1.0/24'));

    blocks.change(of('10.0.0.0/23', '10.1.0.0/23'));
    expect(blocks.othersHolding([cidr('10.1.0.0/24')], 'b')).toEqual(['a']);
    expect(blocks.allocate('ipv4', 'b')?.cidr).toEqual(cidr('10.1.1.0/24'));
    expect(blocks.totals()).toEqual([{ pool: 'default', family: 'ipv4', capacity: 4, held: 4 }]);
  });
});
