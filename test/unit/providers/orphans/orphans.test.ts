import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { Orphans } from '../../../../src/providers/orphans/orphans.ts';
import { ownershipTags } from '../../../../src/providers/orphans/ownership-tags.ts';
import { networkInterface } from '../interfaces.ts';

const consistencyWindow = 30_000;
const limits = { interval: 300_000, max: 25, isOurs: () => true };

interface Rig {
  readonly orphans: Orphans;
  /** A read that takes 100 ms and shows these. */
  readonly read: (startedAt: number, ...shown: readonly NetworkInterface[]) => ReadonlySet<string>;
  readonly left: () => number;
}

/** `heldUntil`: until when, as far as known, an instance has an interface. */
function rig(heldUntil: ReadonlyMap<string, number> = new Map()): Rig {
  let left = 0;
  const orphans = new Orphans({
    isHeld: (id, startedAt) => (heldUntil.get(id) ?? -Infinity) > startedAt,
    changedAt: () => -Infinity,
    consistencyWindow,
    onLeft: () => left++,
  });
  const read = (startedAt: number, ...interfaces: readonly NetworkInterface[]): ReadonlySet<string> =>
    orphans.apply({ startedAt, endedAt: startedAt + 100, interfaces });
  return { orphans, read, left: () => left };
}

function made(id = 'eni-9', operationId = 'op-1', instanceId = 'i-1'): NetworkInterface {
  return networkInterface({ id, attachment: undefined, tags: ownershipTags(instanceId, operationId) });
}

function idsOf(items: readonly NetworkInterface[]): string[] {
  return items.map(({ id }) => id);
}

describe('an orphaned interface of an instance', () => {
  test('is unknown until a reading ended, also one that failed', () => {
    const { orphans, read } = rig();
    const failing = rig().orphans;

    const before = orphans.of('i-1');
    read(0);
    failing.failed(0);

    expect(before).toEqual({ read: false, fit: [], unclear: [] });
    expect(orphans.of('i-1')).toEqual({ read: true, fit: [], unclear: [] });
    expect(failing.of('i-1').read).toBe(true);
  });

  test('cannot be adopted while the instance still seems to have it', () => {
    const { orphans, read } = rig(new Map([['eni-9', 40_000]]));

    read(0, made());
    read(35_000, made());
    const held = orphans.of('i-1');
    read(45_000, made());

    expect(idsOf(held.fit)).toEqual([]);
    expect(idsOf(orphans.of('i-1').fit)).toEqual(['eni-9']);
  });

  test('is unclear when it was seen once, and can be adopted when it is seen again a window later', () => {
    const { orphans, read } = rig();

    read(0, made());
    const once = orphans.of('i-1');
    read(30_050, made());
    const early = orphans.of('i-1');
    read(30_100, made());

    expect([idsOf(once.unclear), idsOf(once.fit)]).toEqual([['eni-9'], []]);
    expect(idsOf(early.fit)).toEqual([]);
    expect(idsOf(orphans.of('i-1').fit)).toEqual(['eni-9']);
    expect(orphans.of('i-2')).toEqual({ read: true, fit: [], unclear: [] });
  });

  test('is not waited for once the reading that was to show it has failed', () => {
    const { orphans, read } = rig();
    read(0, made());

    orphans.failed(10_000);
    const early = orphans.of('i-1');
    orphans.failed(30_200);

    expect(idsOf(early.unclear)).toEqual(['eni-9']);
    expect(orphans.of('i-1')).toEqual({ read: true, fit: [], unclear: [] });
    expect(orphans.hasUnclear).toBe(true);
  });

  test('starts over when a reading in between did not show it', () => {
    const { orphans, read } = rig();

    read(0, made());
    read(20_000);
    read(40_000, made());

    expect(idsOf(orphans.of('i-1').unclear)).toEqual(['eni-9']);
  });

  test('can be adopted at once when a creation of ours left it, after a reading that started later', () => {
    const { orphans, read, left } = rig();
    read(0);

    const end = orphans.beginCreation('op-1');
    read(50, made());
    const during = orphans.of('i-1');
    end({ instanceId: 'i-1', at: 100 });
    const open = orphans.of('i-1');
    const other = orphans.of('i-2');
    read(100, made());

    expect([during.fit, during.unclear]).toEqual([[], []]);
    expect([open.read, other.read, left()]).toEqual([false, true, 1]);
    expect(orphans.of('i-1').read).toBe(true);
    expect(idsOf(orphans.of('i-1').fit)).toEqual(['eni-9']);
  });

  test('is not expected from a creation that ended well', () => {
    const { orphans, read, left } = rig();

    orphans.beginCreation('op-1')();
    read(0, made());

    expect(left()).toBe(0);
    expect(idsOf(orphans.of('i-1').fit)).toEqual([]);
  });
});

