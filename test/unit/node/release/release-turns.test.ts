// What shares an interface with something that the cloud refuses to unassign.
import { describe, expect, test } from '@jest/globals';
import type { Holding } from '../../../../src/node/demand/holdings.ts';
import { GrantedReleases, ReleaseTurns } from '../../../../src/node/release/release-turns.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { eni } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';
import { untimed } from '../pool-rig.ts';
import { policy, ReleaseRig } from '../release-rig.ts';

const prefix = '10.9.0.16/28';
/** The earliest unassignment of what is in excess from the start, in ms. */
const due = policy.delay + policy.hiddenFor;
/** An agent that has dropped everything but one address. */
const dropping = { protocol: 'multi-pool', holds: ['10.0.0.10'] } as const;

/** Its calls that name this, in ms. */
function callsNaming(rig: ReleaseRig, id: string): readonly number[] {
  const naming = rig.calls.filter((call) => call.split('@')[0]?.split(/[ ,]/).includes(id));
  return naming.map((call) => Number(call.split('@')[1]));
}

describe('an address that the cloud refuses to unassign for good', () => {
  /** The first call that names it ends like this, and each later one is refused. */
  function refusing(
    refused: string,
    first: Outcome,
    kind: CloudFailureKind = 'invalid',
  ): (operation: Operation) => Outcome | undefined {
    const ends = [first];
    return (operation) =>
      JSON.stringify(operation).includes(`"${refused}"`) ? (ends.pop() ?? failed(kind)) : undefined;
  }

  test.each([
    ['one of several was missing', failed('notAssigned')],
    ['the answer about several was lost', lost],
  ])('leaves their turn to the others of its interface after %s', async (_, first) => {
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 4)],
      outcome: refusing('10.0.0.11', first),
    });

    await rig.run(due + 300_000);

    expect(rig.held).toEqual(['10.0.0.10', '10.0.0.11']);
    expect(rig.shown).toEqual(['10.0.0.10']);
  });

  test('leaves its turn to an address when it is a prefix', async () => {
    const outcome = refusing(prefix, lost);
    const rig: ReleaseRig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 2, { prefixes: [prefix] })],
      outcome: (operation) => {
        const isEarly = rig.clock.monotonic() < due + 60_000;
        return operation.kind === 'releaseIPs' && isEarly ? failed('throttled') : outcome(operation);
      },
    });

    await rig.run(due + 300_000);

    expect(rig.held).toEqual(['10.0.0.10', ...expandBlock(prefix)].toSorted());
    expect(rig.shown).toEqual(['10.0.0.10']);
  });

  test.each(['invalid', 'unknown'] as const)(
    'does not keep the others that a call names, and is offered again (%s)',
    async (kind) => {
      const rig = new ReleaseRig({
        ...dropping,
        interfaces: [eni(0, 9)],
        outcome: refusing('10.0.0.13', failed(kind), kind),
      });

      await rig.run(due + 120_000);

      expect(rig.held).toEqual(['10.0.0.10', '10.0.0.13']);
      expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.13']);
    },
  );

  test('does not keep the others, although nothing is due right after each refusal', async () => {
    const outcome = refusing('10.0.0.13', failed('invalid'));
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 9)],
      duration: 5000,
      outcome,
    });
    await rig.run(due - 1000);
    // Each write makes what is hidden wait again: here those of others, one during each call.
    for (let calls = 0; calls < 12; calls++) {
      while (rig.calls.length <= calls && rig.clock.monotonic() < 3_600_000) await rig.run(1000);
      rig.writtenAt = rig.clock.monotonic();
      await rig.run(10_000);
    }

    expect(rig.held).toEqual(['10.0.0.10', '10.0.0.13']);
  });

  test.each([
    ['is offered again', failed('invalid'), ['10.0.0.10', '10.0.0.11']],
    ['may be gone', lost, ['10.0.0.10']],
  ])(
    'is named more and more rarely, and keeps no later one from its turn, if it %s',
    async (_, first, shown) => {
      const holds = ['10.0.0.10', '10.0.0.12'];
      const outcome = refusing('10.0.0.11', first);
      const rig = new ReleaseRig({ ...dropping, holds, interfaces: [eni(0, 3)], outcome });
      await rig.run(6 * 3_600_000);

      const before = callsNaming(rig, '10.0.0.11').slice(2);
      rig.holds.delete('10.0.0.12');
      rig.keep = 1;
      await rig.run(due + 60_000);

      expect(rig.held).toEqual(['10.0.0.10', '10.0.0.11']);
      expect(rig.shown).toEqual(shown);
      const waits = before.slice(1).map((at, index) => at - (before[index] ?? 0));
      expect(waits.length).toBeGreaterThan(4);
      expect(Math.min(...waits)).toBeGreaterThan(90_000);
      expect(waits.at(-1)).toBeGreaterThan(1_800_000);
    },
  );

  test.each(['perInstance', 'perInterface'] as const)(
    'does not keep those of other interfaces, whatever a call changes: %s',
    async (change) => {
      // Calls that change all are refused together.
      const rig: ReleaseRig = new ReleaseRig({
        ...dropping,
        interfaces: [eni(0, 4), eni(1, 4)],
        change,
        duration: 5000,
        outcome: (operation) => {
          const isNamed = JSON.stringify(operation).includes('"10.0.0.12"');
          const isCompany = callsNaming(rig, '10.0.0.12').some((at) => at + 5000 >= rig.clock.monotonic());
          return isNamed || (change === 'perInstance' && isCompany) ? failed('invalid') : undefined;
        },
      });

      await rig.run(due + 120_000);

      expect(rig.held).toEqual(['10.0.0.10', '10.0.0.12']);
    },
  );

  test('leaves its turn to another that was refused as well, and that the cloud takes by now', async () => {
    const [stays, passes] = ['10.0.0.11', '10.0.0.12'];
    let refused = [stays, passes];
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 3)],
      outcome: (operation) =>
        refused.some((each) => JSON.stringify(operation).includes(`"${each}"`))
          ? failed('invalid')
          : undefined,
    });
    await rig.run(6 * 3_600_000);

    refused = [stays];
    await rig.run(3 * 3_600_000);

    expect(rig.held).toEqual(['10.0.0.10', stays]);
  });

  test('is named with others once the cloud takes one that it refused as well', async () => {
    let isRefusing = true;
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 4)],
      outcome: () => (isRefusing ? failed('invalid') : undefined),
    });
    await rig.run(6 * 3_600_000);

    isRefusing = false;
    const before = rig.calls.length;
    await rig.run(3_600_000 + 2 * due);

    expect(rig.held).toEqual(['10.0.0.10']);
    expect(rig.calls.slice(before).map((call) => call.split(',').length)).toEqual([1, 2]);
  });

  test('is told by its name', async () => {
    const outcome = refusing('10.0.0.12', failed('invalid'));
    const rig = new ReleaseRig({ ...dropping, interfaces: [eni(0, 4)], outcome });

    await rig.run(due + 120_000);

    const refused = rig.finished.filter(({ failure }) => failure !== undefined);
    expect(refused.at(-1)?.holdings).toEqual(['10.0.0.12']);
  });
});

