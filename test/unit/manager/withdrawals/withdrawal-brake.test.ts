import { describe, expect, test } from '@jest/globals';
import {
  type HeldWithdrawalsNote,
  type BrakeState,
  WithdrawalBrake,
} from '../../../../src/manager/withdrawals/withdrawal-brake.ts';
import type { NodeMember } from '../../../../src/manager/withdrawals/withdrawal-decision.ts';

const minute = 60_000;
const consistencyWindow = 30_000;

/** Holds withdrawals, as the inventory does. */
class Withdrawals {
  readonly withdrawn: string[] = [];
  #held: ReadonlySet<string> = new Set();
  gate: WithdrawalBrake | undefined;

  heldWithdrawals(): ReadonlySet<string> {
    return this.#held;
  }

  reevaluate(now: number): ReadonlySet<string> {
    return this.miss([], now);
  }

  /** A read proves that something of these instances is missing. */
  miss(instanceIds: Iterable<string>, now: number): ReadonlySet<string> {
    const weighed = new Set([...this.#held, ...instanceIds]);
    const isAdmitted = this.gate?.admit(weighed, now, () => new Set()) === true;
    this.#held = isAdmitted ? new Set() : weighed;
    if (isAdmitted) this.withdrawn.push(...weighed);
    return isAdmitted ? weighed : new Set();
  }

  /** The missing parts are shown again. */
  show(instanceIds: Iterable<string>): void {
    const shown = new Set(instanceIds);
    this.#held = new Set([...this.#held].filter((id) => !shown.has(id)));
  }
}

function ids(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `i-${from + index}`);
}

function rig(given: { nodes?: number; inherited?: HeldWithdrawalsNote; wall?: number } = {}) {
  const { nodes = 100, inherited, wall = 0 } = given;
  const withdrawals = new Withdrawals();
  const states: BrakeState['kind'][] = [];
  const world = {
    nodes,
    presence: new Map<string, NodeMember['presence']>(),
    allowed: undefined as string | undefined,
    wall,
  };
  const members = (): readonly NodeMember[] =>
    ids(world.nodes).map((instanceId) => ({
      node: { name: instanceId, uid: instanceId, nodeUid: instanceId },
      hasNode: true,
      instanceId,
      networkId: 'vpc-1',
      usesAddresses: true,
      presence: world.presence.get(instanceId) ?? 'shown',
    }));
  const brake = new WithdrawalBrake({
    held: withdrawals,
    fleet: { members },
    consistencyWindow,
    clock: { wall: () => world.wall },
    inherited,
    approval: {
      get token() {
        return world.allowed;
      },
    },
    onChange: ({ kind }) => states.push(kind),
  });
  withdrawals.gate = brake;
  const heldToken = (): string => (brake.state.kind === 'held' ? brake.state.token : '');
  return { brake, withdrawals, states, world, heldToken };
}

describe('a few withdrawals', () => {
  test('pass at once, and count for 10 minutes', () => {
    const { brake, withdrawals } = rig();

    withdrawals.miss(ids(3), 0);
    withdrawals.miss(ids(2, 10), minute);
    withdrawals.miss(ids(1, 20), 9 * minute);

    expect(withdrawals.withdrawn).toEqual([...ids(3), ...ids(2, 10)]);
    expect(brake.state).toMatchObject({ kind: 'held', recent: 5, users: 100 });
  });
});

describe('many withdrawals', () => {
  test('are held all together, and so is what is missing later', () => {
    const { brake, withdrawals, states } = rig();

    withdrawals.miss(ids(60), 0);
    withdrawals.miss(ids(1, 90), 1000);

    expect(withdrawals.withdrawn).toEqual([]);
    expect(brake.state).toMatchObject({ kind: 'held', since: 0, users: 100, recent: 0 });
    expect(brake.isUnsettled).toBe(true);
    expect(states).toEqual(['held', 'held']);
  });

  test('are no longer held once enough of what was missing is shown again', () => {
    const { brake, withdrawals } = rig();
    withdrawals.miss(ids(60), 0);

    withdrawals.show(ids(54));
    const early = brake.review(1000);
    withdrawals.show(['i-54']);
    const changed = brake.review(2000);

    expect(early.size).toBe(0);
    expect([...changed]).toEqual(ids(5, 55));
    expect(withdrawals.withdrawn).toEqual(ids(5, 55));
    expect(brake.state.kind).toBe('open');
  });

  test('are no longer held once all of what was missing is shown again', () => {
    const { brake, withdrawals } = rig();
    withdrawals.miss(ids(60), 0);

    withdrawals.show(ids(60));
    brake.review(1000);

    expect(withdrawals.withdrawn).toEqual([]);
    expect(brake.state.kind).toBe('open');
  });

  test('are no longer held once those before them are 10 minutes old', () => {
    const { brake, withdrawals } = rig();
    withdrawals.miss(ids(4), 0);
    withdrawals.miss(ids(4, 50), minute);

    brake.review(10 * minute - 1);
    const before = brake.state.kind;
    brake.review(10 * minute);

    expect(before).toBe('held');
    expect(brake.state.kind).toBe('open');
    expect(withdrawals.withdrawn).toEqual([...ids(4), ...ids(4, 50)]);
  });
});

describe('an approval token', () => {
  test('approves the set that it was printed for', () => {
    const { brake, withdrawals, world, heldToken } = rig();
    withdrawals.miss(ids(60), 0);

    world.allowed = heldToken();
    brake.review(1000);

    expect(withdrawals.withdrawn).toEqual(ids(60));
    expect(brake.state.kind).toBe('open');
  });

  test('approves no other set', () => {
    const { brake, withdrawals, world, heldToken } = rig();
    withdrawals.miss(ids(60), 0);
    world.allowed = heldToken();

    withdrawals.miss(ids(1, 90), 1000);
    brake.review(2000);

    expect(withdrawals.withdrawn).toEqual([]);
    expect(brake.state.kind).toBe('held');
    expect(heldToken()).not.toBe(world.allowed);
  });

  test('does not approve the same nodes a second time', () => {
    const { brake, withdrawals, world, heldToken } = rig();
    withdrawals.miss(ids(60), 0);
    world.allowed = heldToken();
    brake.review(1000);

    world.wall = 20 * minute;
    withdrawals.miss(ids(60), 20 * minute);
    brake.review(21 * minute);

    expect(withdrawals.withdrawn).toEqual(ids(60));
    expect(brake.state.kind).toBe('held');
  });
});

describe('a withdrawal brake that the previous leader had closed', () => {
  const note: HeldWithdrawalsNote = { since: 7, token: 'ab', nodes: 60, sentence: 'much is missing' };

  test('stays closed until all was read and two consistency windows have passed, and then until nothing is missing, or for ten minutes, however little is missing', () => {
    const { brake, withdrawals, states } = rig({ inherited: note });

    withdrawals.miss(ids(1), 0);
    brake.review(10 * minute);
    brake.noteResync(10 * minute);
    withdrawals.miss(ids(2), 11 * minute - 1);
    brake.review(11 * minute - 1);
    const before = { state: brake.state, withdrawn: [...withdrawals.withdrawn], note: brake.inherited };
    brake.review(11 * minute);
    const then = brake.state.kind;
    withdrawals.show(ids(2));
    brake.review(12 * minute);
    withdrawals.miss(ids(1, 5), 13 * minute);
    const late = rig({ inherited: note });
    late.brake.noteResync(0);
    late.withdrawals.miss(ids(2), 11 * minute - 1);
    const justBefore = late.brake.state.kind;
    late.brake.review(11 * minute);

    expect(before).toEqual({ state: { kind: 'inherited', note }, withdrawn: [], note });
    expect(then).toBe('held');
    expect([justBefore, late.brake.state.kind]).toEqual(['held', 'open']);
    expect(withdrawals.withdrawn).toEqual(ids(1, 5));
    expect(brake.inherited).toBeUndefined();
    expect(states).toEqual(['held', 'open']);
  });

  test('opens then if nothing is missing', () => {
    const { brake } = rig({ inherited: note });

    brake.noteResync(0);
    brake.review(minute);

    expect(brake.state.kind).toBe('open');
    expect(brake.inherited).toBeUndefined();
  });

  test('holds then what is still missing, with the token that was printed before', () => {
    // The note in the Lease has no fractions of a millisecond.
    const first = rig({ wall: 7.5 });
    first.withdrawals.miss(ids(60), 0);
    const printed = first.heldToken();
    const { brake, withdrawals, states, world, heldToken } = rig({ inherited: note, wall: 1234 });

    brake.noteResync(0);
    withdrawals.miss(ids(60), 1000);
    brake.review(minute);

    expect(heldToken()).toBe(printed);
    expect(states).toEqual(['held']);
    world.allowed = printed;
    brake.review(2 * minute);
    expect(withdrawals.withdrawn).toEqual(ids(60));
  });
});

describe('a cloud that does not show the cluster', () => {
  const missing = new Map(ids(60).map((id) => [id, 'notFound'] as const));

  test('keeps every withdrawal held until most instances are found', () => {
    const { brake, withdrawals, states, world } = rig();
    world.presence = missing;

    brake.noteResync(0);
    brake.review(1000);
    withdrawals.miss(['i-90'], 2000);
    const before = { state: brake.state, withdrawn: [...withdrawals.withdrawn] };
    world.presence = new Map();
    brake.review(3000);

    expect(before).toEqual({ state: { kind: 'misdirected', missing: 60, of: 100 }, withdrawn: [] });
    expect(withdrawals.withdrawn).toEqual(['i-90']);
    expect(states).toEqual(['misdirected', 'open']);
    expect(brake.isUnsettled).toBe(false);
  });

  test('keeps them held also when it no longer shows whether it is the right one', () => {
    const { brake, world } = rig();
    world.presence = missing;
    brake.noteResync(0);
    brake.review(1000);

    world.presence = new Map(ids(100).map((id) => [id, 'unread' as const]));
    brake.review(2000);

    expect(brake.state.kind).toBe('misdirected');
  });

  test('is not suspected before all was read, nor once most instances were found', () => {
    const { brake, world } = rig();
    world.presence = missing;
    brake.review(0);
    const early = brake.state.kind;

    world.presence = new Map();
    brake.noteResync(1000);
    brake.review(1000);
    world.presence = missing;
    brake.review(2000);

    expect([early, brake.state.kind]).toEqual(['open', 'open']);
  });

  test('is recognized too when the cluster was empty at first', () => {
    const { brake, world } = rig({ nodes: 0 });
    brake.noteResync(0);
    brake.review(0);
    const whileEmpty = { isMatchingCloud: brake.isMatchingCloud(0), state: brake.state.kind };

    world.nodes = 60;
    world.presence = missing;
    brake.review(1000);

    expect(whileEmpty).toEqual({ isMatchingCloud: false, state: 'open' });
    expect(brake.state).toEqual({ kind: 'misdirected', missing: 60, of: 60 });
  });

  test('is suspected until most instances were read, for two consistency windows at most', () => {
    const { brake, world } = rig();
    world.presence = new Map(ids(100).map((id) => [id, 'unread' as const]));
    const found = [brake.isMatchingCloud(0)];

    brake.noteResync(0);
    brake.review(0);
    found.push(brake.isMatchingCloud(0), brake.isMatchingCloud(minute - 1), brake.isMatchingCloud(minute));
    world.presence = new Map();
    brake.review(1000);
    found.push(brake.isMatchingCloud(1000));

    expect(found).toEqual([true, true, true, false, false]);
  });

  test('comes before what the previous leader held, which is kept meanwhile', () => {
    const inherited = { since: 7, token: 'ab', nodes: 60, sentence: 'much is missing' };
    const { brake, world } = rig({ inherited });
    world.presence = missing;

    brake.noteResync(0);
    brake.review(5 * minute);

    const before = { kind: brake.state.kind, note: brake.inherited };
    world.presence = new Map();
    brake.review(5 * minute);

    expect(before).toEqual({ kind: 'misdirected', note: inherited });
    expect(brake.state.kind).toBe('open');
  });

  test('is followed by what the previous leader held, until this process has read enough', () => {
    const inherited = { since: 7, token: 'ab', nodes: 60, sentence: 'much is missing' };
    const { brake, world } = rig({ inherited });
    world.presence = missing;
    brake.noteResync(0);
    brake.review(0);

    world.presence = new Map();
    brake.review(1000);

    expect(brake.state).toEqual({ kind: 'inherited', note: inherited });
  });
});
