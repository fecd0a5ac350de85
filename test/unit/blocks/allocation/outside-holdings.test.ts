import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { OutsideHoldings } from '../../../../src/blocks/allocation/outside-holdings.ts';
import { type Cidr, cidrText, network, overlaps } from '../../../../src/blocks/set/cidr.ts';
import { cidr } from './holder-model.ts';

const anyCidr: fc.Arbitrary<Cidr> = fc
  .tuple(
    fc.constantFrom('ipv4' as const, 'ipv6' as const),
    fc.bigInt({ min: 0n, max: 63n }),
    fc.integer({ min: 22, max: 32 }),
  )
  .map(([family, base, length]) => network(family, base, family === 'ipv4' ? length : length + 96));

describe('holdings outside all pools', () => {
  test('are found by any address that they share with a CIDR', () => {
    fc.assert(
      fc.property(fc.array(anyCidr), fc.array(fc.nat(30)), anyCidr, (given, gone, asked) => {
        const holdings = new OutsideHoldings<{ readonly cidr: Cidr }>();
        const all = given.map((each) => ({ cidr: each }));
        for (const holding of all) holdings.add(holding);
        const deleted = gone.flatMap((index) => all[index] ?? []);
        for (const holding of deleted) holdings.delete(holding);
        const left = all.filter((holding) => !deleted.includes(holding));

        expect(new Set(holdings)).toEqual(new Set(left));
        expect(new Set(holdings.sharing(asked))).toEqual(
          new Set(left.filter((holding) => overlaps(holding.cidr, asked))),
        );
      }),
    );
  });

  test('of a whole fleet are not searched one by one', () => {
    const holdings = new OutsideHoldings<{ readonly cidr: Cidr }>();
    let reads = 0;
    for (let index = 0; index < 1000; index++) {
      const own = network('ipv4', BigInt(0x0a00_0000 + index * 256), 24);
      const counted = {
        family: own.family,
        length: own.length,
        get base() {
          reads++;
          return own.base;
        },
      };
      holdings.add({ cidr: counted });
    }
    const before = reads;

    expect([...holdings.sharing(cidr('10.0.7.64/26'))].map((each) => cidrText(each.cidr))).toEqual([
      '10.0.7.0/24',
    ]);
    expect(reads - before).toBeLessThan(10);
  });
});
