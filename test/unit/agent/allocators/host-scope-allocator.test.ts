import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseAddress } from '../../../../src/blocks/set/cidr.ts';
import { blockOf } from '../agent-rig.ts';

const any = { rank: () => 0 };
const value = (ip: string): bigint => parseAddress(ip)?.value ?? -1n;

describe('a block of one node', () => {
  test.each([
    ['10.1.2.0/24', 254n, '10.1.2.1', '0/254 allocated from 10.1.2.0/24'],
    ['10.1.2.0/30', 2n, '10.1.2.1', '0/2 allocated from 10.1.2.0/30'],
    ['10.1.2.0/31', 2n, '10.1.2.0', '0/2 allocated from 10.1.2.0/31'],
    ['10.1.2.7/32', 1n, '10.1.2.7', '0/1 allocated from 10.1.2.7/32'],
    ['fd00::/127', 2n, 'fd00::', '0/2 allocated from fd00::/127'],
    ['fd00::/64', 2n ** 64n - 2n, 'fd00::1', '0/18446744073709551614 allocated from fd00::/64'],
  ])('has room, and a router: %s', (cidr, capacity, router, status) => {
    const block = blockOf(cidr);

    expect(block.capacity).toBe(capacity);
    expect(block.router).toBe(value(router));
    expect(block.status()).toBe(status);
  });

  test.each([
    [
      '10.1.2.0',
      'outOfRange',
      'provided IP is not in the valid range. The range of valid IPs is 10.1.2.0/24',
    ],
    [
      '10.1.2.255',
      'outOfRange',
      'provided IP is not in the valid range. The range of valid IPs is 10.1.2.0/24',
    ],
    [
      '10.1.3.1',
      'outOfRange',
      'provided IP is not in the valid range. The range of valid IPs is 10.1.2.0/24',
    ],
    ['10.1.2.9', 'inUse', 'provided IP is already allocated'],
  ])('refuses %s', (ip, kind, message) => {
    const block = blockOf('10.1.2.0/24');
    block.allocate(value('10.1.2.9'));

    expect(block.allocate(value(ip))).toEqual({ kind: 'failed', error: { kind, message } });
  });

  test.each(['10.1.2.0/25', 'fd00::/121', '10.1.2.0/30'])(
    'gives out each address once, then is full: %s',
    (cidr) => {
      const block = blockOf(cidr);
      const given = Array.from({ length: Number(block.capacity) }, () => block.allocateNext(any));

      expect(given.filter(({ kind }) => kind !== 'ok')).toEqual([]);
      expect(new Set(given.map((outcome) => outcome.kind === 'ok' && outcome.value)).size).toBe(given.length);
      expect(block.allocateNext(any)).toMatchObject({
        kind: 'failed',
        error: { kind: 'exhausted', message: 'range is full' },
      });
    },
  );

  test('agrees with a set of addresses, whatever is taken and released', () => {
    const action = fc.record({
      kind: fc.constantFrom('next', 'take', 'release'),
      offset: fc.integer({ min: -2, max: 70 }),
    });
    const cidrs = fc.constantFrom('10.1.2.64/26', 'fd00::40/122');
    fc.assert(
      fc.property(cidrs, fc.array(action, { maxLength: 200 }), (cidr, actions) => {
        const block = blockOf(cidr);
        const base = (block.router ?? 0n) - 1n;
        const taken = new Set<bigint>();
        const isUsable = (address: bigint): boolean => address > base && address < base + 63n;
        const steps: Readonly<Record<string, (address: bigint) => void>> = {
          next: () => {
            const outcome = block.allocateNext(any);
            const given = outcome.kind === 'ok' ? outcome.value : undefined;
            expect(given === undefined ? taken.size === 62 : isUsable(given) && !taken.has(given)).toBe(true);
            if (given !== undefined) taken.add(given);
          },
          take: (address) => {
            expect(block.allocate(address).kind === 'ok').toBe(isUsable(address) && !taken.has(address));
            if (isUsable(address)) taken.add(address);
          },
          release: (address) => {
            block.release(address);
            taken.delete(address);
          },
        };
        for (const { kind, offset } of actions) {
          steps[kind]?.(base + BigInt(offset));
          expect(block.taken).toBe(taken.size);
        }
      }),
    );
  });
});
