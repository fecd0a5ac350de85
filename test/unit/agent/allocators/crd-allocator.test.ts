import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  CrdAllocator,
  type Offer,
  type OfferedAddress,
  type ShownInterface,
} from '../../../../src/agent/allocators/crd-allocator.ts';
import type { NextRequest } from '../../../../src/agent/allocators/allocator.ts';
import { addressText, parseAddress, parseCidr } from '../../../../src/blocks/set/cidr.ts';
import { Random } from '../../../../src/runtime/random.ts';

const value = (ip: string): bigint => parseAddress(ip)?.value ?? -1n;
const text = (address: bigint): string => addressText({ family: 'ipv4', value: address });
const any: NextRequest = { owner: 'a/b', rank: () => 0 };

function shown(prefixes: readonly string[] = [], lacks?: string): ShownInterface {
  const read = prefixes.map((prefix) => parseCidr(prefix));
  return {
    details: { ipv4: {}, ipv6: {} },
    prefixes: read.flatMap((each) => (each.kind === 'cidr' ? [each.cidr] : [])),
    lacks: { ipv4: lacks, ipv6: undefined },
  };
}

type Entries = Readonly<Record<string, Partial<OfferedAddress>>>;

function offer(
  entries: Entries,
  interfaces: Readonly<Record<string, ShownInterface>> = { e1: shown() },
): Offer {
  const addresses = Object.entries(entries).map(
    ([ip, entry]) => [value(ip), { resource: 'e1', owner: '', isLeaving: false, ...entry }] as const,
  );
  return { addresses: new Map(addresses), interfaces: new Map(Object.entries(interfaces)) };
}

const allocatorOf = (...args: Parameters<typeof offer>): CrdAllocator =>
  new CrdAllocator('ipv4', offer(...args), new Random('crd'));

const next = (allocator: CrdAllocator, request: Partial<typeof any> = {}): string => {
  const outcome = allocator.allocateNext({ ...any, ...request });
  return outcome.kind === 'ok' ? text(outcome.value) : outcome.error.message;
};

const dry =
  'no IPs currently available on the node, allocation will be retried once Cilium Operator allocates more IPs';

