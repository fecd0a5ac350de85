import { describe, expect, test } from '@jest/globals';
import { Inventory } from '../../../../src/providers/inventory/inventory.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Observation } from '../../../../src/providers/contract/facts.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { window } from '../inventory-rig.ts';

/** The only interface of an instance. */
function on(instanceId: string, change: Partial<NetworkInterface> = {}): NetworkInterface {
  const number = instanceId.slice(2);
  return networkInterface({
    id: `eni-${number}`,
    primaryAddress: `10.0.0.${number}`,
    attachment: attachment({ instanceId }),
    ...change,
  });
}

class Rig {
  readonly inventory = new Inventory({ consistencyWindow: window });

  constructor(...known: readonly NetworkInterface[]) {
    this.inventory.track('i-1');
    this.inventory.track('i-2');
    this.refresh(0, ...known);
  }

  /** Applies a refresh of both that started then and showed exactly this. */
  refresh(startedAt: number, ...shown: readonly NetworkInterface[]): void {
    this.lookAt(startedAt, ['i-1', 'i-2'], ...shown);
  }

  lookAt(startedAt: number, instanceIds: readonly string[], ...shown: readonly NetworkInterface[]): void {
    this.lookFor([startedAt, startedAt], instanceIds, ...shown);
  }

  lookFor(
    [startedAt, endedAt]: readonly [number, number],
    instanceIds: readonly string[],
    ...shown: readonly NetworkInterface[]
  ): void {
    const observations = shown.map((item): Observation => ({ kind: 'interface', interface: item }));
    this.inventory.applyRefresh({ startedAt, endedAt, instanceIds, observations });
  }

  contest(now: number, address = 'x', networkId = 'vpc-1'): void {
    this.inventory.contest({ address, networkId, instanceIds: ['i-1', 'i-2'] }, now);
  }

  /** The secondary addresses of each. */
  get held(): readonly unknown[] {
    return ['i-1', 'i-2'].map((id) =>
      this.inventory.view(id)?.interfaces.map((item) => [...item.addresses, ...item.prefixes].join()),
    );
  }

  get due(): readonly (number | undefined)[] {
    return ['i-1', 'i-2'].map((id) => this.inventory.view(id)?.refreshDue);
  }
}

const former = on('i-1', { addresses: ['a', 'x'] });
const bare = on('i-1', { addresses: ['a'] });
const taker = on('i-2', { addresses: ['x'] });

