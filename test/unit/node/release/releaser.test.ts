import { describe, expect, test } from '@jest/globals';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { eni } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';
import { untimed } from '../pool-rig.ts';
import { policy, type ReleaseSetup, ReleaseRig, timing } from '../release-rig.ts';

const [one, two] = ['10.9.0.16/28', '10.9.0.32/28'];
/** The earliest unassignment of what is in excess from the start, in ms. */
const due = { crd: policy.delay, 'multi-pool': policy.delay + policy.hiddenFor } as const;

/** A multi-pool agent that has dropped everything that it does not hold. */
function dropped(interfaces: readonly NetworkInterface[], change: Partial<ReleaseSetup> = {}): ReleaseRig {
  return new ReleaseRig({ protocol: 'multi-pool', interfaces, holds: ['10.0.0.10'], ...change });
}

/** An agent that is asked, and agrees to everything by default. */
function asked(interfaces: readonly NetworkInterface[], change: Partial<ReleaseSetup> = {}): ReleaseRig {
  const answer = (): 'ready-for-release' => 'ready-for-release';
  return new ReleaseRig({ protocol: 'crd', interfaces, holds: ['10.0.0.10'], answer, ...change });
}

function firstCallAt({ calls }: ReleaseRig): number {
  return Number(calls[0]?.split('@')[1]);
}

/** The first call has this outcome, and later ones succeed. */
function once(outcome: Outcome): (operation: Operation, number: number) => Outcome | undefined {
  return (_, number) => (number === 0 ? outcome : undefined);
}

describe('an address that an agent dropped', () => {
  test.each<[string, NetworkInterface, Partial<ReleaseSetup>, string]>([
    ['an address', eni(0, 2), {}, 'eni-0 10.0.0.11'],
    ['a prefix', eni(0, 1, { prefixes: [one] }), {}, `eni-0 ${one}`],
    [
      'a prefix beside one that it holds',
      eni(0, 0, { prefixes: [one, two] }),
      { holds: [two] },
      `eni-0 ${one}`,
    ],
    ['several in one call', eni(0, 3), {}, 'eni-0 10.0.0.11,10.0.0.12'],
  ])('is unassigned as a whole holding: %s', async (_, item, change, call) => {
    const rig = dropped([item], change);

    await rig.run(due['multi-pool'] - 1000);
    const before = { calls: rig.calls.length, shown: rig.shown };
    await rig.clock.advance(2000);

    expect(before.calls).toBe(0);
    expect(untimed(rig.calls)).toEqual([call]);
    expect(firstCallAt(rig)).toBeGreaterThanOrEqual(due['multi-pool']);
    // It was hidden long before, and no longer belongs to the node.
    expect(rig.shown).toEqual(before.shown);
    expect(rig.held).toEqual(before.shown);
    expect(rig.finished).toEqual([expect.objectContaining({ failure: undefined, isOpen: false })]);
    expect(rig.bugs).toEqual([]);
  });

  test('is unassigned with a call for each of two interfaces', async () => {
    const rig = dropped([eni(0, 2), eni(1, 1, { prefixes: [one] }), eni(2, 0, { prefixes: [two] })]);

    await rig.run(due['multi-pool'] + 2000);

    expect([...untimed(rig.calls)].toSorted()).toEqual([
      'eni-0 10.0.0.11',
      'eni-1 10.0.1.10',
      `eni-1 ${one}`,
      `eni-2 ${two}`,
    ]);
    expect(rig.held).toEqual(['10.0.0.10']);
  });

  test('is unassigned in its own time, apart from others', async () => {
    const rig = dropped([eni(0, 3)], { holds: ['10.0.0.10', '10.0.0.11'] });
    await rig.run(100_000);
    rig.holds.delete('10.0.0.11');
    rig.keep = 1;

    await rig.run(due['multi-pool'] - 100_000 + 1000);
    const first = untimed(rig.calls);
    await rig.clock.advance(100_000);

    expect(first).toEqual(['eni-0 10.0.0.12']);
    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.12', 'eni-0 10.0.0.11']);
  });
});

test.each([
  ['hidden', 0, due['multi-pool'] - policy.hiddenFor],
  ['unassigned', policy.delay + 30_000, due['multi-pool']],
])(
  'nothing is %s while writes of ours keep the agent from reporting what it uses',
  async (what, from, soonest) => {
    const rig = dropped([eni(0, 2)]);
    const happened = (): boolean => (what === 'hidden' ? rig.shown.length < 2 : rig.calls.length > 0);
    await rig.run(from);
    while (rig.clock.monotonic() < soonest + 60_000) {
      rig.writtenAt = rig.clock.monotonic();
      await rig.run(15_000);
    }

    await rig.clock.advance(policy.hiddenFor - 15_000 - 1000);
    const before = happened();
    await rig.clock.advance(2000);

    expect([before, happened()]).toEqual([false, true]);
  },
);

