import { describe, expect, test } from '@jest/globals';
import type { AllocationCall, RefusedScope } from '../../../../src/node/allocate/refused-scope.ts';
import { BlockedResources } from '../../../../src/node/allocate/blocked-resources.ts';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { failure } from '../outcomes.ts';

const subnet = (subnetId: string): RefusedScope => ({ kind: 'subnet', subnetId });
const eni = (interfaceId: string): RefusedScope => ({ kind: 'interface', interfaceId });
const action = (name: AllocationCall): RefusedScope => ({ kind: 'action', action: name });

class Rig {
  readonly clock = new VirtualClock();
  readonly blocked = new BlockedResources({ clock: this.clock, random: new Random('set aside') });
  woken = 0;
  readonly wake = (): void => void this.woken++;

  refuse(scope: RefusedScope, kind: CloudFailureKind = 'unknown', more: object = {}): boolean {
    const startedAt = this.clock.monotonic();
    return this.blocked.refused({ scope, failure: failure(kind), startedAt, ...more });
  }

  isAside(scope: RefusedScope): boolean {
    return this.blocked.refusalOf(scope)?.isDue === false;
  }
}

describe('a blocked scope', () => {
  test('is due after a while, and then tried by one node only', async () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    const before = [rig.isAside(subnet('a')), rig.isAside(subnet('b'))];
    await rig.clock.advance(1000);

    const isDue = !rig.isAside(subnet('a'));
    const end = rig.blocked.beginTry([subnet('a')]);
    const whileTried = rig.isAside(subnet('a'));
    end();

    expect(before).toEqual([true, false]);
    expect([isDue, whileTried, rig.isAside(subnet('a'))]).toEqual([true, true, false]);
  });

  test.each([
    ['unknown', 1000],
    ['notAuthorized', 10_000],
  ] as const)('waits twice as long after each %s, a minute at most', async (kind, base) => {
    const rig = new Rig();

    for (let failures = 1; failures <= 8; failures++) {
      rig.refuse(subnet('a'), kind);
      const max = Math.min(60_000, base * 2 ** (failures - 1));
      await rig.clock.advance(max / 2 - 1);
      expect(rig.isAside(subnet('a'))).toBe(true);
      await rig.clock.advance(max / 2 + 1);
      expect(rig.blocked.refusalOf(subnet('a'))).toMatchObject({ failures, isDue: true });
    }
  });

  test('is counted as refused once by calls that were in flight together', async () => {
    const rig = new Rig();
    const startedAt = rig.clock.monotonic();
    await rig.clock.advance(100);

    const news = [1, 2, 3].map(() => rig.refuse(subnet('a'), 'unknown', { startedAt }));

    expect(news).toEqual([true, false, false]);
    expect(rig.blocked.refusalOf(subnet('a'))?.failures).toBe(1);
  });

  test('is accepted again once a call for it succeeds, and each waiting node is woken', () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    rig.blocked.awaitChange([subnet('a')], rig.wake, rig.clock.monotonic());

    rig.blocked.worked([subnet('a'), subnet('b')]);

    expect(rig.woken).toBe(1);
    expect(rig.blocked.list).toEqual([]);
  });

  test('wakes the waiting nodes when it is due, also after another refusal, and none that stopped waiting', async () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    const end = rig.blocked.awaitChange([subnet('a')], rig.wake, rig.clock.monotonic());
    await rig.clock.advance(1000);
    const first = rig.woken;

    rig.refuse(subnet('a'));
    await rig.clock.advance(2000);
    const second = rig.woken;
    end();
    rig.refuse(subnet('a'));
    await rig.clock.advance(600_000);

    expect([first, second, rig.woken]).toEqual([1, 2, 2]);
  });

  test('wakes no node while it is tried, and every waiting node if the try decides nothing', async () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    const end = rig.blocked.beginTry([subnet('a')]);
    rig.blocked.awaitChange([subnet('a')], rig.wake, rig.clock.monotonic());
    await rig.clock.advance(5000);
    const whileTried = rig.woken;

    end();

    expect([whileTried, rig.woken]).toEqual([0, 1]);
  });

  test('is forgotten ten minutes after it was due', async () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    await rig.clock.advance(602_000);

    rig.refuse(subnet('b'));

    expect(rig.blocked.list.map(({ scope }) => scope)).toEqual([subnet('b')]);
  });
});

describe('an action that was refused', () => {
  test.each<[string, AllocationCall, CloudFailureKind, readonly [RefusedScope, string][], boolean]>([
    ['one interface', 'assign', 'notAuthorized', [[eni('1'), 'i-1']], false],
    [
      'one interface twice',
      'assign',
      'notAuthorized',
      [
        [eni('1'), 'i-1'],
        [eni('1'), 'i-1'],
      ],
      false,
    ],
    [
      'interfaces of two instances',
      'assign',
      'invalid',
      [
        [eni('1'), 'i-1'],
        [eni('2'), 'i-2'],
      ],
      true,
    ],
    [
      'two of one instance, by right',
      'assign',
      'notAuthorized',
      [
        [eni('1'), 'i-1'],
        [eni('2'), 'i-1'],
      ],
      true,
    ],
    [
      'two of one bad instance',
      'assign',
      'invalid',
      [
        [eni('1'), 'i-1'],
        [eni('2'), 'i-1'],
      ],
      false,
    ],
    [
      'two subnets',
      'create',
      'unknown',
      [
        [subnet('1'), 'i-1'],
        [subnet('2'), 'i-1'],
      ],
      true,
    ],
  ])('is blocked as such or not after refusals of %s: %s %s %j %s', (_, name, kind, refusals, expected) => {
    const rig = new Rig();

    for (const [scope, instanceId] of refusals)
      rig.refuse(scope, kind, { perhaps: { action: name, instanceId } });

    expect(rig.isAside(action(name))).toBe(expected);
  });

  test('is not blocked when it worked in between', () => {
    const rig = new Rig();
    const perhaps = (instanceId: string): object => ({ perhaps: { action: 'assign', instanceId } });

    rig.refuse(eni('1'), 'invalid', perhaps('i-1'));
    rig.blocked.worked([action('assign'), eni('3')]);
    rig.refuse(eni('2'), 'invalid', perhaps('i-2'));

    expect([rig.isAside(action('assign')), rig.isAside(eni('1'))]).toEqual([false, true]);
  });

  test.each<[string, RefusedScope, RefusedScope]>([
    ['instances', { kind: 'instance', instanceId: 'i-1' }, { kind: 'instance', instanceId: 'i-2' }],
    ['subnets', { kind: 'assignmentsIn', subnetId: 'a' }, { kind: 'assignmentsIn', subnetId: 'b' }],
  ])('for %s that the answers name is blocked as an action only if it has never worked', (_, one, other) => {
    const aside = [false, true].map((hasWorked) => {
      const rig = new Rig();
      if (hasWorked) rig.blocked.worked([action('assign')]);
      rig.refuse(one, 'notAuthorized', { perhaps: { action: 'assign', instanceId: 'i-1' } });
      rig.refuse(other, 'notAuthorized', { perhaps: { action: 'assign', instanceId: 'i-2' } });
      return [rig.isAside(one), rig.isAside(other), rig.isAside(action('assign'))];
    });

    expect(aside).toEqual([
      [true, true, true],
      [true, true, false],
    ]);
  });
});