describe('an address that two instances seem to have', () => {
  test('requests one refresh of both', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);

    expect(rig.due).toEqual([10, 10]);
  });

  test('is withdrawn by one refresh that shows it only on the other one, and nothing else with it', () => {
    const rig = new Rig(on('i-1', { addresses: ['a', 'b', 'x'] }), taker);

    rig.contest(10);
    rig.refresh(10, bare, taker);

    expect(rig.held).toEqual([['a,b'], ['x']]);
  });

  test('is withdrawn by two refreshes, one at each instance', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    rig.lookAt(11, ['i-1'], bare);
    const between = rig.held;
    rig.lookAt(12, ['i-2'], taker);

    expect(between).toEqual([['a,x'], ['x']]);
    expect(rig.held).toEqual([['a'], ['x']]);
  });

  test('is withdrawn from an instance that is not found, which keeps everything else', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    rig.refresh(10, taker);

    expect(rig.held).toEqual([['a'], ['x']]);
  });

  test('stays on both when the refresh shows it on neither, because that is a missing address', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    rig.refresh(10, bare, on('i-2'));

    expect(rig.held).toEqual([['a,x'], ['x']]);
  });

  test('stays on both when the refresh shows it on both, and both are refreshed again after longer and longer pauses', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    const dues = [10, 11, 13, 17, 25, 41, 71].map((at) => {
      rig.refresh(at, former, taker);
      return rig.due[0];
    });
    const { held } = rig;
    rig.refresh(101, bare, taker);

    expect(held).toEqual([['a,x'], ['x']]);
    expect(dues).toEqual([11, 13, 17, 25, 41, 71, 101]);
    expect(rig.held).toEqual([['a'], ['x']]);
  });

  test('stays for a refresh that started before the conflict', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    rig.refresh(9, bare, taker);

    expect(rig.held).toEqual([['a,x'], ['x']]);
    expect(rig.due).toEqual([10, 10]);
  });

  test('stays for a listing', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    const listing = rig.inventory.beginListing(20);
    listing.apply(
      [
        { kind: 'interface', interface: taker },
        { kind: 'interface', interface: bare },
      ],
      20,
    );
    for (const _ of listing.end());

    expect(rig.held).toEqual([['a,x'], ['x']]);
  });

  test('stays when the interface of the former owner cannot be read', () => {
    const rig = new Rig(former, taker);
    const unreadable = { id: 'eni-1', instanceId: 'i-1', deviceIndex: 0, networkCard: 0, problem: 'broken' };

    rig.contest(10);
    rig.inventory.applyRefresh({
      startedAt: 10,
      endedAt: 10,
      instanceIds: ['i-1', 'i-2'],
      observations: [
        { kind: 'unreadableInterface', interface: unreadable },
        { kind: 'interface', interface: taker },
      ],
    });

    expect(rig.held).toEqual([['a,x'], ['x']]);
  });

  test('stays when it is in another network than the other one', () => {
    const rig = new Rig(on('i-1', { addresses: ['x'], networkId: 'vpc-2' }), taker);

    rig.contest(10);
    rig.refresh(10, on('i-1', { networkId: 'vpc-2' }), taker);

    expect(rig.held).toEqual([['x'], ['x']]);
  });

  test('stays when our own call assigned it so late that the refresh need not show it', () => {
    const rig = new Rig(bare, taker);
    const given = { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', prefixes: [] } as const;
    rig.inventory.applyAnswer({ ...given, addresses: ['x'] }, 5);

    rig.contest(10);
    rig.refresh(10, bare, taker);

    expect(rig.held).toEqual([['a,x'], ['x']]);
  });

  test('takes the whole interface with it when it is the primary address', () => {
    const rig = new Rig(former, taker);

    rig.contest(10, '10.0.0.1');
    rig.refresh(10, on('i-2', { addresses: ['10.0.0.1'] }));

    expect(rig.held).toEqual([[], ['x,10.0.0.1']]);
  });

  test('splits its prefix, and the other members stay', () => {
    const prefix = on('i-1', { prefixes: ['10.0.1.16/28'] });
    const rig = new Rig(prefix, on('i-2', { addresses: ['10.0.1.17'] }));

    rig.contest(10, '10.0.1.17');
    rig.refresh(10, on('i-1'), on('i-2', { addresses: ['10.0.1.17'] }));

    const [item] = rig.inventory.view('i-1')?.interfaces ?? [];
    expect(item?.prefixes).toEqual([]);
    expect(item?.addresses).toHaveLength(15);
    expect(item?.addresses).not.toContain('10.0.1.17');
  });

  test('is read again although a read of one of them, which began before a contradiction, ends after it', () => {
    const rig = new Rig(former, taker);
    rig.contest(10);

    rig.lookFor([11, 13], ['i-1', 'i-2'], former, taker);
    rig.lookFor([12, 14], ['i-2'], taker);
    const [first = Infinity, second = Infinity] = rig.due;
    rig.lookAt(first, ['i-1'], bare);
    rig.lookAt(second, ['i-2'], taker);

    expect(Math.max(first, second)).toBeLessThan(13 + window);
    expect(rig.held).toEqual([['a'], ['x']]);
  });

  test('has moved away until it is back, and not again when later reads lack it', () => {
    const rig = new Rig(former, taker);
    const moved = (): readonly string[] => [...rig.inventory.movedAway('i-1')];
    rig.contest(10);
    rig.refresh(10, bare, taker);
    const before = moved();

    rig.refresh(1000, former, on('i-2'));
    const back = moved();
    rig.refresh(2000, bare, on('i-2'));
    const missing = moved();
    const isPossiblyGone = rig.inventory.view('i-1')?.possiblyGone.has('x');
    for (const at of [2000 + window, 2000 + 2 * window]) rig.refresh(at, bare, on('i-2'));

    expect([before, back, missing, moved()]).toEqual([['x'], [], [], []]);
    expect(isPossiblyGone).toBe(true);
    expect(rig.held).toEqual([['a'], ['']]);
  });

  test('conflicts with nothing once its instance is no longer tracked', () => {
    const rig = new Rig(former, taker);

    rig.contest(10);
    rig.inventory.untrack('i-2', 10);
    rig.refresh(10, bare);

    expect(rig.inventory.view('i-1')?.interfaces[0]?.addresses).toEqual(['a', 'x']);
  });
});

describe('a conflict ends once fewer than two of its instances are tracked', () => {
  test('a later one is not decided by an older read of both', () => {
    const rig = new Rig(former, taker);
    rig.contest(10);
    for (const id of ['i-1', 'i-2']) rig.inventory.untrack(id, 11);
    for (const id of ['i-1', 'i-2']) rig.inventory.track(id, [], 13);
    rig.contest(20);

    rig.refresh(15, bare, taker);

    expect(rig.held).toEqual([['a,x'], ['x']]);
  });

  test('a later one is not decided by an older answer of the one that stayed', () => {
    const rig = new Rig(former, taker);
    rig.contest(10);
    rig.lookAt(11, ['i-1'], bare);
    rig.inventory.untrack('i-2', 12);
    rig.inventory.track('i-2', [], 13);
    rig.contest(20);

    rig.lookAt(21, ['i-2'], taker);
    const { held } = rig;
    rig.lookAt(22, ['i-1'], bare);

    expect(held).toEqual([['a,x'], ['x']]);
    expect(rig.held).toEqual([['a'], ['x']]);
  });
});

test('an instance that is untracked and comes back answers again in a conflict of others', () => {
  const rig = new Rig(former, taker);
  const { inventory } = rig;
  const refresh = (startedAt: number, id: string, ...addresses: readonly string[]): void =>
    rig.lookAt(startedAt, [id], on(id, { addresses }));
  inventory.track('i-3');
  refresh(0, 'i-3', 'x');
  inventory.contest({ address: 'x', networkId: 'vpc-1', instanceIds: ['i-1', 'i-2', 'i-3'] }, 10);
  refresh(11, 'i-3', 'x');

  inventory.untrack('i-3', 12);
  inventory.track('i-3', [], 13);
  refresh(14, 'i-1', 'a');
  refresh(15, 'i-2');
  const between = inventory.view('i-1')?.interfaces[0]?.addresses;
  refresh(16, 'i-3', 'x');

  expect(between).toEqual(['a', 'x']);
  expect(inventory.view('i-1')?.interfaces[0]?.addresses).toEqual(['a']);
});
