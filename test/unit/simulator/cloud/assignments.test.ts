import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { assign, assignIpv6, unassign, unassignIpv6 } from '../../../../src/simulator/cloud/assignments.ts';
import { attach } from '../../../../src/simulator/cloud/attachments.ts';
import type { CloudNetwork } from '../../../../src/simulator/cloud/cloud-network.ts';
import { CloudRefusal } from '../../../../src/simulator/cloud/cloud-refusal.ts';
import { nothing } from '../../../../src/simulator/cloud/claims.ts';
import { plainInterface } from '../../../../src/simulator/cloud/instances.ts';
import { noIpv6 } from '../../../../src/simulator/cloud/ipv6-claims.ts';
import { createInterface, deleteInterface } from '../../../../src/simulator/cloud/network-interfaces.ts';
import type { NetworkInterface } from '../../../../src/simulator/cloud/records.ts';
import { networkRig, problemOf } from './network-rig.ts';

const make = (network: CloudNetwork, subnetId = 'subnet-0000000a'): NetworkInterface =>
  createInterface(network, plainInterface(subnetId, []));

const primaryOf = (network: CloudNetwork, instanceId: string): NetworkInterface =>
  [...network.interfaces.values()].find((one) => one.instanceId === instanceId) as NetworkInterface;

const count = (number: number) => ({ ...nothing, count: number });
const named = (...addresses: string[]) => ({ ...nothing, addresses });

describe('an assignment', () => {
  test('adds addresses and prefixes, and says which', () => {
    const { network } = networkRig();
    const { id } = make(network);

    const claimed = assign(network, id, { ...nothing, count: 2, prefixCount: 1 }, false);

    expect(claimed.addresses).toHaveLength(2);
    expect(network.interfaces.get(id)?.addresses.slice(1)).toEqual(claimed.addresses);
    expect(network.interfaces.get(id)?.prefixes).toEqual(claimed.prefixes);
  });

  test.each([
    ['i-00000001', 9, 10],
    ['i-00000002', 1, 2],
  ])('gives %s %i addresses beyond the primary one, but not %i', (instanceId, max, beyond) => {
    const { network } = networkRig();
    const { id } = primaryOf(network, instanceId);

    expect(problemOf(() => assign(network, id, count(beyond), false))).toMatchObject({
      kind: 'addressLimit',
    });
    assign(network, id, count(max), false);

    expect(network.interfaces.get(id)?.addresses).toHaveLength(max + 1);
  });

  test('fills one slot with a prefix, as with an address', () => {
    const { network } = networkRig();
    const { id } = primaryOf(network, 'i-00000001');
    assign(network, id, { ...nothing, prefixCount: 5 }, false);
    assign(network, id, count(4), false);

    const refused = problemOf(() => assign(network, id, { ...nothing, prefixCount: 1 }, false));

    expect(refused).toMatchObject({ kind: 'addressLimit', limit: 10 });
  });

  test('refuses prefixes on types that are not built on Nitro', () => {
    const { network } = networkRig();
    const { id } = primaryOf(network, 'i-00000002');

    const refused = problemOf(() => assign(network, id, { ...nothing, prefixCount: 1 }, false));

    expect(refused).toEqual({ kind: 'prefixesUnsupported', type: 't2.micro' });
  });

  test('moves an address of another interface only when that is allowed', () => {
    const { network } = networkRig();
    const from = make(network);
    const to = make(network);
    assign(network, from.id, named('10.0.0.99'), false);

    expect(problemOf(() => assign(network, to.id, named('10.0.0.99'), false))).toEqual({
      kind: 'moveNotAllowed',
      addresses: ['10.0.0.99'],
    });
    assign(network, to.id, named('10.0.0.99'), true);

    expect(network.interfaces.get(from.id)?.addresses).toEqual([from.primaryAddress]);
    expect(network.interfaces.get(to.id)?.addresses).toEqual([to.primaryAddress, '10.0.0.99']);
  });

  test('never moves a primary address, and changes nothing when the address is there already', () => {
    const { network } = networkRig();
    const [first, second] = [make(network), make(network)];
    assign(network, first.id, named('10.0.0.99'), false);

    const refused = problemOf(() => assign(network, second.id, named(first.primaryAddress), true));
    const again = assign(network, first.id, named('10.0.0.99'), false);

    expect(refused).toMatchObject({ kind: 'moveOfPrimary' });
    expect(again.addresses).toEqual(['10.0.0.99']);
    expect(network.interfaces.get(first.id)?.addresses).toHaveLength(2);
  });

  test('refuses an address inside a prefix of another interface', () => {
    const { network } = networkRig();
    const [first, second] = [make(network), make(network)];
    const { prefixes } = assign(network, first.id, { ...nothing, prefixCount: 1 }, false);
    const inside = (prefixes[0] ?? '').replace('/28', '');

    expect(problemOf(() => assign(network, second.id, named(inside), true))).toMatchObject({
      kind: 'addressHeld',
    });
  });
});

