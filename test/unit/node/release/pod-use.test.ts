import { describe, expect, test } from '@jest/globals';
import type { PodReading } from '../../../../src/kubernetes/watch/shown-pods.ts';
import { PodUse } from '../../../../src/node/release/pod-use.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { eni } from '../allocation-facts.ts';
import { lost } from '../outcomes.ts';
import { untimed } from '../pool-rig.ts';
import { policy, type ReleaseSetup, ReleaseRig } from '../release-rig.ts';

const [one, two] = ['10.9.0.16/28', '10.9.0.32/28'];
const protocols = ['crd', 'multi-pool'] as const;
const soon = policy.delay + policy.hiddenFor + 5000;

/** A node whose agent gives up everything but its first address, and whose pods show these. */
class PodRig extends ReleaseRig {
  readonly #pods: Map<string, string>;

  constructor(pods: Record<string, string>, setup: Partial<ReleaseSetup> = {}) {
    const shown = new Map(Object.entries(pods));
    super({
      protocol: 'crd',
      interfaces: [eni(0, 4)],
      holds: ['10.0.0.10'],
      answer: () => 'ready-for-release',
      pods: () => ({ kind: 'read', shown: Array.from(shown, ([address, pod]) => ({ address, pod })) }),
      ...setup,
    });
    this.#pods = shown;
  }

  end(address: string): void {
    this.#pods.delete(address);
  }
}

describe.each(protocols)('what an agent of %s gives up', (protocol) => {
  test('stays shown and assigned while a running pod shows it, and the rest goes', async () => {
    const rig = new PodRig({ '10.0.0.11': 'default/web' }, { protocol });

    await rig.run(soon);

    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.12,10.0.0.13']);
    expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.11']);
    expect(rig.podUse.kept).toEqual([{ address: '10.0.0.11', pod: 'default/web' }]);
    expect(rig.bugs).toEqual([]);
  });

  test('is never hidden before a look', async () => {
    const rig = new PodRig({ '10.0.0.11': 'default/web' }, { protocol, interfaces: [eni(0, 2)] });
    const missing: number[] = [];

    rig.wake();
    for (let at = 0; at < soon; at += 500) {
      await rig.clock.advance(500);
      if (!rig.shown.includes('10.0.0.11')) missing.push(at);
    }

    expect(missing).toEqual([]);
    expect(rig.calls).toEqual([]);
  });

  test('stays as a whole prefix while a pod shows one address of it', async () => {
    const rig = new PodRig(
      { '10.9.0.20': 'default/web' },
      { protocol, interfaces: [eni(0, 1, { prefixes: [one, two] })] },
    );

    await rig.run(soon);

    expect(untimed(rig.calls)).toEqual([`eni-0 ${two}`]);
  });

  test('goes within minutes once its pod is gone, and nothing is kept any longer', async () => {
    const rig = new PodRig({ '10.0.0.11': 'default/web' }, { protocol, interfaces: [eni(0, 2)] });
    await rig.run(soon);

    rig.end('10.0.0.11');
    await rig.clock.advance(300_000 + soon);

    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11']);
    expect(rig.podUse.kept).toEqual([]);
  });

  test('costs few reads while it stays, and no write', async () => {
    const rig = new PodRig({ '10.0.0.11': 'default/web' }, { protocol, interfaces: [eni(0, 2)] });
    await rig.run(soon + 600_000);
    const { writtenAt } = rig;
    const before = rig.podReads.length;

    await rig.clock.advance(3_600_000);

    expect(rig.podReads.length - before).toBeLessThanOrEqual(24);
    expect(rig.writtenAt).toBe(writtenAt);
  });

  test('is kept no longer because of a pod once the agent counts it again', async () => {
    const rig = new PodRig({ '10.0.0.11': 'default/web' }, { protocol, interfaces: [eni(0, 2)] });
    await rig.run(soon);

    rig.holds.add('10.0.0.11');
    rig.keep++;
    await rig.run(1000);

    expect(rig.podUse.kept).toEqual([]);
    expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.11']);
  });
});

test('one look serves all interfaces of a node in a round, from hiding to the calls', async () => {
  const rig = new PodRig({}, { interfaces: [eni(0, 2), eni(1, 2), eni(2, 2)] });

  await rig.run(soon);

  expect(rig.calls).toHaveLength(3);
  expect(rig.podReads).toHaveLength(1);
});