test('calls name all again once a refused one is found', async () => {
  const holds = ['10.0.0.10', '10.0.0.15', '10.0.0.16', '10.0.0.17'];
  const rig = new ReleaseRig({
    ...dropping,
    holds,
    interfaces: [eni(0, 8)],
    outcome: (operation) =>
      JSON.stringify(operation).includes('"10.0.0.12"') ? failed('invalid') : undefined,
  });
  await rig.run(due + 120_000);
  const before = rig.calls.length;

  rig.holds = new Set(['10.0.0.10']);
  rig.keep = 1;
  await rig.run(due + 60_000);

  const news = untimed(rig.calls.slice(before)).filter((call) => !call.includes('10.0.0.12'));
  expect(news).toEqual(['eni-0 10.0.0.15,10.0.0.16,10.0.0.17']);
});

test('calls on two interfaces go together again once what was refused is gone', async () => {
  const rig = new ReleaseRig({
    ...dropping,
    holds: ['10.0.0.10', '10.0.0.12', '10.0.1.10'],
    interfaces: [eni(0, 3), eni(1, 1)],
    duration: 5000,
    outcome: (operation) =>
      JSON.stringify(operation).includes('"10.0.0.11"') ? failed('invalid') : undefined,
  });
  await rig.run(due + 60_000);
  const holdings = ['10.0.0.11'];
  const answer = { kind: 'released', interfaceId: 'eni-0', instanceId: 'i-1', holdings } as const;
  rig.inventory.applyAnswer(answer, rig.clock.monotonic());
  const before = rig.calls.length;

  rig.holds = new Set(['10.0.0.10']);
  rig.keep = 1;
  await rig.run(due + 60_000);

  const [one, other] = rig.calls.slice(before).map((call) => Number(call.split('@')[1]));
  expect(other).toBe(one);
});

