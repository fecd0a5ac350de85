import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  MultiPoolAllocator,
  type OfferedBlock,
} from '../../../../src/agent/allocators/multi-pool-allocator.ts';
import type { NextRequest } from '../../../../src/agent/allocators/allocator.ts';
import { addressText, parseAddress, parseCidr } from '../../../../src/blocks/set/cidr.ts';
import { Random } from '../../../../src/runtime/random.ts';

const value = (ip: string): bigint => parseAddress(ip)?.value ?? -1n;
const any = { owner: 'a/b', rank: () => 0 };

function block(text: string, more: Partial<OfferedBlock> = {}): OfferedBlock {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return { cidr: reading.cidr, allowsFirst: false, allowsLast: false, details: {}, isUsable: true, ...more };
}

function allocatorOf(...blocks: readonly OfferedBlock[]): MultiPoolAllocator {
  const allocator = new MultiPoolAllocator('ipv4', new Random('pool'));
  allocator.take(blocks);
  return allocator;
}

const next = (allocator: MultiPoolAllocator, rank: NextRequest['rank'] = any.rank): string => {
  const outcome = allocator.allocateNext({ ...any, rank });
  return outcome.kind === 'ok'
    ? addressText({ family: 'ipv4', value: outcome.value })
    : outcome.error.message;
};

const dry = 'all CIDR ranges are exhausted';

describe('the blocks of a pool', () => {
  test.each([
    ['10.0.0.0/30', {}, 2],
    ['10.0.0.0/30', { allowsFirst: true }, 3],
    ['10.0.0.0/30', { allowsFirst: true, allowsLast: true }, 4],
    ['10.0.0.0/31', {}, 2],
    ['10.0.0.0/32', {}, 1],
  ])('of %s with %j give %i addresses, each once', (cidr, ends, count) => {
    const allocator = allocatorOf(block(cidr, ends));
    const given = Array.from({ length: count }, () => next(allocator));

    expect(new Set(given).size).toBe(count);
    expect(allocator.capacity).toBe(BigInt(count));
    expect(next(allocator)).toBe(dry);
  });

  test('stay while an end is in use that their pool no longer allows', () => {
    const allocator = allocatorOf(block('10.0.0.0/30'));
    allocator.restore(value('10.0.0.3'));

    expect(allocator.blocks).toMatchObject([{ cidr: '10.0.0.0/30', used: 1, free: 2 }]);
    expect([allocator.taken, allocator.capacity]).toEqual([1, 3n]);
    expect([next(allocator), next(allocator)].toSorted()).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(next(allocator)).toBe(dry);
    allocator.take([]);
    for (const ip of ['10.0.0.1', '10.0.0.2']) allocator.release(value(ip));
    allocator.take([]);
    expect(allocator.cidrs).toEqual(['10.0.0.0/30']);
    allocator.release(value('10.0.0.3'));
    allocator.take([]);
    expect(allocator.cidrs).toEqual([]);
  });

  test('are used in their order', () => {
    const allocator = allocatorOf(block('10.0.1.0/32'), block('10.0.0.0/32'));

    expect([next(allocator), next(allocator)]).toEqual(['10.0.1.0', '10.0.0.0']);
  });

  test('that pods still show are used after all others', () => {
    const allocator = allocatorOf(block('10.0.1.0/32'), block('10.0.0.0/32'));
    const rank = (address: bigint): number => (address === value('10.0.1.0') ? 1 : 0);

    expect([next(allocator, rank), next(allocator, rank)]).toEqual(['10.0.0.0', '10.0.1.0']);
  });

  test('that are gone give nothing new, stay while in use, and have what is held when they come', () => {
    const allocator = allocatorOf(block('10.0.0.0/32'), block('10.0.1.0/32'));
    expect(next(allocator)).toBe('10.0.0.0');
    allocator.restore(value('10.0.2.0'));

    allocator.take([block('10.0.2.0/31')]);

    expect(allocator.cidrs).toEqual(['10.0.2.0/31', '10.0.0.0/32']);
    expect(allocator.allocate(value('10.0.2.0'))).toMatchObject({ error: { kind: 'inUse' } });
    expect([next(allocator), next(allocator)]).toEqual(['10.0.2.1', dry]);
    allocator.release(value('10.0.0.0'));
    expect(next(allocator)).toBe(dry);
    allocator.take([]);
    expect(allocator.cidrs).toEqual(['10.0.2.0/31']);
  });

  test.each([
    ['outside', '10.9.0.0', 'IP 10.9.0.0 not in range of any CIDR'],
    ['of a block that is to go', '10.0.1.0', 'IP 10.0.1.0 not in range of any CIDR'],
  ])('refuse an address %s', (_, ip, message) => {
    const allocator = allocatorOf(block('10.0.0.0/32'), block('10.0.1.0/32', { isUsable: false }));

    expect(allocator.allocate(value(ip))).toEqual({ kind: 'failed', error: { kind: 'outOfRange', message } });
  });

  test('never give an address twice, nor one of a block that is not usable', () => {
    const part = fc.integer({ min: 0, max: 3 });
    const step = fc.record({
      kind: fc.constantFrom('next', 'release', 'take'),
      part,
      blocks: fc.uniqueArray(fc.record({ part, isUsable: fc.boolean() }), { selector: (each) => each.part }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const allocator = allocatorOf();
        const held: bigint[] = [];
        let usable = new Set<bigint>();
        const play: Readonly<Record<string, (at: (typeof steps)[number]) => void>> = {
          take: ({ blocks }) => {
            allocator.take(blocks.map((each) => block(`10.0.${each.part}.0/31`, each)));
            usable = new Set(blocks.filter((each) => each.isUsable).map((each) => BigInt(each.part)));
          },
          release: ({ part: at }) => {
            for (const each of held.splice(at, 1)) allocator.release(each);
          },
          next: () => {
            const outcome = allocator.allocateNext(any);
            const isFull = usable.size * 2 === held.filter((each) => usable.has((each >> 8n) & 255n)).length;
            expect(outcome.kind).toBe(isFull ? 'failed' : 'ok');
            if (outcome.kind === 'failed') return;
            expect(held).not.toContain(outcome.value);
            expect(usable.has((outcome.value >> 8n) & 255n)).toBe(true);
            held.push(outcome.value);
          },
        };
        for (const each of steps) play[each.kind]?.(each);
        expect(allocator.taken).toBe(held.length);
      }),
    );
  });
});