describe('while pods cannot be read', () => {
  const denied: PodReading = { kind: 'unreadable', problem: 'pods is forbidden', isDenied: true };
  const late: PodReading = { kind: 'unreadable', problem: 'timed out', isDenied: false };

  test.each(protocols)(
    'nothing of an agent of %s goes, everything is shown, and the node says it',
    async (protocol) => {
      let reading: PodReading = denied;
      const rig = new PodRig({}, { protocol, pods: () => reading });

      await rig.run(3_600_000);
      const meanwhile = { calls: rig.calls.length, shown: rig.shown.length, problem: rig.podUse.problem };
      reading = { kind: 'read', shown: [] };
      await rig.clock.advance(300_000 + soon);

      expect(meanwhile).toEqual({ calls: 0, shown: 4, problem: 'pods is forbidden' });
      expect(rig.podUse.problem).toBeUndefined();
      expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11,10.0.0.12,10.0.0.13']);
    },
  );

  test.each([
    [1, undefined],
    [3, 'timed out'],
  ])('the node says it after a few failures, not after the first: %i', async (failures, problem) => {
    let left = failures;
    const rig = new PodRig({}, { pods: () => (left-- > 0 ? late : { kind: 'read', shown: [] }) });
    let said: string | undefined;

    rig.wake();
    for (let at = 0; at < soon + 300_000; at += 1000) {
      await rig.clock.advance(1000);
      said ??= rig.podUse.problem;
    }

    expect(said).toBe(problem);
    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11,10.0.0.12,10.0.0.13']);
  });

  test('an earlier call with a lost answer is not repeated', async () => {
    let reading: PodReading = { kind: 'read', shown: [] };
    const rig = new PodRig(
      {},
      { pods: () => reading, outcome: (_, number) => (number === 0 ? lost : undefined) },
    );

    await rig.run(policy.delay + 2000);
    reading = denied;
    await rig.clock.advance(600_000);

    expect(rig.calls).toHaveLength(1);
  });
});

describe('the next look', () => {
  const signal = new AbortController().signal;
  const web: PodReading = { kind: 'read', shown: [{ address: '10.0.0.11', pod: 'default/web' }] };
  const late: PodReading = { kind: 'unreadable', problem: 'timed out', isDenied: false };
  const minute = 60_000;

  function lookRig() {
    const clock = new VirtualClock();
    const answer = { reading: web };
    const read = () => Promise.resolve(answer.reading);
    const use = new PodUse(read, { clock, random: new Random('looks') });
    const untilDue = () => use.lookDue - clock.monotonic();
    const lookOnceDue = async () => {
      await clock.advance(Math.max(0, untilDue()));
      await use.lookAgain(signal);
    };
    return { clock, answer, use, untilDue, lookOnceDue };
  }

  test.each([1, 3, 8])('after %i that found kept addresses fails once without harm', async (looks) => {
    const { answer, use, untilDue, lookOnceDue } = lookRig();
    await use.look(['10.0.0.11'], signal);
    for (let count = 1; count < looks; count++) await lookOnceDue();

    answer.reading = late;
    await lookOnceDue();

    expect([use.keeps('10.0.0.12'), use.problem, use.keeps('10.0.0.11')]).toEqual([false, undefined, true]);
    expect(untilDue()).toBeGreaterThan(0);
    expect(untilDue()).toBeLessThan(minute / 2);
  });

  test('counts from its answer, however long that took', async () => {
    const clock = new VirtualClock();
    const read = async (): Promise<PodReading> => {
      await sleep(clock, 25_000, signal);
      return { kind: 'read', shown: [] };
    };
    const use = new PodUse(read, { clock, random: new Random('looks') });

    const looked = use.look(['10.0.0.11'], signal);
    await clock.advance(25_000);

    expect(await looked).toBe(true);
  });

  test('is the third that fails before everything stays, whatever was kept before', async () => {
    const { answer, use, lookOnceDue } = lookRig();
    await use.look(['10.0.0.11'], signal);
    answer.reading = late;
    const problems: (string | undefined)[] = [];

    for (let count = 0; count < 3; count++) {
      await lookOnceDue();
      problems.push(use.problem);
    }

    expect(problems).toEqual([undefined, undefined, 'timed out']);
    expect(use.isPausing).toBe(true);
  });

  test('comes as soon for a pod that keeps an address later as it came for the first', async () => {
    const { clock, use, untilDue } = lookRig();
    const pauses: number[] = [];

    for (let count = 0; count < 6; count++) {
      await use.look(['10.0.0.11'], signal);
      pauses.push(untilDue());
      use.keepOnly(() => false);
      await clock.advance(minute);
    }

    expect(Math.max(...pauses)).toBeLessThan(minute / 2);
    expect(use.lookDue).toBe(Infinity);
  });
});