test('an address that an agent drops is unassigned, however soon it drops the next one', async () => {
  const all = Array.from({ length: 12 }, (_, index) => `10.0.0.${10 + index}`);
  const rig = dropped([eni(0, 12)], { holds: all });
  for (const address of all.slice(1)) {
    rig.holds.delete(address);
    rig.keep--;
    await rig.run(60_000);
  }

  const meanwhile = rig.held.length;
  await rig.clock.advance(600_000);

  expect(meanwhile).toBeLessThan(8);
  expect(rig.held).toEqual(['10.0.0.10']);
});

describe('an address that an agent dropped', () => {
  test.each<[string, Partial<ReleaseSetup>, readonly NetworkInterface[]]>([
    ['nothing is to be released', { enabled: false }, [eni(0, 3)]],
    ['the agent has not reported what it holds', { holds: [], keep: 1 }, [eni(0, 3)]],
    ['the node needs it', { keep: 3 }, [eni(0, 3)]],
    ['it is a prefix and there is less excess', { keep: 2 }, [eni(0, 1, { prefixes: [one] })]],
    [
      'it is the primary address of its interface',
      { keep: 0 },
      [{ ...eni(0, 1), addresses: ['10.0.0.4', '10.0.0.10'] }],
    ],
  ])('stays when %s', async (_, change, interfaces) => {
    const rig = dropped(interfaces, change);

    await rig.run(3_600_000);

    expect(rig.calls).toEqual([]);
    expect(rig.shown).toEqual(rig.held);
    expect(rig.bugs).toEqual([]);
  });

  test('stays when the agent holds it again before the delay is over, which then restarts', async () => {
    const rig = dropped([eni(0, 2)]);
    await rig.run(100_000);
    rig.holds.add('10.0.0.11');
    await rig.run(1000);
    rig.holds.delete('10.0.0.11');
    await rig.run(0);

    await rig.clock.advance(due['multi-pool'] - 1000);
    const before = rig.calls.length;
    await rig.clock.advance(2000);

    expect(before).toBe(0);
    expect(rig.calls).toHaveLength(1);
  });

  test('stays, and is shown again, when the agent holds it again while it is hidden', async () => {
    const rig = dropped([eni(0, 2)]);
    await rig.run(policy.delay + 1000);
    const hidden = rig.shown;
    rig.holds.add('10.0.0.11');

    await rig.run(3_600_000);

    expect(hidden).toEqual(['10.0.0.10']);
    expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.11']);
    expect(rig.calls).toEqual([]);
  });

  test('stays as far as the agent holds it again at the last read', async () => {
    let refreshes = 0;
    const rig = dropped([eni(0, 1, { prefixes: [one, two] })], {
      onRead: ({ holds }) => {
        if (refreshes++ === 0) holds.add(two);
        return true;
      },
    });

    await rig.run(due['multi-pool'] + 600_000);

    expect(untimed(rig.calls)).toEqual([`eni-0 ${one}`]);
    expect(rig.shown).toContain('10.9.0.32');
    expect(rig.shown).toHaveLength(17);
  });

  test('stays, and the tokens are refunded, when the agent holds all of it again at the last read', async () => {
    const rig = dropped([eni(0, 2)], {
      onRead: ({ holds }) => {
        holds.add('10.0.0.11');
        return true;
      },
    });

    await rig.run(due['multi-pool'] + 600_000);

    expect(rig.calls).toEqual([]);
    expect(rig.refunds).toBe(1);
    expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.11']);
  });

  test('stays hidden until the CiliumNode can be read', async () => {
    let isThere = false;
    const rig = dropped([eni(0, 2)], { onRead: () => isThere });
    await rig.run(due['multi-pool'] + 60_000);
    const before = { calls: rig.calls.length, shown: rig.shown };

    isThere = true;
    await rig.clock.advance(60_000);

    expect(before).toEqual({ calls: 0, shown: ['10.0.0.10'] });
    expect(rig.calls).toHaveLength(1);
  });

  test('stays until nothing is being added to its interface', async () => {
    const rig = dropped([eni(0, 2)]);
    rig.growing.add('eni-0');
    await rig.run(due['multi-pool'] + 60_000);
    const before = rig.calls.length;

    rig.growing.clear();
    await rig.run(60_000);

    expect(before).toBe(0);
    expect(rig.calls).toHaveLength(1);
  });

  test('stays when the agent becomes one that is asked in the meantime', async () => {
    const rig = dropped([eni(0, 2)]);
    await rig.run(policy.delay + 1000);
    rig.protocol = 'crd';

    await rig.run(policy.hiddenFor + 1000);

    expect(rig.calls).toEqual([]);
    expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.11']);
  });
});