describe('an interface that is no longer shown', () => {
  test('may have been attached by another process: its instance is read again and waits a window', () => {
    const { orphans, read } = rig();
    read(0, made());

    const missed = read(20_000);
    const during = orphans.of('i-1');
    const awaited = orphans.hasUnclear;
    const again = read(50_100);

    expect([missed, again]).toEqual([new Set(['i-1']), new Set()]);
    expect([idsOf(during.unclear), during.fit, awaited]).toEqual([['eni-9'], [], true]);
    expect(orphans.due(limits)).toEqual([]);
    expect(orphans.of('i-1')).toEqual({ read: true, fit: [], unclear: [] });
    expect(orphans.hasUnclear).toBe(false);
  });

  test.each<[string, (rig: Rig) => void]>([
    [
      'that a creation in flight made',
      ({ orphans, read }) => {
        const end = orphans.beginCreation('op-1');
        read(0, made());
        end();
      },
    ],
    [
      'that a call of ours attached or deleted',
      ({ orphans, read }) => {
        read(0, made());
        orphans.claim('eni-9')?.release('gone');
      },
    ],
    [
      'that a caller acts on',
      ({ orphans, read }) => {
        read(0, made());
        orphans.claim('eni-9');
      },
    ],
  ])('is not waited for if it is one %s', (_, play) => {
    const it = rig();
    play(it);

    expect(it.read(20_000)).toEqual(new Set());
    expect(it.orphans.of('i-1')).toEqual({ read: true, fit: [], unclear: [] });
  });
});

describe('an interface that one caller acts on', () => {
  test('is closed to others until it is released', () => {
    const { orphans, read } = rig();
    read(0, made());
    read(400_000, made());

    const claim = orphans.claim('eni-9');

    expect(orphans.claim('eni-9')).toBeUndefined();
    expect(orphans.of('i-1').fit).toEqual([]);
    expect(orphans.due(limits)).toEqual([]);
    claim?.release('kept');
    expect(idsOf(orphans.of('i-1').fit)).toEqual(['eni-9']);
    expect(orphans.due(limits)).toHaveLength(1);
  });

  test.each([
    ['gone', 0, 0],
    ['unfit', 0, 1],
    ['kept', 1, 1],
  ] as const)('is %s after the release', (end, fit, due) => {
    const { orphans, read } = rig();
    read(0, made());
    read(400_000, made());

    orphans.claim('eni-9')?.release(end);

    expect(orphans.of('i-1').fit).toHaveLength(fit);
    expect(orphans.due(limits)).toHaveLength(due);
  });

  test('must be known', () => {
    const { orphans, read } = rig();
    read(0, made());
    read(10);

    expect(orphans.claim('eni-9')).toBeUndefined();
  });
});

describe('an interface that is to be deleted', () => {
  test('is dated from the end of the reading that showed it first to the start of the last', () => {
    const { orphans, read } = rig();

    read(0, made());
    read(300_050, made());
    const early = orphans.due(limits);
    read(300_100, made());

    expect(early).toEqual([]);
    expect(orphans.due(limits)).toHaveLength(1);
  });

  test('is never one that a creation in flight made, however long it takes', () => {
    const { orphans, read } = rig();
    const end = orphans.beginCreation('op-1');
    read(0, made());
    read(900_000, made());

    const during = orphans.due(limits);
    end({ instanceId: 'i-1', at: 900_000 });

    expect(during).toEqual([]);
    expect(orphans.due(limits)).toHaveLength(1);
  });
});
