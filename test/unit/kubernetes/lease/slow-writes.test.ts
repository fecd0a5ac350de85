import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../../../src/runtime/clock.ts';
import { kinds, rig, type Rig } from '../election-rig.ts';
import type { LeaseServer } from '../lease-server.ts';

const never = new AbortController().signal;

/** When the record of the API server ends, by the wall clock. */
function endByServer({ lease, spec }: LeaseServer): number {
  if (lease === undefined) return -Infinity;
  const { renewTime, leaseDurationSeconds } = spec as { renewTime: string; leaseDurationSeconds: number };
  return Date.parse(renewTime) + leaseDurationSeconds * 1000;
}

describe('a leader of an API server that writes slowly', () => {
  test.each<[string, number, number]>([
    ['carried out at once', 2700, 0],
    ['carried out at once', 5000, 0],
    ['carried out at once', 9500, 0],
    ['carried out last', 2700, 2700],
    ['carried out last', 5000, 5000],
    ['carried out last', 7000, 7000],
  ])('keeps the Lease when each write is %s and answered after %i ms', async (_what, wait, delay) => {
    let rigged: Rig | undefined;
    const { clock, server, states, election } = (rigged = rig({
      answer: (leases) => async (request) => {
        const time = rigged?.clock;
        if (request.method === 'GET' || time === undefined) return leases.answer(request);
        await sleep(time, delay, never);
        const answer = leases.answer(request);
        await sleep(time, wait - delay, never);
        return answer;
      },
    }));

    for (let second = 0; second < 300; second++) {
      await clock.advance(1000);
      const end = election.leaseEnd();
      expect(end?.wall ?? -Infinity).toBeLessThanOrEqual(endByServer(server));
    }

    expect(kinds(states)).toEqual(['leading']);
  });

  test('renews by one write that takes almost as long as the renew deadline', async () => {
    let writes = 0;
    let rigged: Rig | undefined;
    const { clock, states } = (rigged = rig({
      answer: (leases) => async (request) => {
        const isLate = request.method === 'PUT' && writes++ >= 5 && writes < 12;
        if (isLate && rigged !== undefined) await sleep(rigged.clock, 9900, never);
        return leases.answer(request);
      },
    }));

    await clock.advance(120_000);

    expect(kinds(states)).toEqual(['leading']);
  });

  test('counts a write without an answer from when it was sent, once the Lease shows it', async () => {
    const { clock, server, election } = rig({
      answer: (leases) => (request) => {
        const answer = leases.answer(request);
        return request.method === 'PUT' ? 'silence' : answer;
      },
    });
    await clock.advance(1900);
    await clock.advance(2200);

    // Sent after 2 s, shown by a read after 4 s.
    expect(election.leaseEnd()?.monotonic).toBe(17_000);
    await clock.advance(600_000);
    expect(election.leaseEnd()?.wall).toBeLessThanOrEqual(endByServer(server));
  });
});
