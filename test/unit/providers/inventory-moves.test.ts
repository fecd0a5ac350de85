import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../src/providers/network-interface.ts';
import { eni, further, type InventoryRig, inventoryRig } from './inventory-rig.ts';

type Play = (rig: InventoryRig) => void;

const newer = further(1, { addresses: ['b'] });

/** What each interface has. */
function shownBy({ view }: InventoryRig): unknown {
  return Object.fromEntries(view().interfaces.map(({ id, addresses }) => [id, addresses]));
}

describe('what a reading shows on an interface for the first time', () => {
  const moved = { 'eni-1': ['a'], 'eni-2': ['b'] };

  test.each<[string, Play, unknown]>([
    ['a look, of a new interface', ({ look }) => look(20, eni('a'), newer), moved],
    ['a look in another order', ({ look }) => look(20, newer, eni('a')), moved],
    ['a listing', ({ list }) => list(20, eni('a'), newer), moved],
    ['a look without the former interface', ({ look }) => look(20, newer), moved],
    [
      'a look, of a known interface',
      ({ look }) => {
        look(10, eni('a', 'b'), further(1));
        look(20, eni('a'), newer);
      },
      moved,
    ],
    [
      'a look, as a primary address',
      ({ look }) => look(20, eni('a'), further(1, { primaryAddress: 'b' })),
      { 'eni-1': ['a'], 'eni-2': [] },
    ],
    [
      'a look that shows it again on the former one',
      ({ look }) => {
        look(20, eni('a'), newer);
        look(50, eni('a', 'b'), further(1));
      },
      { 'eni-1': ['a', 'b'], 'eni-2': [] },
    ],
  ])('is no other interface’s any more: %s', (_, play, expected) => {
    const rig = inventoryRig();
    rig.look(0, eni('a', 'b'));

    play(rig);

    expect(shownBy(rig)).toEqual(expected);
  });

  test.each<[string, readonly NetworkInterface[], Play]>([
    ['that the same reading shows with it', [], ({ list }) => list(20, eni('a', 'b'), newer)],
    ['that a newer reading showed with it', [], ({ look }) => look(-1, newer)],
    [
      'that our own call gave it since',
      [],
      ({ look, answer }) => {
        look(20, eni('a'));
        answer(21, {
          kind: 'allocated',
          interfaceId: 'eni-1',
          instanceId: 'i-1',
          addresses: ['b'],
          prefixes: [],
        });
        look(25, newer, eni('a'));
      },
    ],
    ['of which a predecessor may have known better', [eni('a', 'b')], ({ look }) => look(1, eni('a'), newer)],
  ])('stays with an interface %s', (_, recalled, play) => {
    const rig = inventoryRig(recalled);
    if (recalled.length === 0) rig.look(0, eni('a', 'b'));

    play(rig);

    expect(shownBy(rig)).toMatchObject({ 'eni-1': ['a', 'b'] });
  });

  test('stays with an interface that was attached too late for it', () => {
    const rig = inventoryRig();
    rig.look(0, eni('a'));
    rig.answer(9, { kind: 'created', interface: further(1, { addresses: ['b'], attachment: undefined }) });
    rig.answer(10, {
      kind: 'attached',
      interfaceId: 'eni-2',
      instanceId: 'i-1',
      deviceIndex: 1,
      attachmentId: 'attach-2',
    });

    rig.look(12, eni('a', 'b'));

    expect(shownBy(rig)).toMatchObject({ 'eni-2': ['b'] });
  });
});
