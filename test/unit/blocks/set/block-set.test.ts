import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BlockSet, blockShape } from '../../../../src/blocks/set/block-set.ts';
import { type Cidr, cidrText, overlaps, parseCidr } from '../../../../src/blocks/set/cidr.ts';

function cidr(text: string): Cidr {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return reading.cidr;
}

/** The peers' set, as plain as can be. */
class NaiveSet {
  readonly taken: boolean[];
  #next = 0;

  constructor(capacity: number) {
    this.taken = Array.from({ length: capacity }, () => false);
  }

  allocate(bits = 0): number | undefined {
    const size = 2 ** bits;
    for (let tries = 0; tries < this.taken.length; tries++) {
      const index = (this.#next + tries) % this.taken.length;
      const own = this.taken.slice(index, index + size);
      if (index % size > 0 || own.length < size || own.includes(true)) continue;
      this.taken.fill(true, index, index + size);
      this.#next = (index + size) % this.taken.length;
      return index;
    }
    return undefined;
  }
}

describe('the shape of blocks', () => {
  test.each([
    ['10.0.0.0/8', 24, 65_536],
    ['10.0.0.0/24', 24, 1],
    ['10.0.0.0/8', 32, 2 ** 24],
    ['fd00::/96', 112, 65_536],
    ['fd00::/48', 64, 65_536],
  ])('of %s with /%i is %i', (text, maskSize, capacity) => {
    expect(blockShape(cidr(text), maskSize)).toEqual({ kind: 'shape', capacity });
  });

  test.each([
    ['10.0.0.0/24', 23, 'its prefix length is greater than the mask size, which is 23'],
    ['10.0.0.0/24', 33, 'the mask size is greater than 32'],
    ['10.0.0.0/7', 32, 'its prefix length is more than 24 less than the mask size, which is 32'],
    ['fd00::/47', 64, 'its prefix length is more than 16 less than the mask size, which is 64'],
    ['fd00::/48', 129, 'the mask size is greater than 128'],
  ])('of %s with /%i is refused because %s', (text, maskSize, why) => {
    expect(blockShape(cidr(text), maskSize)).toEqual({ kind: 'invalid', why });
    expect(() => new BlockSet(cidr(text), maskSize)).toThrow(why);
  });
});

describe('a set of blocks', () => {
  test.each([
    ['10.0.0.0/16', 24, 300, '10.0.44.0/24'],
    ['fd00:1234:0:ffff::/64', 80, 2, 'fd00:1234:0:ffff:2::/80'],
    ['fd00::/56', 72, 0x1ff, 'fd00:0:0:1:ff00::/72'],
  ])('of %s with /%i has at %i the block %s', (text, maskSize, index, block) => {
    const set = new BlockSet(cidr(text), maskSize);
    const at = index % set.capacity;

    expect(cidrText(set.blockAt(at))).toBe(block);
    expect(set.rangeOf(cidr(block))).toEqual({ first: at, last: at });
  });

  test('is full with its last block, and a freed block rests for a lap', () => {
    const set = new BlockSet(cidr('10.0.0.0/22'), 24);
    const given = [set.allocate(), set.allocate()];
    set.free(0);

    expect(given).toEqual([
      { index: 0, passed: 0 },
      { index: 1, passed: 0 },
    ]);
    expect([set.allocate(), set.allocate(), set.allocate(), set.allocate()]).toEqual([
      { index: 2, passed: 0 },
      { index: 3, passed: 0 },
      { index: 0, passed: 0 },
      undefined,
    ]);
    expect(set.isFull).toBe(true);
  });

  const pools = fc.constantFrom(
    ['10.0.0.0/24', 24],
    ['10.0.0.0/22', 24],
    ['10.0.0.0/19', 24],
    ['10.0.0.0/18', 24],
    ['10.0.0.0/14', 25],
    ['fd00:0:0:fffe::/62', 74],
  ) as fc.Arbitrary<[string, number]>;
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('allocate', 'allocate', 'take', 'free'),
      at: fc.nat(),
      many: fc.nat(400),
      bits: fc.constantFrom(0, 0, 1, 2, 3, 4),
    }),
    { maxLength: 60 },
  );

  test('gives out the same blocks as the naive set, whatever is taken and freed', () => {
    fc.assert(
      fc.property(pools, steps, ([text, maskSize], doings) => {
        const set = new BlockSet(cidr(text), maskSize);
        const naive = new NaiveSet(set.capacity);
        const given: [number | undefined, number | undefined][] = [];
        for (const { what, at, many, bits } of doings) {
          for (let more = 0; more < many; more++) {
            const index = (at + more) % set.capacity;
            if (what === 'allocate') {
              const isFound = set.hasFree(bits);
              const index = naive.allocate(bits);
              given.push([isFound ? set.allocate(bits)?.index : undefined, index]);
            } else if (what === 'take') set.take(index);
            else set.free(index);
            if (what !== 'allocate') naive.taken[index] = what === 'take';
          }
          given.push([set.count, naive.taken.filter(Boolean).length]);
        }
        expect(given.filter(([ours, theirs]) => ours !== theirs)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('covers exactly the blocks that another CIDR overlaps', () => {
    const set = new BlockSet(cidr('10.4.0.0/20'), 24);
    fc.assert(
      fc.property(fc.nat(0xffff), fc.integer({ min: 12, max: 32 }), (host, length) => {
        const other = cidr(`10.4.${host >> 8}.${host & 255}/${length}`);
        const covered = Array.from({ length: set.capacity }, (_, index) => index).filter((index) =>
          overlaps(set.blockAt(index), other),
        );

        const range = set.rangeOf(other);

        expect(range && [range.first, range.last]).toEqual(
          covered.length === 0 ? undefined : [covered[0], covered.at(-1)],
        );
      }),
    );
  });
});
