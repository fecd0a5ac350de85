import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Cidr, cidrText, contains, network, overlaps } from '../../../../src/blocks/set/cidr.ts';
import { NetworkIndex } from '../../../../src/blocks/set/network-index.ts';

/** A CIDR of 16 bits of addresses. */
const anyCidr = fc
  .tuple(fc.nat(0xffff), fc.integer({ min: 16, max: 32 }))
  .map(([low, length]) => network('ipv4', 0x0a00_0000n + BigInt(low), length));

describe('an index of networks', () => {
  test('finds what shares an address with a CIDR, as a search through all does', () => {
    fc.assert(
      fc.property(fc.array(anyCidr, { maxLength: 40 }), anyCidr, (given, wanted) => {
        const index = new NetworkIndex<Cidr>();
        const apart: Cidr[] = [];
        for (const cidr of given) {
          const isFree = !apart.some((each) => overlaps(each, cidr));
          expect([...index.sharing(cidr)].length === 0).toBe(isFree);
          if (!isFree) continue;
          apart.push(cidr);
          index.add(cidr, cidr);
        }
        for (const cidr of apart.splice(0, apart.length / 3)) index.delete(cidr);

        const texts = apart.filter((each) => overlaps(each, wanted)).map(cidrText);
        expect(new Set([...index.sharing(wanted)].map(cidrText))).toEqual(new Set(texts));
        expect(index.holding(wanted)).toEqual(apart.find((each) => contains(each, wanted)));
      }),
    );
  });

  test('knows families apart', () => {
    const index = new NetworkIndex<string>();
    index.add(network('ipv6', 0n, 64), 'six');

    expect([...index.sharing(network('ipv4', 0n, 0))]).toEqual([]);
    expect(index.holding(network('ipv6', 1n, 128))).toBe('six');
  });

  test('looks at a few of 4,096 networks only', () => {
    let looks = 0;
    const index = new NetworkIndex<number>();
    for (let each = 0; each < 4096; each++) {
      const { base, ...rest } = network('ipv4', BigInt(each) << 16n, 16);
      const counted = {
        ...rest,
        get base() {
          looks++;
          return base;
        },
      };
      index.add(counted, each);
    }
    looks = 0;
    const last = network('ipv4', 4095n << 16n, 24);

    expect(index.holding(last)).toBe(4095);
    expect([...index.sharing(last)]).toEqual([4095]);
    index.delete(network('ipv4', 2000n << 16n, 16));
    index.add(network('ipv4', 2000n << 16n, 17), 2000);
    expect(looks).toBeLessThan(100);
  });
});
