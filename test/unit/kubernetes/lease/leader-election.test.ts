import { describe, expect, test } from '@jest/globals';
import { checkedLeaseTimings, type LeaseTimings } from '../../../../src/kubernetes/lease/lease-timings.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { kinds, rig } from '../election-rig.ts';
import { FreezableClock } from '../freezable-clock.ts';
import { LeaseServer } from '../lease-server.ts';
import { type Server, status, unreachable } from '../scripted-transport.ts';

const theirs = {
  holderIdentity: 'them',
  leaseDurationSeconds: 15,
  renewTime: '2001-01-01T00:00:00.000000Z',
  leaseTransitions: 3,
};
const never = new AbortController().signal;

describe('leader election', () => {
  test('creates the Lease when there is none, and leads until its end, counted from before the request', async () => {
    const { clock, server, election, states } = rig();

    await clock.advance(0);

    expect(server.spec).toEqual({
      holderIdentity: 'us',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(kinds(states)).toEqual(['leading']);
    expect(election.leaseEnd()).toEqual({ monotonic: 15_000, wall: Date.UTC(2026, 0, 1, 0, 0, 15) });
  });

  test('renews every two seconds, moves the end each time, and logs no renewal', async () => {
    const { clock, server, election, states, transport } = rig();

    await clock.advance(60_500);

    expect(election.leaseEnd()?.monotonic).toBe(75_000);
    expect(server.spec['renewTime']).toBe('2026-01-01T00:01:00.000000Z');
    expect(server.spec['acquireTime']).toBe('2026-01-01T00:00:00.000000Z');
    expect(transport.requests).toHaveLength(32);
    expect(kinds(states)).toEqual(['leading']);
  });

  test('does not try to renew when the remaining time is too short for an answer, as when timers fire early', async () => {
    let isDenied = false;
    const { clock, transport, ended, states } = rig({
      answer: (server) => (request) =>
        isDenied ? Promise.resolve(status(403, 'forbidden')) : server.answer(request),
      processClock: (inner) => ({
        wall: () => inner.wall(),
        monotonic: () => inner.monotonic(),
        schedule: (ms, action) => inner.schedule(ms > 0.5 ? ms - 0.5 : ms, action),
      }),
    });
    await clock.advance(1000);

    isDenied = true;
    await clock.advance(15_000);

    expect(await ended).toBe('lost');
    expect(kinds(states)).toEqual(['leading', 'lost']);
    expect(Math.min(...transport.requests.map(({ timeoutMs = Infinity }) => timeoutMs))).toBeGreaterThan(50);
  });

  test('reports the error of the last attempt as long as none has succeeded since', async () => {
    let isDenied = true;
    const { clock, election } = rig({
      answer: (server) => (request) =>
        isDenied ? Promise.resolve(status(403, 'forbidden')) : server.answer(request),
    });
    await clock.advance(0);
    const before = election.problem;

    isDenied = false;
    await clock.advance(5000);

    expect(before).toMatchObject({ kind: 'denied' });
    expect(election.problem).toBeUndefined();
  });

  test('takes a Lease at the moment it has expired by observation, whatever times it holds', async () => {
    const server = new LeaseServer();
    server.write({ ...theirs, renewTime: '2099-01-01T00:00:00.000000Z' });
    const { clock, states, election } = rig({ server });

    await clock.advance(14_999);
    const before = election.state.kind;
    await clock.advance(1);

    expect(before).toBe('standby');
    expect(states).toMatchObject([{ kind: 'standby', holder: 'them' }, { kind: 'leading' }]);
    expect(server.spec).toMatchObject({ holderIdentity: 'us', leaseTransitions: 4 });
  });

  test('waits as long as the holder renews, and for the duration that the Lease names', async () => {
    const server = new LeaseServer();
    server.write({ ...theirs, leaseDurationSeconds: 40 });
    const { clock, election } = rig({ server });

    await clock.advance(39_000);
    server.write({ ...theirs, leaseDurationSeconds: 40 });
    await clock.advance(38_000);
    const whileHeld = election.state.kind;
    await clock.advance(5000);

    expect(whileHeld).toBe('standby');
    expect(election.state.kind).toBe('leading');
  });

  test.each([
    ['there was none', undefined, false, false],
    ['it was released', { ...theirs, holderIdentity: '', leaseDurationSeconds: 1 }, false, true],
    ['it ended', theirs, true, true],
  ])('knows whether a former leader may still write: %s', async (_, spec, isInherited, isSuccessor) => {
    const server = new LeaseServer();
    if (spec !== undefined) server.write(spec);
    const { clock, election } = rig({ server });

    await clock.advance(20_000);

    expect(election.state.kind).toBe('leading');
    expect(election.isInherited).toBe(isInherited);
    expect(election.isSuccessor).toBe(isSuccessor);
  });

  test('takes a released Lease at once', async () => {
    const server = new LeaseServer();
    server.write({ ...theirs, holderIdentity: '' });
    const { clock, election } = rig({ server });

    await clock.advance(0);

    expect(election.state.kind).toBe('leading');
  });

  test('does not take a deleted Lease before its holder’s time is over', async () => {
    const server = new LeaseServer();
    server.write(theirs);
    const { clock, election } = rig({ server });
    await clock.advance(1000);

    server.lease = undefined;
    await clock.advance(13_900);
    const before = election.state.kind;
    await clock.advance(5000);

    expect(before).toBe('standby');
    expect(election.state.kind).toBe('leading');
  });

  test('creates a deleted Lease again as the leader, and continues', async () => {
    const { clock, server, election, states } = rig();
    await clock.advance(100);

    server.lease = undefined;
    await clock.advance(30_000);

    expect(election.state.kind).toBe('leading');
    expect(kinds(states)).toEqual(['leading']);
    expect(server.spec['holderIdentity']).toBe('us');
  });

  test('keeps fields of others in the Lease', async () => {
    const server = new LeaseServer();
    server.write({ ...theirs, holderIdentity: '', strategy: 'OldestEmulationVersion' });
    const { clock } = rig({ server });

    await clock.advance(10_000);

    expect(server.spec).toMatchObject({ strategy: 'OldestEmulationVersion' });
  });

  test('changes the Lease with each renewal, even when the wall clock stands still', async () => {
    const { clock, server } = rig();
    const seen = new Set<unknown>();

    for (let round = 0; round < 10; round++) {
      await clock.advance(2000);
      clock.shiftWall(-2000);
      seen.add(JSON.stringify(server.spec));
    }

    expect(seen.size).toBeGreaterThan(1);
    const renewals = [...seen];
    expect(renewals.every((spec, index) => spec !== renewals[index - 1])).toBe(true);
  });
});

describe('a leader', () => {
  test.each<[string, (server: LeaseServer) => Server, string]>([
    ['when the server is away', () => () => unreachable(), 'could not renew the lease for 12 s'],
    ['when the server is silent', () => () => 'silence', 'could not renew the lease for 12 s'],
    ['when it is no longer allowed to', () => () => status(403, 'no'), 'could not renew the lease for 12 s'],
  ])(
    'loses the Lease once, at the renew deadline after the first attempt and before its end, %s',
    async (_what, broken, reason) => {
      let isBroken = false;
      const { clock, states, ended, problems } = rig({
        answer: (server) => (request) => (isBroken ? broken(server)(request) : server.answer(request)),
      });
      await clock.advance(100);

      isBroken = true;
      await clock.advance(11_900 - 100);
      const before = kinds(states);
      await clock.advance(100);

      expect(before).toEqual(['leading']);
      expect(states).toMatchObject([{ kind: 'leading' }, { kind: 'lost', reason }]);
      expect(await ended).toBe('lost');
      expect(problems).toHaveLength(1);
    },
  );

  test('loses the Lease once when another process has taken it', async () => {
    const { clock, server, states, ended, election } = rig();
    await clock.advance(100);

    server.write(theirs);
    await clock.advance(2000);

    expect(states).toMatchObject([{ kind: 'leading' }, { kind: 'lost', reason: 'them has taken the lease' }]);
    expect(election.leaseEnd()).toBeUndefined();
    expect(await ended).toBe('lost');
  });

  test('loses the Lease once when it reads it after its end by the wall clock, as after the machine slept', async () => {
    const { clock, states, election, ended } = rig();
    await clock.advance(100);

    clock.shiftWall(16_000);
    const read = election.leaseEnd();
    await clock.advance(5000);

    expect(read).toBeUndefined();
    expect(kinds(states)).toEqual(['leading', 'lost']);
    expect(await ended).toBe('lost');
  });

  test('loses the Lease once when the process was frozen past its end, although the wall clock was set back', async () => {
    let frozen: FreezableClock | undefined;
    const { clock, states, election } = rig({ processClock: (time) => (frozen = new FreezableClock(time)) });
    await clock.advance(100);

    frozen?.setWall(-3_600_000);
    frozen?.freeze(20_000);
    await clock.advance(14_800);
    const before = election.leaseEnd()?.monotonic;
    await clock.advance(200);

    expect(before).toBe(15_000);
    expect(election.leaseEnd()).toBeUndefined();
    expect(kinds(states)).toEqual(['leading', 'lost']);
  });

  test('does not lose the Lease when the wall clock is set back', async () => {
    const { clock, election } = rig();
    await clock.advance(100);

    clock.shiftWall(-3_600_000);
    await clock.advance(20_000);

    expect(election.leaseEnd()?.monotonic).toBe(35_000);
  });
});

describe('leader election in trouble', () => {
  test('tolerates lost answers, because what was written counts when it is read back', async () => {
    let drop = true;
    const { clock, election, states } = rig({
      answer: (server) => (request) => {
        const answer = server.answer(request);
        if (request.method === 'GET' || !drop) return answer;
        drop = false;
        return unreachable();
      },
    });

    await clock.advance(6000);

    expect(election.state.kind).toBe('leading');
    expect(kinds(states)).toEqual(['leading']);
  });

  test('tolerates a renewal with a lost answer: it reads the Lease, finds itself, and renews', async () => {
    let drops = 0;
    const { clock, election, states } = rig({
      answer: (server) => (request) => {
        const answer = server.answer(request);
        return request.method === 'PUT' && drops++ % 3 === 0 ? unreachable() : answer;
      },
    });

    await clock.advance(60_000);

    expect(election.state.kind).toBe('leading');
    expect(kinds(states)).toEqual(['leading']);
  });

  test('tolerates an answer that arrives after the end of the Lease that it is about', async () => {
    const late = Promise.withResolvers<void>();
    let puts = 0;
    const { clock, election } = rig({
      answer: (server) => async (request) => {
        const answer = server.answer(request);
        if (request.method === 'PUT' && puts++ === 0) await late.promise;
        return answer;
      },
    });
    await clock.advance(3000);

    await clock.advance(60_000);
    late.resolve();
    await clock.advance(10);

    expect(election.leaseEnd()?.monotonic).toBeGreaterThan(clock.monotonic());
  });

  test('tolerates a freeze while it acquires the Lease: it never leads, and tries again', async () => {
    let isFirst = true;
    let frozen: FreezableClock | undefined;
    let time = new VirtualClock();
    const { clock, states, election } = rig({
      processClock: (virtual) => {
        time = virtual;
        frozen = new FreezableClock(time);
        return frozen;
      },
      answer: (server) => async (request) => {
        const answer = server.answer(request);
        if (request.method === 'POST' && isFirst) {
          isFirst = false;
          frozen?.freeze(20_000);
          // It arrives before the process notices that it has waited too long.
          await sleep(time, 16_000, never);
        }
        return answer;
      },
    });

    await clock.advance(19_999);
    const before = kinds(states);
    await clock.advance(5000);

    expect(before).toEqual([]);
    expect(kinds(states)).toEqual(['leading']);
    expect(election.leaseEnd()?.monotonic).toBeGreaterThan(clock.monotonic());
  });

  test('tolerates a missing namespace, which it reports once', async () => {
    const { clock, problems, election } = rig({ answer: () => () => status(404, 'no namespace') });

    await clock.advance(30_000);

    expect(election.state.kind).toBe('standby');
    expect(problems).toEqual([{ kind: 'gone', message: 'there is no namespace ns for the lease' }]);
  });

  test('tolerates a denial as a standby, which it reports once', async () => {
    const { clock, problems } = rig({ answer: () => () => status(403, 'no') });

    await clock.advance(30_000);

    expect(problems).toEqual([{ kind: 'denied', status: 403, message: 'no' }]);
  });
});

describe('leader election on a stop', () => {
  test('ends after it has ceased to lead, and releases the Lease', async () => {
    const { clock, server, states, stop, election } = rig();
    await clock.advance(100);

    const outcome = await stop();

    expect(outcome).toBe('stopped');
    expect(server.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(kinds(states)).toEqual(['leading', 'stopped']);
    expect(election.leaseEnd()).toBeUndefined();
  });

  test('does not change the Lease of another process when it was a standby', async () => {
    const server = new LeaseServer();
    server.write(theirs);
    const { clock, stop } = rig({ server });
    await clock.advance(3000);

    expect(await stop()).toBe('stopped');
    expect(server.spec).toEqual(theirs);
  });

  test('releases what a request in flight may have taken', async () => {
    const { clock, server, stop } = rig({
      answer: (leases) => (request) => {
        const answer = leases.answer(request);
        return request.method === 'POST' ? 'silence' : answer;
      },
    });
    await clock.advance(100);

    expect(await stop()).toBe('stopped');
    expect(server.spec['holderIdentity']).toBe('');
  });

  test('ends although the server is silent', async () => {
    let isSilent = false;
    const { clock, stop } = rig({
      answer: (server) => (request) => (isSilent ? 'silence' : server.answer(request)),
    });
    await clock.advance(100);
    isSilent = true;

    let outcome: string | undefined;
    void stop().then((ended) => {
      outcome = ended;
    });

    expect(await clock.runUntil(() => outcome !== undefined, 10_000)).toBe(true);
    expect(outcome).toBe('stopped');
  });
});

describe('the lease timings of an elector', () => {
  test.each<[string, Partial<LeaseTimings>, string]>([
    [
      'a lease as long as its deadline',
      { leaseDuration: 10_000 },
      'the lease duration (10000 ms) must be longer than the renew deadline (10000 ms)',
    ],
    [
      'a deadline too near to the retry period',
      { retryPeriod: 9000 },
      'the renew deadline (10000 ms) must be longer than 1.2 times the retry period (9000 ms)',
    ],
    ['less than a second', { retryPeriod: 999 }, 'the retry period is 999 ms'],
    ['no number', { renewDeadline: Number.NaN }, 'the renew deadline is NaN ms'],
    ['parts of a second', { leaseDuration: 15_500 }, 'whole number of seconds'],
  ])('are refused when the elector is created: %s', (_what, timings, words) => {
    expect(() => checkedLeaseTimings(timings)).toThrow(words);
    expect(() => checkedLeaseTimings(timings)).toThrow(
      expect.objectContaining({ code: 'LEASE_TIMINGS_INVALID' }),
    );
  });

  test('are 15, 10 and 2 seconds by default', () => {
    expect(checkedLeaseTimings({})).toEqual({
      leaseDuration: 15_000,
      renewDeadline: 10_000,
      retryPeriod: 2000,
    });
  });
});
