import { describe, expect, test } from '@jest/globals';
import { heldAnnotation, WithdrawalWatch } from '../../../../src/controller/eni/withdrawal-watch.ts';
import type { NodeMember } from '../../../../src/manager/withdrawals/withdrawal-decision.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const consistencyWindow = 30_000;

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `i-${String(index).padStart(3, '0')}`);
}

function rig(
  given: { annotation?: string; withoutLease?: true; describe?: () => Promise<{ scope: string }> } = {},
) {
  const clock = new VirtualClock();
  const log = recordingLogger();
  const permission = new MutationPermission(noPauses);
  const annotations = new Map<string, string | undefined>();
  if (given.annotation !== undefined) annotations.set(heldAnnotation, given.annotation);
  const reported = { lease: [] as string[], nodes: [] as string[], withdrawn: [] as string[] };
  const world = {
    held: new Set<string>(),
    presence: 'shown' as NodeMember['presence'],
    token: undefined as string | undefined,
  };
  const members = (): readonly NodeMember[] =>
    ids(100).map((instanceId) => ({
      node: { name: `node-${instanceId}`, uid: instanceId, nodeUid: instanceId },
      hasNode: true,
      instanceId,
      networkId: 'vpc-1',
      usesAddresses: true,
      presence: world.presence,
    }));
  const watch: WithdrawalWatch = new WithdrawalWatch({
    held: {
      heldWithdrawals: () => world.held,
      reevaluate: (now) => miss([], now),
    },
    host: { options: { consistencyWindow }, clock, log },
    fleet: { members },
    listener: {
      cloudChanged: (event) =>
        event.kind === 'instancesChanged' && void reported.withdrawn.push(...event.instanceIds),
    },
    approval: world,
    cloud: { describe: given.describe ?? (() => Promise.resolve({ scope: 'eu-west-1 of account 1234' })) },
    leadership: {
      permission,
      lease:
        given.withoutLease === true
          ? undefined
          : {
              annotation: (key) => annotations.get(key),
              annotate: (key, text) => void annotations.set(key, text),
            },
    },
    events: {
      record: ({ name }, { reason }) => void reported.nodes.push(`${name} ${reason}`),
      recordOnLease: ({ type, reason, message }) => void reported.lease.push(`${type} ${reason}: ${message}`),
    },
  });
  /** Acts as the inventory does when a read proves that something of these instances is missing. */
  function miss(instanceIds: readonly string[], now = clock.monotonic()): ReadonlySet<string> {
    const weighed = new Set([...world.held, ...instanceIds]);
    const isAdmitted = watch.gate.admit(weighed, now, () => new Set());
    world.held = isAdmitted ? new Set() : weighed;
    return isAdmitted ? weighed : new Set();
  }
  const note = (): string | undefined => annotations.get(heldAnnotation);
  const warned = (): string[] =>
    log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  return { clock, log, permission, reported, world, watch, miss, note, warned };
}

const tokenIn = (text: string | undefined): string => /--allow-withdrawals=(\w+)/.exec(text ?? '')?.[1] ?? '';

