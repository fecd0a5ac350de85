import { describe, expect, test } from '@jest/globals';
import { eni, further, type InventoryRig, inventoryRig, window } from '../inventory-rig.ts';

type Play = (rig: InventoryRig) => void;

const newer = further(1, { addresses: ['b'] });

/** What each interface has. */
function shownBy({ view }: InventoryRig): unknown {
  return Object.fromEntries(view().interfaces.map(({ id, addresses }) => [id, addresses]));
}

describe('an address that a refresh shows on another interface than before', () => {
  const moved = { 'eni-1': ['a'], 'eni-2': ['b'] };

  test.each<[string, Play, unknown]>([
    ['of a new interface', ({ refresh }) => refresh(20, eni('a'), newer), moved],
    ['in another order', ({ refresh }) => refresh(20, newer, eni('a')), moved],
    ['without the former interface', ({ refresh }) => refresh(20, newer), moved],
    [
      'of a known interface',
      ({ refresh }) => {
        refresh(10, eni('a', 'b'), further(1));
        refresh(20, eni('a'), newer);
      },
      moved,
    ],
    [
      'as a primary address',
      ({ refresh }) => refresh(20, eni('a'), further(1, { primaryAddress: 'b' })),
      { 'eni-1': ['a'], 'eni-2': [] },
    ],
    [
      'after one that showed both',
      ({ refresh }) => {
        refresh(10, eni('a', 'b'), newer);
        refresh(20, eni('a'), newer);
      },
      moved,
    ],
    [
      'while our own call took something else',
      ({ refresh, answer }) => {
        answer(21, { kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings: ['a'] });
        refresh(20, eni(), newer);
      },
      { 'eni-1': [], 'eni-2': ['b'] },
    ],
    [
      'before one that shows it on the former one again',
      ({ refresh }) => {
        refresh(20, eni('a'), newer);
        refresh(50, eni('a', 'b'), further(1));
      },
      { 'eni-1': ['a', 'b'], 'eni-2': [] },
    ],
  ])('leaves the former interface: %s', (_, play, expected) => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a', 'b'));

    play(rig);

    expect(shownBy(rig)).toEqual(expected);
  });

  test('is to be confirmed by the next refresh', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a', 'b'));

    rig.refresh(20, eni('a'), newer);

    expect(rig.view().refreshDue).toBe(20 + window);
  });

  test.each<[string, Play]>([
    ['that the same refresh shows with it', ({ refresh }) => refresh(20, eni('a', 'b'), newer)],
    ['that the same refresh shows with it, later', ({ refresh }) => refresh(20, newer, eni('a', 'b'))],
    ['that a newer reading showed with it', ({ refresh }) => refresh(-1, newer)],
    ['of another network', ({ refresh }) => refresh(20, eni('a'), { ...newer, networkId: 'vpc-2' })],
    ['until a refresh confirms the move: a listing', ({ list }) => list(20, eni('a'), newer)],
    [
      'that our own call assigned since',
      ({ refresh, answer }) => {
        refresh(20, eni('a'));
        answer(21, {
          kind: 'allocated',
          interfaceId: 'eni-1',
          instanceId: 'i-1',
          addresses: ['b'],
          prefixes: [],
        });
        refresh(25, newer, eni('a'));
      },
    ],
  ])('stays with an interface %s', (_, play) => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a', 'b'));

    play(rig);

    expect(shownBy(rig)).toMatchObject({ 'eni-1': ['a', 'b'] });
  });

  describe('of our own creation whose attachment had a lost answer', () => {
    const made = further(1, { addresses: ['b'], attachment: undefined });
    const given = {
      kind: 'allocated',
      interfaceId: 'eni-1',
      instanceId: 'i-1',
      addresses: ['b'],
      prefixes: [],
    } as const;

    test.each<[string, Play, unknown]>([
      ['a refresh', ({ refresh }) => refresh(20, eni('a'), newer), moved],
      ['a listing', ({ list }) => list(20, eni('a'), newer), moved],
      [
        'a refresh that shows the interface without it',
        ({ refresh }) => refresh(20, eni('a'), further(1)),
        { 'eni-1': ['a', 'b'], 'eni-2': [] },
      ],
      [
        'a refresh that shows it on another instance',
        ({ refresh }) => {
          const attachment = newer.attachment && { ...newer.attachment, instanceId: 'i-2' };
          refresh(20, eni('a'), { ...newer, attachment });
        },
        { 'eni-1': ['a', 'b'] },
      ],
      [
        'a refresh after our own call assigned it to another one again',
        ({ refresh, answer }) => {
          answer(16, given);
          refresh(20, eni('a'), newer);
        },
        { 'eni-1': ['a', 'b'] },
      ],
    ])('leaves the former interface, however young the new one is, once shown by %s', (_, play, expected) => {
      const rig = inventoryRig();
      rig.refresh(0, eni('a'));
      rig.answer(10, given);
      rig.answer(15, { kind: 'created', interface: made });

      play(rig);

      expect(shownBy(rig)).toMatchObject(expected as object);
    });
  });

  test('stays with an interface that was attached too late for the refresh', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a'));
    rig.answer(9, { kind: 'created', interface: further(1, { addresses: ['b'], attachment: undefined }) });
    rig.answer(10, {
      kind: 'attached',
      interfaceId: 'eni-2',
      instanceId: 'i-1',
      deviceIndex: 1,
      attachmentId: 'attach-2',
    });

    rig.refresh(12, eni('a', 'b'));

    expect(shownBy(rig)).toMatchObject({ 'eni-2': ['b'] });
  });

  test('stays where a previous leader knew it for as long as the refresh may be older', () => {
    const rig = inventoryRig([eni('a', 'b')], 0);
    rig.refresh(1, eni('a', 'b'));

    rig.refresh(2, eni('a'), further(1, { primaryAddress: 'b' }));
    const early = shownBy(rig);
    rig.refresh(window, eni('a'), further(1, { primaryAddress: 'b' }));

    expect(early).toEqual({ 'eni-1': ['a', 'b'], 'eni-2': [] });
    expect(shownBy(rig)).toEqual({ 'eni-1': ['a'], 'eni-2': [] });
  });
});

describe('an interface whose primary address our own call gave to another one', () => {
  const given = { kind: 'allocated', instanceId: 'i-1', prefixes: [] } as const;

  test('is gone with its other addresses', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a'), further(1, { primaryAddress: 'p', addresses: ['b'] }));

    rig.answer(21, { ...given, interfaceId: 'eni-1', addresses: ['p'] });

    expect(shownBy(rig)).toEqual({ 'eni-1': ['a', 'p'] });
  });

  test('stays on another network', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a'), further(1, { primaryAddress: 'p', networkId: 'vpc-2' }));

    rig.answer(21, { ...given, interfaceId: 'eni-1', addresses: ['p'] });

    expect(shownBy(rig)).toEqual({ 'eni-1': ['a', 'p'], 'eni-2': [] });
  });

  test('stays as the primary interface, which an instance keeps for life', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a'), further(1));

    rig.answer(21, { ...given, interfaceId: 'eni-2', addresses: [eni().primaryAddress] });

    expect(shownBy(rig)).toEqual({ 'eni-1': ['a'], 'eni-2': [eni().primaryAddress] });
  });
});
