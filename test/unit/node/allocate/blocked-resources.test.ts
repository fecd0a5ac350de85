import { describe, expect, test } from '@jest/globals';
import type { AllocationCall, RefusedScope } from '../../../../src/node/allocate/refused-scope.ts';
import { BlockedResources } from '../../../../src/node/allocate/blocked-resources.ts';
import type { CloudFailure, CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
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
    return this.blocked.refused({ scope, failure: failure(kind), instanceId: 'i-1', startedAt, ...more });
  }

  isAside(scope: RefusedScope, instanceId = 'i-1'): boolean {
    return this.blocked.refusalOf(scope, instanceId)?.isDue === false;
  }

  await(scope: RefusedScope, instanceId = 'i-1'): () => void {
    return this.blocked.awaitChange([scope], { instanceId, wake: this.wake, since: this.clock.monotonic() });
  }
}

describe('a blocked scope', () => {
  test('is due after a while, and then tried by one node only', async () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    const before = [rig.isAside(subnet('a')), rig.isAside(subnet('b'))];
    await rig.clock.advance(1000);

    const isDue = !rig.isAside(subnet('a'));
    const end = rig.blocked.beginTry([subnet('a')], 'i-1');
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
      expect(rig.blocked.refusalOf(subnet('a'), 'i-1')).toMatchObject({ failures, isDue: true });
    }
  });

  test.each([
    ['unknown', 21, 150_000],
    ['notAuthorized', 21, 30_000],
    ['unknown', 20, 30_000],
  ] as const)(
    'of one instance waits longer once many interfaces were made for nothing: %s for the %i. time',
    async (kind, times, least) => {
      const rig = new Rig();
      const scope = { kind: 'newInterfaces', instanceId: 'i-1' } as const;

      for (let failures = 1; failures < times; failures++) {
        rig.refuse(scope, kind);
        await rig.clock.advance(60_000);
        expect(rig.blocked.refusalOf(scope, 'i-1')).toMatchObject({ failures, isDue: true });
      }
      rig.refuse(scope, kind);
      await rig.clock.advance(least - 1);
      expect(rig.isAside(scope)).toBe(true);
      await rig.clock.advance(least + 1);
      expect(rig.isAside(scope)).toBe(false);
    },
  );

  test('is counted as refused once by calls that were in flight together', async () => {
    const rig = new Rig();
    const startedAt = rig.clock.monotonic();
    await rig.clock.advance(100);

    const news = [1, 2, 3].map(() => rig.refuse(subnet('a'), 'unknown', { startedAt }));

    expect(news).toEqual([true, false, false]);
    expect(rig.blocked.refusalOf(subnet('a'), 'i-1')?.failures).toBe(1);
  });

  test('is accepted again once a call for it succeeds, and each waiting node is woken', () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    rig.await(subnet('a'));

    rig.blocked.worked([subnet('a'), subnet('b')], 'i-1');

    expect(rig.woken).toBe(1);
    expect(rig.blocked.list).toEqual([]);
  });

  test('wakes the waiting nodes when it is due, also after another refusal, and none that stopped waiting', async () => {
    const rig = new Rig();
    rig.refuse(subnet('a'));
    const end = rig.await(subnet('a'));
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
    const end = rig.blocked.beginTry([subnet('a')], 'i-1');
    rig.await(subnet('a'));
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

    for (const [scope, instanceId] of refusals) rig.refuse(scope, kind, { perhaps: name, instanceId });

    expect(rig.isAside(action(name))).toBe(expected);
  });

  test('is not blocked when it worked in between', () => {
    const rig = new Rig();
    const perhaps = (instanceId: string): object => ({ perhaps: 'assign', instanceId });

    rig.refuse(eni('1'), 'invalid', perhaps('i-1'));
    rig.blocked.worked([action('assign'), eni('3')], 'i-3');
    rig.refuse(eni('2'), 'invalid', perhaps('i-2'));

    expect([rig.isAside(action('assign')), rig.isAside(eni('1'))]).toEqual([false, true]);
  });

  test.each<[string, RefusedScope, RefusedScope]>([
    ['instances', { kind: 'instance', instanceId: 'i-1' }, { kind: 'instance', instanceId: 'i-2' }],
    ['subnets', { kind: 'assignmentsIn', subnetId: 'a' }, { kind: 'assignmentsIn', subnetId: 'b' }],
  ])('for %s that the answers name is blocked as an action only if it has never worked', (_, one, other) => {
    const aside = [false, true].map((hasWorked) => {
      const rig = new Rig();
      if (hasWorked) rig.blocked.worked([action('assign')], 'i-3');
      rig.refuse(one, 'notAuthorized', { perhaps: 'assign', instanceId: 'i-1' });
      rig.refuse(other, 'notAuthorized', { perhaps: 'assign', instanceId: 'i-2' });
      return [rig.isAside(one), rig.isAside(other), rig.isAside(action('assign'))];
    });

    expect(aside).toEqual([
      [true, true, true],
      [true, true, false],
    ]);
  });
});