describe('the addresses that a CiliumNode offers', () => {
  test.each<readonly [string, Entries, string, string, string]>([
    [
      'in hand-over',
      { '10.0.0.1': { isLeaving: true } },
      '10.0.0.1',
      'inUse',
      'IP not available, marked or ready for release',
    ],
    ['of another node', {}, '10.0.0.1', 'outOfRange', 'IP 10.0.0.1 is not available'],
    [
      'whose interface is not shown',
      { '10.0.0.1': { resource: 'e9' } },
      '10.0.0.1',
      'poolNotReady',
      'failed to associate IP 10.0.0.1 inside CiliumNode: unable to find ENI e9',
    ],
    [
      'whose interface is shown in part',
      { '10.0.0.1': { resource: 'e2' } },
      '10.0.0.1',
      'poolNotReady',
      'failed to associate IP 10.0.0.1 inside CiliumNode: ENI e2 has no MAC address yet',
    ],
  ])('are refused: %s', (_, entries, ip, kind, message) => {
    const allocator = allocatorOf(entries, { e1: shown(), e2: shown([], 'MAC address') });

    expect(allocator.allocate(value(ip))).toEqual({ kind: 'failed', error: { kind, message } });
    expect(next(allocator)).toBe(dry);
    expect(allocator.capacity).toBe(0n);
  });

  test('are taken once, and free again after a release', () => {
    const allocator = allocatorOf({ '10.0.0.1': {} });

    expect(next(allocator)).toBe('10.0.0.1');
    expect(allocator.allocate(value('10.0.0.1'))).toMatchObject({ error: { kind: 'inUse' } });
    allocator.release(value('10.0.0.1'));
    expect(next(allocator)).toBe('10.0.0.1');
  });

  test('fill the interface with most in use, and in it the prefix with most in use', () => {
    const entries = {
      '10.0.0.1': {},
      '10.0.0.2': {},
      '10.0.1.1': { resource: 'e2' },
      '10.0.1.33': { resource: 'e2' },
      '10.0.1.16': { resource: 'e2' },
      '10.0.1.17': { resource: 'e2' },
      '10.0.1.32': { resource: 'e2' },
    };
    const allocator = allocatorOf(entries, { e1: shown(), e2: shown(['10.0.1.16/28', '10.0.1.32/28']) });
    allocator.restore(value('10.0.1.16'));

    expect(Array.from({ length: 2 }, () => next(allocator))).toEqual(['10.0.1.17', '10.0.1.1']);
    expect(next(allocator)).toMatch(/^10\.0\.1\.3[23]$/);
    expect(next(allocator)).toMatch(/^10\.0\.1\.3[23]$/);
    expect(next(allocator)).toMatch(/^10\.0\.0\.[12]$/);
  });

  test('that are of an owner go to it alone', () => {
    const allocator = allocatorOf({ '10.0.0.1': { owner: 'x/y' }, '10.0.0.2': {} });

    expect(next(allocator)).toBe('10.0.0.2');
    expect(next(allocator)).toBe(dry);
    expect(next(allocator, { owner: 'x/y' })).toBe('10.0.0.1');
  });

  test('that a pod still shows are used last', () => {
    const allocator = allocatorOf({ '10.0.0.1': {}, '10.0.0.2': {} });
    const rank = (address: bigint): number => (text(address) === '10.0.0.1' ? 1 : 0);

    expect(Array.from({ length: 2 }, () => next(allocator, { rank }))).toEqual(['10.0.0.2', '10.0.0.1']);
  });

  test('never go to two owners, whatever is offered, marked, taken and released', () => {
    const last = fc.integer({ min: 1, max: 12 });
    const step = fc.record({
      kind: fc.constantFrom('next', 'release', 'offer'),
      last,
      pool: fc.dictionary(
        last.map(String),
        fc.record({ isLeaving: fc.boolean(), resource: fc.constantFrom('e1', 'e2', 'e3') }),
      ),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let entries: Entries = {};
        const allocator = allocatorOf(entries);
        const held = new Set<string>();
        const play: Readonly<Record<string, (at: (typeof steps)[number]) => void>> = {
          offer: ({ pool }) => {
            entries = Object.fromEntries(
              Object.entries(pool).map(([end, entry]) => [`10.0.0.${end}`, entry]),
            );
            allocator.take(
              offer(entries, { e1: shown(), e2: shown(['10.0.0.0/30']), e3: shown([], 'gateway') }),
            );
          },
          release: ({ last: end }) => {
            allocator.release(value(`10.0.0.${end}`));
            held.delete(`10.0.0.${end}`);
          },
          next: () => {
            const given = next(allocator);
            const isFree = ([ip, { isLeaving = false, resource = 'e1' }]: [
              string,
              Partial<OfferedAddress>,
            ]): boolean => !held.has(ip) && !isLeaving && resource !== 'e3';
            const free = Object.entries(entries)
              .filter(isFree)
              .map(([ip]) => ip);
            if (free.length === 0) expect(given).toBe(dry);
            else expect(free).toContain(given);
            if (free.length > 0) held.add(given);
          },
        };
        for (const each of steps) play[each.kind]?.(each);
      }),
    );
  });
});

describe('the network of an address that is offered', () => {
  const ofSubnet = {
    ...shown(),
    details: { ipv4: { subnet: '10.0.0.0/20', gateway: '10.0.0.1' }, ipv6: {} },
  };

  test.each<readonly [string, Entries, ShownInterface, object | undefined]>([
    ['the subnet of its interface', { '10.0.1.7': {} }, ofSubnet, { length: 20, gateway: value('10.0.0.1') }],
    ['unknown if its interface shows none', { '10.0.1.7': {} }, shown(), undefined],
    [
      'without a gateway that is offered as well',
      { '10.0.1.7': {}, '10.0.0.1': {} },
      ofSubnet,
      { length: 20, gateway: undefined },
    ],
  ])('is %s', (_, entries, e1, expected) => {
    expect(allocatorOf(entries, { e1 }).networkOf(value('10.0.1.7'))).toEqual(expected);
  });

  test('is a /64 with the address of its routers, of IPv6', () => {
    const addresses = new Map([[value('fd00:0:0:7::9'), { resource: '', owner: '', isLeaving: false }]]);
    const allocator = new CrdAllocator('ipv6', { addresses, interfaces: undefined }, new Random('crd'));

    const network = allocator.networkOf(value('fd00:0:0:7::9'));

    expect(network).toEqual({ length: 64, gateway: value('fd00:0:0:7::') });
  });
});