test('calls on two interfaces go together again once the node needed what a split call would have taken', async () => {
  const keeping = ['10.0.0.10', '10.0.0.11', '10.0.0.12', '10.0.0.13', '10.0.1.10', '10.0.1.11'];
  const rig = new ReleaseRig({
    ...dropping,
    holds: ['10.0.0.10', '10.0.1.10', '10.0.1.11'],
    interfaces: [eni(0, 4), eni(1, 2)],
    duration: 5000,
    outcome: (_, number) => (number === 0 ? failed('invalid') : undefined),
  });
  await rig.run(due + 5500);
  rig.holds = new Set(keeping);
  rig.keep = keeping.length;
  await rig.run(due);
  const before = rig.calls.length;

  rig.holds = new Set(['10.0.0.10']);
  rig.keep = 1;
  await rig.run(due + 60_000);

  const news = rig.calls.slice(before);
  expect(before).toBe(1);
  expect(new Set(untimed(news))).toEqual(
    new Set(['eni-0 10.0.0.11,10.0.0.12,10.0.0.13', 'eni-1 10.0.1.10,10.0.1.11']),
  );
  expect(new Set(news.map((call) => call.split('@')[1])).size).toBe(1);
});

describe('what calls name', () => {
  const clock = new VirtualClock();
  const [bad, worse, fresh] = ['10.0.0.11', '10.0.0.12', '10.0.0.13'].map(
    (id): Holding => ({ id, interfaceId: 'eni-0', addresses: [id] }),
  ) as [Holding, Holding, Holding];
  const turnsAfter = async (...refusals: readonly Holding[]): Promise<ReleaseTurns> => {
    const turns = new ReleaseTurns(new GrantedReleases(), { clock, random: new Random('turns') });
    for (const holding of refusals) turns.refuse([holding], [], false);
    await clock.advance(180_000);
    return turns;
  };

  test('is nothing refused beside what was never refused', async () => {
    const turns = await turnsAfter(bad);

    const ordered = turns.inOrder([bad, fresh]);

    expect(ordered).toEqual([fresh, bad]);
    expect(turns.next(ordered)).toEqual([fresh]);
    expect(turns.next([bad, worse])).toEqual([bad]);
  });

  test('is all of it together if the last refusal was about all', async () => {
    const turns = await turnsAfter(bad);
    turns.refuse([bad], [bad, worse], false);
    await clock.advance(360_000);

    expect(turns.next(turns.inOrder([bad, worse]))).toHaveLength(2);
  });

  test('is nothing refused during one pause, however many are', async () => {
    const turns = await turnsAfter(bad, worse);
    const between = turns.pausing.size;

    turns.refuse([bad], [], false);

    expect(between).toBe(0);
    expect(turns.inOrder([bad, worse, fresh])).toEqual([fresh]);
  });

  test('is refused for as long after the cloud took another', async () => {
    const turns = await turnsAfter(bad);
    turns.refuse([bad], [], false);
    const { until } = turns;

    turns.take([fresh]);
    const after = { until: turns.until, areSingle: turns.areSingle };
    turns.take([bad]);

    expect(after).toEqual({ until, areSingle: true });
    expect(turns.areSingle).toBe(false);
  });

  test('is free again once what was refused is gone', async () => {
    const turns = await turnsAfter(bad);

    turns.keepOnly(new Set([fresh.id]));

    expect([turns.until, turns.areSingle]).toEqual([0, false]);
  });
});