describe('what instances share', () => {
  const groups: RefusedScope = { kind: 'securityGroups', ids: ['sg-1'] };
  const attachment: RefusedScope = { kind: 'attachment', subnetId: 'a', nodeSubnetId: 'b' };
  const inSubnet: RefusedScope = { kind: 'assignmentsIn', subnetId: 'a' };

  function refuseTo(
    rig: Rig,
    scope: RefusedScope,
    instanceId: string,
    change: Partial<CloudFailure> = {},
  ): void {
    rig.refuse(scope, 'invalid', { instanceId, failure: { ...failure('invalid'), ...change } });
  }

  const rows = [
    ['a subnet', subnet('a'), 'subnet'],
    ['security groups', groups, 'securityGroups'],
    ['an attachment', attachment, 'subnet'],
    ['assignments in a subnet', inSubnet, 'subnet'],
    ['an action', action('create'), 'action'],
  ] as const;

  test.each(rows)('%s that the answer names is blocked for all', (_, scope, about) => {
    const rig = new Rig();
    refuseTo(rig, scope, 'i-1', { about });

    expect([rig.isAside(scope, 'i-1'), rig.isAside(scope, 'i-2')]).toEqual([true, true]);
  });

  test.each(rows)(
    '%s is blocked for the refused one only, once another is served',
    async (_, scope, about) => {
      const rig = new Rig();
      refuseTo(rig, scope, 'i-1', { about });
      rig.blocked.worked([scope], 'i-2');
      const afterwards = [rig.isAside(scope, 'i-1'), rig.isAside(scope, 'i-3')];
      for (let times = 0; times < 5; times++) {
        refuseTo(rig, scope, 'i-1', { about });
        await rig.clock.advance(61_000);
      }
      refuseTo(rig, scope, 'i-1', { about });

      // It may try again at once: what was refused to it may have been mended for all.
      expect(afterwards).toEqual([false, false]);
      expect([rig.isAside(scope, 'i-1'), rig.isAside(scope, 'i-3')]).toEqual([true, false]);
    },
  );

  test.each(rows)(
    '%s that is refused to one keeps a turn for those that were not refused',
    async (_, scope, about) => {
      const rig = new Rig();
      refuseTo(rig, scope, 'i-1', { about });
      for (let times = 0; times < 3; times++) {
        await rig.clock.advance(60_000);
        refuseTo(rig, scope, 'i-1', { about });
      }
      const before = [rig.isAside(scope, 'i-1'), rig.isAside(scope, 'i-2')];
      const end = rig.blocked.beginTry([scope], 'i-2');
      const meanwhile = rig.isAside(scope, 'i-3');
      end();

      expect(before).toEqual([true, false]);
      expect([meanwhile, rig.isAside(scope, 'i-3')]).toEqual([true, false]);
    },
  );

  test('wakes those that were not refused when their turn comes', async () => {
    const rig = new Rig();
    refuseTo(rig, groups, 'i-1', { about: 'securityGroups' });
    rig.await(groups, 'i-2');
    await rig.clock.advance(10_000);

    expect(rig.woken).toBe(1);
  });

  test.each(['invalid', 'unknown'] as const)(
    'is the concern of one instance if others were served and nothing is named (%s)',
    (kind) => {
      const rig = new Rig();
      rig.blocked.worked([attachment], 'i-3');
      rig.refuse(attachment, kind, { instanceId: 'i-1' });
      const one = [rig.isAside(attachment, 'i-1'), rig.isAside(attachment, 'i-4')];
      rig.refuse(attachment, kind, { instanceId: 'i-2' });

      expect(one).toEqual([true, false]);
      expect(['i-1', 'i-2', 'i-4'].map((id) => rig.isAside(attachment, id))).toEqual([true, true, false]);
    },
  );

  test('is blocked for all after one refusal if nobody was ever served', () => {
    const rig = new Rig();
    refuseTo(rig, attachment, 'i-1');

    expect(rig.isAside(attachment, 'i-2')).toBe(true);
  });

  test('leaves the action to everybody that was not refused it, if nothing names it', () => {
    const rig = new Rig();
    for (const instanceId of ['i-1', 'i-2'])
      rig.refuse(eni(instanceId), 'invalid', { instanceId, perhaps: 'assign' });

    expect(['i-1', 'i-2', 'i-3'].map((id) => rig.isAside(action('assign'), id))).toEqual([true, true, false]);
  });

  test('reports to each instance what it was answered itself', () => {
    const rig = new Rig();
    for (const instanceId of ['i-1', 'i-2'])
      refuseTo(rig, groups, instanceId, { about: 'securityGroups', message: `not for ${instanceId}` });

    expect(['i-1', 'i-2'].map((id) => rig.blocked.refusalOf(groups, id)?.failure.message)).toEqual([
      'not for i-1',
      'not for i-2',
    ]);
    expect(rig.blocked.refusalOf(groups, 'i-3')).toMatchObject({ isOfOthers: true });
  });
});
