import { expect, test } from '@jest/globals';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { eni } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';
import { policy, ReleaseRig, timing } from '../release-rig.ts';

/** Two addresses, one of them in excess. The first call that takes it is refused. */
function firstRefused(kind: CloudFailureKind): ReleaseRig {
  return new ReleaseRig({
    protocol: 'crd',
    interfaces: [eni(0, 2)],
    holds: ['10.0.0.10'],
    answer: () => 'ready-for-release',
    outcome: (_, number) => (number === 0 ? failed(kind) : undefined),
  });
}

test('a release whose answer was lost says nothing about a later release of the same address, which the cloud denies', async () => {
  const rig = new ReleaseRig({
    protocol: 'crd',
    interfaces: [eni(0, 2)],
    holds: ['10.0.0.10'],
    answer: () => 'ready-for-release',
    outcome: (_, number) => (number === 0 ? lost : failed('notAuthorized')),
  });
  const read = (item: NetworkInterface): void => {
    const now = rig.clock.monotonic();
    const observations = [{ kind: 'interface', interface: item } as const];
    rig.inventory.applyRefresh({ startedAt: now, endedAt: now, instanceIds: ['i-1'], observations });
  };
  await rig.run(policy.delay + 1000);
  // The call took effect.
  for (let reads = 0; reads < 3; reads++) {
    read(eni(0, 1));
    await rig.run(timing.consistencyWindow + 1000);
  }
  const between = { calls: rig.calls.length, outgoing: [...rig.releases.outgoing] };

  // It is assigned again, in excess again, and needed again.
  rig.keep = 2;
  read(eni(0, 2));
  await rig.run(60_000);
  rig.keep = 1;
  await rig.run(policy.delay + 2000);
  const calls = rig.calls.length;
  rig.keep = 2;
  await rig.run(600_000);

  expect(between).toEqual({ calls: 1, outgoing: [] });
  expect(calls).toBe(2);
  expect(rig.shown).toEqual(['10.0.0.10', '10.0.0.11']);
  expect(rig.bugs).toEqual([]);
});

test.each([
  ['perInstance', ['10.0.0.10', '10.0.0.11']],
  ['perInterface', ['10.0.0.10']],
] as const)(
  'a repeated release that meets a change keeps the rest shown until a read that cannot be older, if a call changes all: %s',
  async (change, shown) => {
    const rig = new ReleaseRig({
      protocol: 'multi-pool',
      interfaces: [eni(0, 3)],
      holds: ['10.0.0.10', '10.0.0.11'],
      change,
      duration: 5000,
      outcome: (_, number) => [lost, failed('conflict')][number] ?? failed('throttled'),
    });
    await rig.run(100_000);
    rig.holds.delete('10.0.0.11');
    rig.keep = 1;
    const repeatedAt = policy.delay + policy.hiddenFor + 5000 + timing.callTimeout + timing.consistencyWindow;
    await rig.run(repeatedAt + 1000 - 100_000);
    // This read and the next one do not show the change yet.
    rig.refresh();
    await rig.run(20_000);
    rig.refresh();
    await rig.run(10_000);
    const before = rig.shown;

    await rig.run(10_000);
    rig.refresh();
    await rig.run(60_000);

    expect(before).toEqual(shown);
    expect(rig.shown).toEqual(['10.0.0.10']);
    expect(rig.bugs).toEqual([]);
  },
);

test.each<[CloudFailureKind, number]>([
  ['conflict', 1],
  ['throttled', 0],
])(
  'a refused release has the instance read if something else is changing it (%s)',
  async (kind, invalidations) => {
    const rig = firstRefused(kind);

    await rig.run(policy.delay + 500);

    expect(rig.calls).toHaveLength(1);
    expect(rig.invalidations).toHaveLength(invalidations);
  },
);

test.each<CloudFailureKind>(['interfaceGone', 'instanceGone'])(
  'a refused release shows nothing again, and is not repeated before a refresh, if what it concerns is gone (%s)',
  async (kind) => {
    const rig = firstRefused(kind);

    await rig.run(policy.delay + 60_000);
    const { shown } = rig;
    await rig.clock.advance(3_600_000);
    const calls = rig.calls.length;
    rig.refresh();
    await rig.run(60_000);

    expect({ shown, calls }).toEqual({ shown: ['10.0.0.10'], calls: 1 });
    expect(rig.invalidations).toHaveLength(1);
    expect(rig.held).toEqual(['10.0.0.10']);
  },
);
