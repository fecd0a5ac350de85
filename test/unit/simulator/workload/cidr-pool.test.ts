import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Random } from '../../../../src/runtime/random.ts';
import type { AttachedCidr } from '../../../../src/simulator/workload/attached-cidrs.ts';
import { CidrPool, type TakenAddress } from '../../../../src/simulator/workload/cidr-pool.ts';
import { parseCidr } from '../../../../src/simulator/workload/ipv4.ts';

function attached(...texts: readonly string[]): ReadonlyMap<string, AttachedCidr> {
  const found = new Map<string, AttachedCidr>();
  for (const text of texts) {
    const range = parseCidr(text) ?? { first: 0, bits: 32 };
    found.set(text, { text, range, interfaceId: 'eni-1' });
  }
  return found;
}

function poolOf(...texts: readonly string[]): CidrPool {
  const pool = new CidrPool();
  pool.update(attached(...texts));
  return pool;
}

const random = new Random('cidr pool');

describe('CidrPool', () => {
  test('hands out every address of a CIDR, first and last included, once each', () => {
    const pool = poolOf('10.0.0.16/28', '10.0.0.1/32');

    const taken = Array.from({ length: 18 }, () => pool.takeAny(random)?.address);

    expect(new Set(taken.slice(0, 16))).toEqual(
      new Set(Array.from({ length: 16 }, (_, index) => `10.0.0.${16 + index}`)),
    );
    expect(taken.slice(16)).toEqual(['10.0.0.1', undefined]);
    expect([pool.inUse, pool.hasFree]).toEqual([17, false]);
  });

  test('takes one certain address once', () => {
    const pool = poolOf('10.0.0.16/28');

    const answers = ['10.0.0.20', '10.0.0.20', '10.0.0.40', 'ten'].map((text) => pool.take(text)?.cidr);

    expect(answers).toEqual(['10.0.0.16/28', undefined, undefined, undefined]);
  });

  test('a dropped CIDR is not taken up again while it stays attached, but is once it came anew', () => {
    const pool = poolOf('10.0.0.1/32', '10.0.0.2/32');
    pool.balance(1);

    pool.update(attached('10.0.0.1/32', '10.0.0.2/32'));
    const whileAttached = pool.cidrs;
    pool.update(attached('10.0.0.1/32'));
    pool.update(attached('10.0.0.1/32', '10.0.0.2/32'));

    expect(whileAttached).toEqual(['10.0.0.1/32']);
    expect(pool.cidrs).toEqual(['10.0.0.1/32', '10.0.0.2/32']);
  });

  test('takes a dropped CIDR back when more is needed, and can allocate from it at once', () => {
    const pool = poolOf('10.0.0.1/32', '10.0.0.2/32');
    pool.balance(1);
    pool.takeAny(random);

    const balance = pool.balance(1);

    expect(balance).toEqual({ dropped: [], reclaimed: ['10.0.0.2/32'] });
    expect(pool.takeAny(random)).toEqual({ address: '10.0.0.2', cidr: '10.0.0.2/32' });
  });

  test('a dropped CIDR that is no longer attached cannot be taken back', () => {
    const pool = poolOf('10.0.0.1/32', '10.0.0.2/32');
    pool.balance(1);

    pool.update(attached('10.0.0.1/32'));

    expect(pool.balance(2)).toEqual({ dropped: [], reclaimed: [] });
  });

  test('a CIDR that vanished is kept while an address of it is in use, and nothing new is taken from it', () => {
    const pool = poolOf('10.0.0.16/28');
    const taken = pool.takeAny(random) as TakenAddress;

    pool.update(attached());
    const whileInUse = { cidrs: pool.cidrs, next: pool.takeAny(random), free: pool.hasFree };
    pool.release(taken);
    pool.balance(0);

    expect(whileInUse).toEqual({ cidrs: ['10.0.0.16/28'], next: undefined, free: false });
    expect(pool.cidrs).toEqual([]);
  });

  test('a CIDR that vanished was not dropped: it is held again as soon as it is back', () => {
    const pool = poolOf('10.0.0.1/32');
    const taken = pool.takeAny(random) as TakenAddress;
    pool.update(attached());
    pool.release(taken);
    pool.balance(0);

    pool.update(attached('10.0.0.1/32'));

    expect(pool.cidrs).toEqual(['10.0.0.1/32']);
  });

  test('never loses an address in use, whatever happens', () => {
    const all = ['10.0.0.16/28', '10.0.0.32/28', '10.0.1.1/32', '10.0.1.2/32', '10.0.1.3/32'];
    const step = fc.oneof(
      fc.constant({ kind: 'take' as const }),
      fc.record({ kind: fc.constant('give' as const), which: fc.nat(40) }),
      fc.record({ kind: fc.constant('balance' as const), freeNeeded: fc.nat(20) }),
      fc.record({ kind: fc.constant('attach' as const), cidrs: fc.subarray(all) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pool = poolOf(...all);
        const taken: TakenAddress[] = [];
        for (const each of steps) {
          if (each.kind === 'take') taken.push(...[pool.takeAny(random)].filter((one) => one !== undefined));
          if (each.kind === 'give') taken.splice(each.which, 1).forEach((one) => pool.release(one));
          if (each.kind === 'balance') pool.balance(each.freeNeeded);
          if (each.kind === 'attach') pool.update(attached(...each.cidrs));

          expect(pool.inUse).toBe(taken.length);
          expect(new Set(taken.map((one) => one.address)).size).toBe(taken.length);
          expect(taken.filter((one) => !pool.cidrs.includes(one.cidr))).toEqual([]);
        }
      }),
    );
  });
});
