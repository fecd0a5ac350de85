import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Random } from '../../../../src/runtime/random.ts';
import { AddressSpace } from '../../../../src/simulator/cloud/address-space.ts';
import { type Ipv4Block, parseIpv4, parseIpv4Block } from '../../../../src/simulator/cloud/ipv4.ts';

const block = (text: string): Ipv4Block => parseIpv4Block(text) as Ipv4Block;
const address = (text: string): number => parseIpv4(text) as number;

function space(text: string, reuse = 0): AddressSpace {
  return new AddressSpace({ block: block(text), random: new Random('space'), reuse });
}

describe('AddressSpace', () => {
  test.each([
    ['10.0.0.0/28', 11],
    ['10.0.0.0/24', 251],
    ['10.0.0.0/16', 65_531],
  ])('%s has %i addresses beyond the cloud’s own five', (text, available) => {
    expect(space(text).available).toBe(available);
  });

  test.each([
    ['10.0.0.0', 'reserved'],
    ['10.0.0.3', 'reserved'],
    ['10.0.0.4', undefined],
    ['10.0.0.255', 'reserved'],
    ['10.0.1.4', 'outside'],
  ])('answers a request for the address %s by name with %p', (text, obstacle) => {
    expect(space('10.0.0.0/24').obstacleTo(address(text))).toBe(obstacle);
  });

  test.each([
    ['10.0.0.16/28', undefined],
    ['10.0.0.0/28', 'reserved'],
    ['10.0.0.240/28', 'reserved'],
    ['10.0.0.16/27', 'misaligned'],
    ['10.0.1.16/28', 'outside'],
  ])('answers a request for the prefix %s by name with %p', (text, obstacle) => {
    expect(space('10.0.0.0/24').obstacleToPrefix(block(text))).toBe(obstacle);
  });

  test('hands out every address once, in random order', () => {
    const subnet = space('10.0.0.0/24');

    const taken = Array.from({ length: 251 }, () => subnet.takeAddress());

    expect(new Set(taken).size).toBe(251);
    expect(taken).not.toEqual(taken.toSorted((a, b) => a - b));
    expect(subnet.shortage(1, 0)).toBe('addresses');
  });

  test('has addresses but no whole prefix when one address of each block is taken', () => {
    const subnet = space('10.0.0.0/24');
    for (let first = 16; first < 240; first += 16) subnet.holdAddress(address('10.0.0.0') + first);

    expect(subnet.available).toBe(251 - 14);
    expect(subnet.shortage(0, 1)).toBe('blocks');
    expect(subnet.shortage(0, 15)).toBe('prefixAddresses');
    expect(subnet.shortage(237, 0)).toBeUndefined();
  });

  test('hands out a prefix again after it is released', () => {
    const subnet = space('10.0.0.0/26');
    const taken = [subnet.takePrefix(), subnet.takePrefix()];
    expect(subnet.shortage(0, 1)).toBe('blocks');

    subnet.releasePrefix(taken[0] as number);

    expect(subnet.takePrefix()).toBe(taken[0]);
  });

  test('serves prefixes before addresses from a block reserved for prefixes, and never single addresses', () => {
    const subnet = space('10.0.0.0/24');

    subnet.reserve(block('10.0.0.64/26'), 'prefix');

    expect(subnet.available).toBe(251 - 64);
    const prefixes = Array.from({ length: 4 }, () => subnet.takePrefix());
    expect(prefixes.every((first) => first >= address('10.0.0.64') && first < address('10.0.0.128'))).toBe(
      true,
    );
    expect(subnet.available).toBe(251 - 64);
    expect(subnet.obstacleTo(address('10.0.0.70'))).toBe('reserved');
  });

  test('hands out addresses reserved for explicit requests by name only', () => {
    const subnet = space('10.0.0.0/27');
    subnet.reserve(block('10.0.0.16/28'), 'explicit');

    const taken = Array.from({ length: subnet.available }, () => subnet.takeAddress());

    expect(Math.max(...taken)).toBeLessThan(address('10.0.0.16'));
    expect(subnet.obstacleTo(address('10.0.0.20'))).toBeUndefined();
    subnet.open(block('10.0.0.16/28'));
    expect(subnet.available).toBe(15);
  });

  test('prefers a freed address when reuse is certain', () => {
    const subnet = space('10.0.0.0/16', 1);
    const first = subnet.takeAddress();
    subnet.takeAddress();

    subnet.releaseAddress(first);

    expect(subnet.takeAddress()).toBe(first);
  });

  test('throws when an address is taken or released twice', () => {
    const subnet = space('10.0.0.0/24');
    subnet.holdAddress(address('10.0.0.9'));

    expect(() => subnet.holdAddress(address('10.0.0.9'))).toThrow('taken twice');
    expect(() => subnet.releaseAddress(address('10.0.0.10'))).toThrow('released twice');
  });

  test('never hands out an address twice and counts free addresses right, in any history', () => {
    const step = fc.constantFrom('address', 'prefix', 'freeAddress', 'freePrefix');

    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.string(), (steps, seed) => {
        const subnet = new AddressSpace({
          block: block('10.0.0.0/25'),
          random: new Random(seed),
          reuse: 0.5,
        });
        const addresses = new Set<number>();
        const prefixes = new Set<number>();
        for (const what of steps) take(subnet, what, addresses, prefixes);
        const covered = [...prefixes].flatMap((first) =>
          Array.from({ length: 16 }, (_, index) => first + index),
        );
        const held = [...addresses, ...covered];
        expect(new Set(held).size).toBe(held.length);
        expect(subnet.available).toBe(128 - 5 - held.length);
      }),
    );
  });
});

function take(subnet: AddressSpace, what: string, addresses: Set<number>, prefixes: Set<number>): void {
  const [someAddress] = addresses;
  const [somePrefix] = prefixes;
  if (what === 'address' && subnet.shortage(1, 0) === undefined) addresses.add(subnet.takeAddress());
  if (what === 'prefix' && subnet.shortage(0, 1) === undefined) prefixes.add(subnet.takePrefix());
  if (what === 'freeAddress' && someAddress !== undefined) {
    subnet.releaseAddress(someAddress);
    addresses.delete(someAddress);
  }
  if (what === 'freePrefix' && somePrefix !== undefined) {
    subnet.releasePrefix(somePrefix);
    prefixes.delete(somePrefix);
  }
}