describe('withdrawals that are held', () => {
  test('pause releases at once, and nothing else, until they end', async () => {
    const { clock, permission, watch, miss, world } = rig();
    watch.takeOverHeld();
    watch.noteResync();

    miss(ids(60));
    const during = (['allocate', 'release', 'publish', 'notify'] as const).map((each) =>
      permission.refusal(each),
    );
    world.held = new Set();
    await clock.advance(2000);

    expect(during).toEqual([undefined, 'withdrawalsHeld', undefined, undefined]);
    expect(permission.refusal('release')).toBeUndefined();
  });

  test('are reported once: one line of log, one Event on the Lease, and on 10 nodes, of which each has two objects', async () => {
    const { clock, reported, watch, miss, warned } = rig();
    watch.takeOverHeld();
    watch.noteResync();

    miss(ids(60));
    await clock.advance(1000);
    miss(ids(61));
    await clock.advance(1_000_000);

    expect(warned()).toEqual(['withdrawals are held: nothing is taken away']);
    expect(reported.lease).toEqual([
      expect.stringMatching(
        /^Warning WithdrawalsHeld: interfaces or addresses of 61 nodes of vpc-1 are missing in eu-west-1 of account 1234, where 100 use addresses: is this the right region and role\? .*--allow-withdrawals=[\da-f]{10}$/,
      ),
    ]);
    expect(reported.nodes).toEqual(ids(10).map((id) => `node-${id} WithdrawalsHeld`));
  });

  test('are reported once all are known, because the readings of a large fleet arrive one by one', async () => {
    const { clock, reported, watch, miss } = rig();
    watch.takeOverHeld();
    watch.noteResync();

    for (let missing = 20; missing <= 80; missing += 20) {
      miss(ids(missing));
      await clock.advance(8000);
    }
    await clock.advance(60_000);

    expect(reported.lease).toEqual([expect.stringMatching(/interfaces or addresses of 80 nodes /)]);
    expect(tokenIn(reported.lease[0])).toBe(watch.report()?.token);
  });

  test('are reported after a minute, however many more follow', async () => {
    const { clock, reported, watch, miss } = rig();
    watch.takeOverHeld();
    watch.noteResync();

    for (let missing = 20; missing <= 31; missing++) {
      miss(ids(missing));
      await clock.advance(5000);
    }

    expect(reported.lease).toHaveLength(1);
  });

  test('are reported again if they are held again', async () => {
    const { clock, reported, watch, miss, world } = rig();
    watch.takeOverHeld();
    watch.noteResync();
    miss(ids(60));
    await clock.advance(20_000);

    world.held = new Set();
    await clock.advance(20_000);
    miss(ids(60));
    await clock.advance(20_000);

    expect(reported.lease).toHaveLength(2);
  });

  test('are not reported if they are held for some seconds only', async () => {
    const { clock, reported, watch, miss, world, warned } = rig();
    watch.takeOverHeld();
    watch.noteResync();

    miss(ids(60));
    await clock.advance(5000);
    world.held = new Set();
    await clock.advance(60_000);

    expect([warned(), reported.lease, reported.nodes]).toEqual([[], [], []]);
  });

  test('are reported once if they are held again soon after', async () => {
    const { clock, reported, watch, miss, world } = rig();
    watch.takeOverHeld();
    watch.noteResync();

    miss(ids(60));
    await clock.advance(5000);
    world.held = new Set();
    await clock.advance(2000);
    miss(ids(60));
    await clock.advance(9999);
    const early = reported.lease.length;
    await clock.advance(60_000);

    expect([early, reported.lease.length]).toEqual([0, 1]);
  });

  test('make the process unready, with the sentence that /status shows', async () => {
    const { clock, watch, miss, world } = rig();
    watch.takeOverHeld();
    watch.noteResync();
    await clock.advance(0);
    const before = [watch.problem(), watch.report(), watch.heldNodes];

    miss(ids(60));
    await clock.advance(0);
    const problem = watch.problem();
    const report = watch.report();
    world.held = new Set();
    await clock.advance(2000);

    expect(before).toEqual([undefined, undefined, 0]);
    expect(problem).toMatch(
      /^interfaces or addresses of 60 nodes of vpc-1 are missing in eu-west-1 of account 1234/,
    );
    expect(report).toEqual({
      state: 'held',
      why: problem,
      nodes: 60,
      instances: ids(20),
      token: tokenIn(problem),
    });
    expect(watch.problem()).toBeUndefined();
  });

  test('are made once their token is set, and the note in the Lease is removed', async () => {
    const { clock, reported, watch, miss, world, note } = rig();
    watch.takeOverHeld();
    watch.noteResync();
    miss(ids(60));
    await clock.advance(0);
    const left = note();

    world.token = tokenIn(watch.problem());
    await clock.advance(2000);

    expect(JSON.parse(left ?? '')).toEqual({
      since: '2026-01-01T00:00:00.000Z',
      token: world.token,
      nodes: 60,
      sentence: expect.stringContaining('eu-west-1 of account 1234'),
    });
    expect(reported.withdrawn).toEqual(ids(60));
    expect(note()).toBeUndefined();
  });

  test('are not made for another token, which is logged once', async () => {
    const { clock, reported, watch, miss, world, warned } = rig();
    watch.takeOverHeld();
    watch.noteResync();
    miss(ids(60));
    world.token = tokenIn(watch.problem());

    miss(ids(61));
    await clock.advance(600_000);

    expect(reported.withdrawn).toEqual([]);
    expect(warned()).toEqual([
      'the token of --allow-withdrawals does not match the held withdrawals',
      'withdrawals are held: nothing is taken away',
    ]);
  });

  test('are reported without region and account while these are unknown', async () => {
    const { clock, watch, miss } = rig({ describe: () => new Promise(() => undefined) });
    watch.takeOverHeld();
    watch.noteResync();

    miss(ids(60));
    await clock.advance(0);

    expect(watch.problem()).toMatch(
      /^interfaces or addresses of 60 nodes of vpc-1 are missing in the cloud,/,
    );
  });

  test('leave their note in the Lease when the process ends', async () => {
    const { clock, watch, miss, note, reported } = rig();
    watch.takeOverHeld();
    watch.noteResync();
    miss(ids(60));
    const left = note();

    watch.stop();
    await clock.advance(600_000);

    expect(left).toBeDefined();
    expect(note()).toBe(left);
    expect(reported.lease).toEqual([]);
  });

  test('need no Lease', async () => {
    const { clock, watch, miss, warned } = rig({ withoutLease: true });
    watch.takeOverHeld();
    watch.noteResync();

    miss(ids(60));
    await clock.advance(20_000);

    expect(warned()).toHaveLength(1);
  });
});