test('an address that is gone from its interface is not released', async () => {
  const rig = dropped([eni(0, 2)]);
  await rig.run(policy.delay + 1000);
  const leaving = rig.releases.interfaces.size;
  rig.inventory.applyAnswer(
    { kind: 'released', interfaceId: 'eni-0', instanceId: 'i-1', holdings: ['10.0.0.11'] },
    rig.clock.monotonic(),
  );
  await rig.run(3_600_000);
  await rig.run(0);

  expect(leaving).toBe(1);
  expect(rig.calls).toEqual([]);
  expect(rig.releases.interfaces.size).toBe(0);
});

describe('a refused unassignment', () => {
  const passing: readonly CloudFailureKind[] = [
    'throttled',
    'fenced',
    'stopped',
    'unreachable',
    'conflict',
    'notYetVisible',
  ];
  const lasting: readonly CloudFailureKind[] = ['notAuthorized', 'invalid', 'unknown'];

  test.each(passing)(
    'takes nothing, and is repeated within seconds, when its cause passes (%s)',
    async (kind) => {
      const rig = dropped([eni(0, 2)], { outcome: once(failed(kind)) });

      await rig.run(due['multi-pool'] + 500);
      const before = { shown: rig.shown, held: rig.held.length };
      await rig.clock.advance(5000);

      expect(before).toEqual({ shown: ['10.0.0.10'], held: 2 });
      expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11', 'eni-0 10.0.0.11']);
      expect(rig.finished.map(({ failure }) => failure?.kind)).toEqual([kind, undefined]);
      expect(rig.held).toEqual(['10.0.0.10']);
    },
  );

  test.each(lasting)(
    'shows everything again, and is repeated later, when its cause lasts (%s)',
    async (kind) => {
      const rig = dropped([eni(0, 2)], { outcome: once(failed(kind)) });

      await rig.run(due['multi-pool'] + 60_000);
      const before = { shown: rig.shown, calls: rig.calls.length };
      await rig.clock.advance(3_600_000);

      expect(before).toEqual({ shown: ['10.0.0.10', '10.0.0.11'], calls: 1 });
      expect(rig.calls).toHaveLength(2);
      expect(rig.held).toEqual(['10.0.0.10']);
    },
  );

  test('leaves addresses alone that were unassigned from the same interface before', async () => {
    const rig = dropped([eni(0, 2, { prefixes: [one] })], {
      outcome: (operation) => (operation.kind === 'releasePrefixes' ? failed('throttled') : undefined),
    });

    await rig.run(due['multi-pool'] + 500);

    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11', `eni-0 ${one}`]);
    expect([rig.held.length, rig.shown]).toEqual([17, ['10.0.0.10']]);
  });

  test('does not stop those of other interfaces', async () => {
    const rig = dropped([eni(0, 2), eni(1, 1)], {
      outcome: (operation) =>
        'interfaceId' in operation && operation.interfaceId === 'eni-0' ? failed('throttled') : undefined,
    });

    await rig.run(due['multi-pool'] + 500);

    expect(rig.held).toEqual(['10.0.0.10', '10.0.0.11']);
  });

  test('leads to a call for each address when one of several is no longer there', async () => {
    const rig = dropped([eni(0, 3)], {
      outcome: ({ kind, ...operation }) => {
        const { addresses } = operation as { addresses: readonly string[] };
        return kind === 'releaseIPs' && addresses.includes('10.0.0.12') ? failed('notAssigned') : undefined;
      },
    });

    await rig.run(due['multi-pool'] + 60_000);

    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11,10.0.0.12', 'eni-0 10.0.0.11', 'eni-0 10.0.0.12']);
    expect(rig.held).toEqual(['10.0.0.10']);
  });

  test('shows none of several again when one was no longer there and the next call is denied', async () => {
    const kinds: CloudFailureKind[] = ['notAssigned'];
    const rig = dropped([eni(0, 3)], { outcome: () => failed(kinds.pop() ?? 'notAuthorized') });
    await rig.run(due['multi-pool'] + 500);
    expect(rig.shown).toEqual(['10.0.0.10']);
  });
});

describe('an unassignment whose answer was lost', () => {
  test('keeps addresses off its interface until it can no longer take effect, and is then repeated', async () => {
    const rig = dropped([eni(0, 2)], { outcome: once(lost) });
    const over = timing.callTimeout + timing.consistencyWindow;
    await rig.run(due['multi-pool'] + 1000);

    const during = {
      shrinking: rig.releases.shrinking.has('eni-0'),
      invalidations: rig.invalidations.length,
    };
    await rig.clock.advance(over - 2000);
    const before = rig.calls.length;
    await rig.clock.advance(2000);

    expect(during).toEqual({ shrinking: true, invalidations: 1 });
    expect(before).toBe(1);
    expect(rig.calls).toHaveLength(2);
    expect(rig.releases.shrinking.has('eni-0')).toBe(false);
    expect(rig.finished.map(({ isOpen }) => isOpen)).toEqual([true, false]);
  });

  test('is not undone when an agent holds the address again', async () => {
    const rig = dropped([eni(0, 2)], { outcome: once(lost) });
    await rig.run(due['multi-pool'] + 1000);

    rig.holds.add('10.0.0.11');
    await rig.run(timing.callTimeout);

    expect(rig.shown).toEqual(['10.0.0.10']);
  });
});