describe('a cloud that refuses every address for good', () => {
  test('gets no call for more of them, and their agent is not asked, before a pause is over', async () => {
    const rig = new ReleaseRig({
      protocol: 'crd',
      holds: ['10.0.0.10', '10.0.0.12'],
      interfaces: [eni(0, 3)],
      answer: () => 'ready-for-release',
      outcome: () => failed('notAuthorized'),
    });
    await rig.run(6 * 3_600_000);
    while (rig.calls.length < 12) await rig.run(60_000);
    const before = rig.calls.length;

    rig.holds.delete('10.0.0.12');
    rig.keep = 1;
    const { writtenAt } = rig;
    await rig.run(1_500_000);

    expect(rig.calls.length).toBe(before);
    expect(rig.writtenAt).toBe(writtenAt);
  });

  test.each([
    ['which may concern each alone', 'invalid', 40],
    ['which concerns all', 'notAuthorized', 14],
  ] as const)('is asked ever more rarely, %s', async (_, kind, limit) => {
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 9), eni(1, 8)],
      outcome: () => failed(kind),
    });

    await rig.run(due + 60_000);
    const first = rig.calls.length;
    await rig.run(6 * 3_600_000);
    const before = rig.calls.length;
    const hidden: number[] = [];
    for (let minutes = 0; minutes < 24 * 60; minutes++) {
      await rig.run(60_000);
      if (rig.shown.length < rig.held.length) hidden.push(minutes);
    }

    expect(first).toBeLessThanOrEqual(kind === 'invalid' ? 12 : 2);
    expect(before).toBeLessThanOrEqual(limit);
    expect(rig.calls.length - before).toBeLessThanOrEqual(48);
    expect(hidden.length).toBeLessThan(48 * 3);
  });

  test('releases all within an hour once it takes one again', async () => {
    let isRefusing = true;
    const rig = new ReleaseRig({
      ...dropping,
      interfaces: [eni(0, 9), eni(1, 8)],
      outcome: () => (isRefusing ? failed('invalid') : undefined),
    });
    await rig.run(12 * 3_600_000);

    isRefusing = false;
    await rig.run(3_600_000 + due + 60_000);

    expect(rig.held).toEqual(['10.0.0.10']);
  });
});

test.each([
  ['perInstance', ['10.0.0.10', '10.0.0.11']],
  ['perInterface', ['10.0.0.10']],
] as const)(
  'a lost answer keeps the rest shown until a read shows what became of the call, if it changes all: %s',
  async (change, shown) => {
    const outcome = (_: Operation, number: number): Outcome => (number === 0 ? lost : failed('throttled'));
    const holds = ['10.0.0.10', '10.0.0.11'];
    const rig = new ReleaseRig({ ...dropping, holds, interfaces: [eni(0, 3)], change, outcome });
    await rig.run(due);
    rig.holds.delete('10.0.0.11');
    rig.keep = 1;

    await rig.run(policy.delay + 120_000);
    const before = rig.shown;
    rig.refresh();
    await rig.run(120_000);

    expect(before).toEqual(shown);
    expect(rig.shown).toEqual(['10.0.0.10']);
  },
);

test.each([
  ['perInstance', true],
  ['perInterface', false],
] as const)(
  'an unassignment is repeated once more addresses are hidden as decided, if it changes all: %s',
  async (change, waits) => {
    const outcome = (_: Operation, number: number): Outcome => (number === 0 ? lost : failed('throttled'));
    const holds = ['10.0.0.10', '10.0.0.11'];
    const rig = new ReleaseRig({ ...dropping, holds, interfaces: [eni(0, 3)], change, outcome });
    await rig.run(due + 60_000);
    rig.refresh();
    rig.holds.delete('10.0.0.11');
    rig.keep = 1;
    await rig.run(policy.delay - 1000);

    rig.published = false;
    await rig.run(2000);
    const leaving = rig.releases.striking.size > 0;
    const before = rig.calls.length;
    await rig.run(120_000);
    const during = rig.calls.length;
    rig.published = true;
    await rig.run(120_000);

    expect(leaving).toBe(true);
    expect(during === before).toBe(waits);
    expect(rig.calls.length).toBeGreaterThan(during);
  },
);

test.each([
  ['perInstance', true],
  ['perInterface', false],
] as const)(
  'an address that the node needs again is still about to be hidden until the write can hide it no more, if a change is of all: %s',
  async (change, waits) => {
    const rig = new ReleaseRig({ ...dropping, holds: ['10.0.0.10'], interfaces: [eni(0, 2)], change });
    rig.published = false;
    await rig.run(policy.delay + 1000);
    const before = rig.releases.striking.size > 0;

    rig.writeOpenUntil = Infinity;
    rig.keep = 2;
    await rig.run(1000);
    const during = rig.releases.striking.size > 0;
    rig.writeOpenUntil = rig.clock.monotonic() + 60_000;
    await rig.run(59_000);
    const unanswered = rig.releases.striking.size > 0;
    await rig.clock.advance(1001);

    expect([before, during, unanswered]).toEqual([true, waits, waits]);
    expect(rig.releases.striking.size > 0).toBe(false);
  },
);