describe('withdrawals that the previous leader held', () => {
  const annotation =
    '{"since":"2025-12-31T00:00:00.000Z","token":"0123456789","nodes":60,"sentence":"much is missing"}';

  test('stay held, and the note with them, until this process has read the cloud twice, and then until they are shown', async () => {
    const { clock, permission, watch, world, miss, note, reported } = rig({ annotation });
    watch.takeOverHeld();
    const atOnce = permission.refusal('release');
    watch.noteResync();
    miss(ids(1));

    await clock.advance(2 * consistencyWindow - 1);
    const during = [permission.refusal('release'), note(), watch.heldNodes, watch.report()?.state];
    await clock.advance(2001);
    const then = [permission.refusal('release'), watch.report()?.state];
    world.held = new Set();
    await clock.advance(2001);

    expect(then).toEqual(['withdrawalsHeld', 'held']);
    expect(atOnce).toBe('withdrawalsHeld');
    expect(during).toEqual(['withdrawalsHeld', annotation, 60, 'inherited']);
    expect(reported.lease).toEqual([
      expect.stringContaining('the previous leader held withdrawals: much is missing'),
    ]);
    expect(permission.refusal('release')).toBeUndefined();
    expect(note()).toBeUndefined();
    expect(reported.withdrawn).toEqual([]);
  });

  test('stay held when their note cannot be read', () => {
    const { permission, watch } = rig({ annotation: 'yes' });

    watch.takeOverHeld();

    expect(permission.refusal('release')).toBe('withdrawalsHeld');
  });
});

describe('a cloud that shows none of the instances', () => {
  test('makes the process unready and stops what takes away, until most are found', async () => {
    const { clock, permission, watch, world, reported, note } = rig();
    world.presence = 'notFound';
    watch.takeOverHeld();
    watch.noteResync();

    await clock.advance(20_000);
    const during = [watch.problem(), permission.refusal('release'), watch.heldNodes, note()];
    world.presence = 'shown';
    await clock.advance(2000);

    expect(during).toEqual([
      'none of the 100 instances of vpc-1 is in eu-west-1 of account 1234: is this the right region and role? Nothing is taken away until most of them are found',
      'withdrawalsHeld',
      100,
      undefined,
    ]);
    expect(reported.lease).toEqual([`Warning WithdrawalsHeld: ${during[0]}`]);
    expect(reported.nodes).toEqual([]);
    expect([watch.problem(), permission.refusal('release')]).toEqual([undefined, undefined]);
  });

  test('is waited for while the instances are not read, for two consistency windows at most', async () => {
    const { clock, watch, world } = rig();
    world.presence = 'unread';
    watch.takeOverHeld();
    watch.noteResync();

    await clock.advance(2 * consistencyWindow - 1);
    const during = watch.problem();
    await clock.advance(1);

    expect(during).toBe('it looks for the instances of the nodes');
    expect(watch.problem()).toBeUndefined();
  });
});