describe('an agent that is asked', () => {
  test('is asked after the delay, and what it agrees to is hidden and unassigned at once', async () => {
    const rig = asked([eni(0, 2), eni(1, 2)]);

    await rig.run(due.crd - 1000);
    const before = { handshake: rig.handshake, shown: rig.shown.length };
    await rig.clock.advance(2000);

    expect(before).toEqual({ handshake: {}, shown: 4 });
    expect([...untimed(rig.calls)].toSorted()).toEqual(['eni-0 10.0.0.11', 'eni-1 10.0.1.10,10.0.1.11']);
    expect(rig.held).toEqual(['10.0.0.10']);
    expect(rig.handshake).toEqual({});
  });

  test('is waited for when it does not answer, and keeps everything', async () => {
    const rig = asked([eni(0, 2)], { answer: () => undefined });

    await rig.run(3_600_000);

    expect(rig.calls).toEqual([]);
    expect(rig.handshake).toEqual({ '10.0.0.11': 'marked-for-release' });
    expect(rig.shown).toEqual(rig.held);
  });

  test('is asked more and more rarely when it refuses', async () => {
    const times: number[] = [];
    const rig: ReleaseRig = asked([eni(0, 2)], {
      answer: () => {
        times.push(rig.clock.monotonic());
        return 'do-not-release';
      },
    });

    await rig.run(36_000_000);

    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(times.length).toBeLessThan(18);
    expect(waits[0]).toBeGreaterThanOrEqual(policy.delay + 90_000);
    expect(Math.min(...waits.slice(5))).toBeGreaterThanOrEqual(1_800_000);
    expect(rig.calls).toEqual([]);
    expect(rig.handshake).toEqual({});
  });

  test('keeps a prefix of which it keeps one address, and releases the others', async () => {
    const rig = asked([eni(0, 2, { prefixes: [one] })], {
      answer: (address) => (address === '10.9.0.20' ? 'do-not-release' : 'ready-for-release'),
    });

    await rig.run(due.crd + 60_000);

    expect(untimed(rig.calls)).toEqual(['eni-0 10.0.0.11']);
    expect(rig.shown).toHaveLength(17);
  });

  test('gets back without a call what it needs again while it is hidden', async () => {
    const rig = asked([eni(0, 2)], { onRead: () => false });
    await rig.run(due.crd + 1000);
    const hidden = rig.shown.length;

    rig.keep = 2;
    await rig.run(60_000);

    expect(hidden).toBe(1);
    expect(rig.shown).toHaveLength(2);
    expect(rig.calls).toEqual([]);
  });

  test('sees an address hidden before it is unassigned', async () => {
    const rig = asked([eni(0, 2)]);
    await rig.run(due.crd - 1);
    rig.published = false;

    await rig.run(60_000);

    expect(rig.calls).toEqual([]);
  });
});

test('a node that keeps everything is woken for no release before something is in excess', async () => {
  const rig = dropped([eni(0, 2)], { keep: 2 });
  await rig.run(1000);
  const idle = rig.releaser.step(rig.clock.monotonic());
  rig.keep = 1;

  expect(idle).toEqual({});
  expect(rig.releaser.step(rig.clock.monotonic()).requeueAfter).toBeGreaterThan(0);
});

describe('a releaser that is stopped', () => {
  test('finishes a call in flight, and starts none', async () => {
    const rig = dropped([eni(0, 2)], { duration: 5000 });
    await rig.run(due['multi-pool'] + 1000);
    let isOver = false;

    void rig.tasks.stop(new AbortController().signal).then(() => {
      isOver = true;
    });
    await rig.clock.advance(1000);
    const before = isOver;
    await rig.clock.advance(600_000);

    expect(before).toBe(false);
    expect(isOver).toBe(true);
    expect(rig.calls).toHaveLength(1);
    expect(rig.bugs).toEqual([]);
  });

  test('takes no further step', async () => {
    const rig = dropped([eni(0, 2)]);
    await rig.run(1000);

    await rig.tasks.stop(new AbortController().signal);
    await rig.run(3_600_000);

    expect(rig.calls).toEqual([]);
    expect(rig.shown).toHaveLength(2);
  });
});