describe('the network of an address', () => {
  const details = { subnet: '10.1.0.0/20', gateway: '10.1.0.1' };

  test.each<readonly [string, OfferedBlock, string, object | undefined]>([
    ['its block, with the address that no pod gets', block('10.0.0.0/24'), '10.0.0.7', [24, '10.0.0.0']],
    ['its block alone, if pods get all', block('10.0.0.0/24', { allowsFirst: true }), '10.0.0.7', [24, '']],
    ['its block alone, if that is small', block('10.0.0.6/31'), '10.0.0.7', [31, '']],
    ['its subnet', block('10.1.2.16/28', { allowsFirst: true, details }), '10.1.2.17', [20, '10.1.0.1']],
    ['unknown outside its subnet', block('10.2.0.0/28', { details }), '10.2.0.1', undefined],
    ['unknown without a block', block('10.2.0.0/28'), '10.3.0.1', undefined],
  ])('is %s', (_, offered, ip, expected) => {
    const found = allocatorOf(offered).networkOf(value(ip));

    const gateway = found?.gateway;
    const text = gateway === undefined ? '' : addressText({ family: 'ipv4', value: gateway });
    expect(found && [found.length, text]).toEqual(expected);
  });

  test('is a /64 with the address of its routers, of a single address of IPv6 of an interface', () => {
    const allocator = new MultiPoolAllocator('ipv6', new Random('pool'));
    const ends = { allowsFirst: true, allowsLast: true };
    allocator.take([block('fd00:1::20/128', { ...ends, details: { mac: '02:00:00:00:00:01' } })]);

    expect(allocator.networkOf(value('fd00:1::20'))).toEqual({ length: 64, gateway: value('fd00:1::') });
  });

  test('has no gateway while a pod holds it', () => {
    const allocator = allocatorOf(block('10.0.0.0/24'));
    allocator.restore(value('10.0.0.0'));

    expect(allocator.networkOf(value('10.0.0.7'))).toEqual({ length: 24, gateway: undefined });
  });
});
