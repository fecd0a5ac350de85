import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Observation } from '../../../../src/providers/contract/facts.ts';
import { addressless, eni, further, inventoryRig, unreadable } from '../inventory-rig.ts';

const second = further(1, { addresses: ['a', 'b'] });

describe('a listing that does not show the primary interface of an instance', () => {
  test.each<[string, readonly (Observation | NetworkInterface)[]]>([
    ['nothing of it', []],
    ['another interface, so that more may be hidden', [second]],
    ['another interface and what has no address', [second, addressless('eni-9', 1)]],
  ])('leaves it unread until a refresh: it shows %s', (_, shown) => {
    const rig = inventoryRig();

    rig.list(0, ...shown);
    const { read, refreshDue } = rig.view();
    rig.refresh(10, eni('c'), second);

    expect({ read, refreshDue }).toEqual({ read: false, refreshDue: 0 });
    expect(rig.view()).toMatchObject({ read: true, refreshDue: undefined });
  });

  test('leaves what a refresh has read as it is', () => {
    const rig = inventoryRig();
    rig.refresh(0, second);

    rig.list(10, second);

    expect(rig.view().read).toBe(true);
  });

  test.each([
    ['has an address', eni()],
    ['cannot be parsed', unreadable('eni-1', 'MacAddress is missing', 0)],
  ])('is not one whose primary interface %s', (_, primary) => {
    const rig = inventoryRig();

    rig.list(0, primary, second);

    expect(rig.view()).toMatchObject({ read: true, refreshDue: undefined });
  });
});
