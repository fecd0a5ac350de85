import { describe, expect, test } from '@jest/globals';
import { ended, eni, inventoryRig, window } from '../inventory-rig.ts';

const changing = { condition: 'changing' } as const;

describe('an interface that the cloud is changing', () => {
  test('gets no address that only that read shows', () => {
    const { refresh, holdings, view } = inventoryRig();
    refresh(0, eni('a'));

    refresh(100, { ...eni('a', 'b'), ...changing });

    expect(holdings()).toEqual(['a']);
    expect(view().interfaces[0]?.condition).toBe('changing');
  });

  test('loses no address that reads do not show, however many', () => {
    const { refresh, list, holdings, view } = inventoryRig();
    refresh(0, eni('a', 'b'));

    for (const at of [100, 200, 300]) refresh(at, { ...eni('a'), ...changing });
    list(400, { ...eni('a'), ...changing });

    expect(holdings()).toEqual(['a', 'b']);
    expect([...view().possiblyGone]).toEqual([]);
  });

  test.each(['changing', 'ready'] as const)(
    'keeps what was said of an address that a read does not show: %s',
    (state) => {
      const { refresh, holdings, view } = inventoryRig();
      refresh(0, { ...eni('a', 'b'), associated: ['b'], ofOthers: ['b'] });

      refresh(100, state === 'changing' ? { ...eni('a'), ...changing } : eni('a'));

      expect(holdings()).toEqual(['a', 'b']);
      expect(view().interfaces[0]).toMatchObject({ associated: ['b'], ofOthers: ['b'] });
    },
  );

  test('is what the newest read says of an address that it shows', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, { ...eni('a', 'b'), ofOthers: ['b'] });

    refresh(100, { ...eni('a', 'b'), ofOthers: ['a'] });
    refresh(50, { ...eni('a', 'b', 'c'), ofOthers: ['b', 'c'] });

    expect(view().interfaces[0]?.ofOthers).toEqual(['a', 'c']);
  });

  test('may still lack what it lacked before, however many reads show it changing', () => {
    const { refresh, list, holdings, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(100, eni('a'));

    refresh(105, { ...eni('a', 'c'), ...changing });
    list(110, { ...eni('a', 'c'), ...changing });

    expect(holdings()).toEqual(['a', 'b']);
    expect([...view().possiblyGone]).toEqual(['b']);
  });

  test('may still lack what a list did not show', () => {
    const { refresh, list, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    list(100, eni('a'));

    refresh(105, { ...eni('a'), ...changing });

    expect([...view().possiblyGone]).toEqual(['b']);
  });

  test('may still lack what it shows again: that may be about to come, and a loss counts from the end of the change', () => {
    const { refresh, holdings, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(100, eni('a'));

    refresh(105, { ...eni('a', 'b'), ...changing });
    expect([...view().possiblyGone]).toEqual(['b']);
    refresh(200, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
    expect([...view().possiblyGone]).toEqual(['b']);
  });

  test('may still lack what a list did not show and what it shows again', () => {
    const { refresh, list, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    list(100, eni('a'));

    refresh(105, { ...eni('a', 'b'), ...changing });

    expect([...view().possiblyGone]).toEqual(['b']);
  });

  test('has what it shows again once it is ready', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(100, eni('a'));
    refresh(105, { ...eni('a', 'b'), ...changing });

    refresh(110, eni('a', 'b'));

    expect([...view().possiblyGone]).toEqual([]);
    expect(view().refreshDue).toBeUndefined();
  });

  test('may still lose what a lost answer releases', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    answer(10, {
      kind: 'releasing',
      instanceId: 'i-1',
      interfaceId: 'eni-1',
      holdings: ['b'],
      until: 40,
    });

    refresh(50, { ...eni('a', 'b'), ...changing });

    expect([...view().possiblyGone]).toEqual(['b']);
  });

  test('is not refreshed in haste for what it lacked before', () => {
    const { refresh, list, view } = inventoryRig();
    refresh(0, eni('a', 'b', 'c'));
    refresh(20, eni('a', 'b'));
    list(90, eni('a'));

    refresh(100, { ...eni('a'), ...changing });

    expect(view().refreshDue).toBe(105);
  });

  test('offers nothing if it was unknown before', () => {
    const { refresh, holdings } = inventoryRig();

    refresh(0, { ...eni('a', 'b'), ...changing });

    expect(holdings()).toEqual([]);
  });

  test('keeps what a CiliumNode shows of it, and may lack it even if it shows it: that may be about to come', () => {
    const { refresh, holdings, view } = inventoryRig([eni('a', 'b')]);

    refresh(0, { ...eni('a'), ...changing });
    const during = {
      holdings: holdings(),
      possiblyGone: [...view().possiblyGone],
      unseen: [...view().unseen],
    };
    refresh(10, eni('a', 'b'));

    expect(during).toEqual({ holdings: ['a', 'b'], possiblyGone: ['b', 'a'], unseen: ['b'] });
    expect([...view().possiblyGone]).toEqual([]);
    expect(view().refreshDue).toBeUndefined();
  });

  test('shows nothing of a CiliumNode by a read that is older than another one', () => {
    const { inventory, refresh, view } = inventoryRig([eni('a')]);
    const listing = inventory.beginListing(0);
    refresh(10, { ...eni(), ...changing });

    listing.apply([{ kind: 'interface', interface: { ...eni('a'), ...changing } }], 0);
    ended(listing);

    expect([...view().possiblyGone]).toEqual(['a']);
  });

  test('keeps unconfirmed what the previous leader may have released, until the change has ended', () => {
    const { refresh, holdings, view } = inventoryRig([eni('a')], 0);
    const unconfirmed = (): unknown => [...view().unconfirmed.values()];
    refresh(1, eni('a', 'b'));

    refresh(2, { ...eni('a'), ...changing });
    refresh(window + 1, { ...eni('a', 'b', 'c'), ...changing });
    const during = [holdings(), unconfirmed(), view().refreshDue];
    refresh(window + 6, eni('a', 'b'));

    expect(during).toEqual([['a'], [['b']], window + 6]);
    expect([holdings(), unconfirmed()]).toEqual([['a', 'b'], []]);
  });

  test('is refreshed soon', () => {
    const { refresh, view } = inventoryRig();

    refresh(60, { ...eni('a'), ...changing });

    expect(view().refreshDue).toBe(65);
  });

  test('gains and loses as ever once it is ready', () => {
    const { refresh, holdings, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(100, { ...eni('a', 'c'), ...changing });

    refresh(200, eni('a', 'c'));
    refresh(300, eni('a', 'c'));

    expect(holdings()).toEqual(['a', 'c']);
    expect(view().refreshDue).toBeUndefined();
  });

  test('takes no address from another interface', () => {
    const { refresh, holdings } = inventoryRig();
    const other = { ...eni(), id: 'eni-2', primaryAddress: 'p' };
    refresh(0, eni('a'), other);

    refresh(100, eni(), { ...other, addresses: ['a'], ...changing });

    expect(holdings()).toEqual(['a']);
  });
});