describe('an unassignment', () => {
  test('takes all addresses or none', () => {
    const { network } = networkRig();
    const { id } = make(network);
    const { addresses } = assign(network, id, count(2), false);
    const [one = '', other = ''] = addresses;

    const refused = problemOf(() => unassign(network, id, { addresses: [one, '10.0.0.200'], prefixes: [] }));
    unassign(network, id, { addresses: [other], prefixes: [] });

    expect(refused).toEqual({ kind: 'notAssigned', interfaceId: id });
    expect(network.interfaces.get(id)?.addresses.slice(1)).toEqual([one]);
  });

  test('never takes the primary address', () => {
    const { network } = networkRig();
    const { id, primaryAddress } = make(network);

    const refused = problemOf(() => unassign(network, id, { addresses: [primaryAddress], prefixes: [] }));

    expect(refused).toMatchObject({ kind: 'primaryNotReleasable' });
  });

  test('takes prefixes of both families in the form in which they were assigned', () => {
    const { network } = networkRig();
    const { id } = make(network);
    const before = network.subnets.get('subnet-0000000a')?.available;
    const { prefixes } = assign(network, id, { ...nothing, prefixCount: 2 }, false);
    const held = assignIpv6(network, id, { ...noIpv6, prefixCount: 1 });

    unassign(network, id, { addresses: [], prefixes });
    unassignIpv6(network, id, held);

    expect(network.interfaces.get(id)).toMatchObject({ prefixes: [], ipv6Prefixes: [] });
    expect(network.subnets.get('subnet-0000000a')?.available).toBe(before);
  });
});

test('no address is on two interfaces, and every subnet counts right, in any history', () => {
  const step = fc.record({
    what: fc.constantFrom('create', 'delete', 'assign', 'prefix', 'unassign', 'attach'),
    which: fc.nat(20),
  });

  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { network } = networkRig();
      for (const { what, which } of steps) attempt(network, what, which);
      const held = [...network.interfaces.values()].flatMap((one) => [...one.addresses, ...one.prefixes]);
      expect(new Set(held).size).toBe(held.length);
      for (const subnet of network.subnets.values())
        expect(subnet.available).toBe(countOf(network, subnet.id));
    }),
    { numRuns: 40 },
  );
});

function attempt(network: CloudNetwork, what: string, which: number): void {
  const all = [...network.interfaces.values()];
  const { id = '', addresses = [] } = all[which % all.length] ?? {};
  const acts: Record<string, () => unknown> = {
    create: () =>
      createInterface(network, plainInterface(which % 2 ? 'subnet-0000000a' : 'subnet-0000000f', [])),
    delete: () => deleteInterface(network, id),
    assign: () => assign(network, id, count(1 + (which % 4)), false),
    prefix: () => assign(network, id, { ...nothing, prefixCount: 1 }, false),
    unassign: () => unassign(network, id, { addresses: addresses.slice(1, 3), prefixes: [] }),
    attach: () =>
      attach(network, { interfaceId: id, instanceId: 'i-00000001', deviceIndex: which, cardIndex: 0 }),
  };
  try {
    acts[what]?.();
  } catch (error) {
    if (!(error instanceof CloudRefusal)) throw error;
  }
}

function countOf(network: CloudNetwork, subnetId: string): number {
  const size = subnetId === 'subnet-0000000f' ? 16 : 256;
  const inside = [...network.interfaces.values()].filter((one) => one.subnetId === subnetId);
  return inside.reduce((free, one) => free - one.addresses.length - 16 * one.prefixes.length, size - 5);
}
