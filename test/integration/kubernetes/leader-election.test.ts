import { describe, expect, test } from '@jest/globals';
import { InProcessTransport } from '../../support/in-process-transport.ts';
import { LeaderElection } from '../../../src/kubernetes/lease/leader-election.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { FaultEffect } from '../../../src/simulator/kubernetes/faults/faults.ts';
import { FreezableClock } from '../../unit/kubernetes/freezable-clock.ts';
import { EmbeddedApi } from './embedded-api.ts';
import { rethrow } from '../../support/rethrow.ts';

const lease = 'leases.coordination.k8s.io';

/** Two processes that compete for one Lease of the embedded API; each is replaced when it loses. */
class Rivals {
  readonly clock = new VirtualClock();
  readonly api: EmbeddedApi;
  readonly overlaps: string[] = [];
  readonly terms: string[] = [];
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #processes = new Map<string, { clock: FreezableClock; election: LeaderElection }>();
  readonly #running: Promise<void>[];
  #isCalm = false;

  constructor(seed: number) {
    this.#random = new Random(`rivals/${seed}`);
    this.api = new EmbeddedApi(this.clock, `rivals/${seed}`);
    this.#running = [this.#keepOne('a'), this.#keepOne('b'), this.#trouble()];
  }

  get leaders(): string[] {
    const isLeading = ({ clock, election }: { clock: FreezableClock; election: LeaderElection }): boolean =>
      !clock.isFrozen && election.leaseEnd() !== undefined;
    return [...this.#processes].filter(([, process]) => isLeading(process)).map(([identity]) => identity);
  }

  calm(): void {
    this.#isCalm = true;
    this.api.model.faults.clear();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stop'));
    const ended = Promise.allSettled(this.#running);
    await this.clock.advance(60_000);
    await ended;
  }

  async #keepOne(place: string): Promise<void> {
    const { signal } = this.#stopping;
    for (let life = 0; !signal.aborted; life++) {
      await sleep(this.clock, this.#random.integer(2000), signal);
      const identity = `${place}${life}`;
      const clock = new FreezableClock(this.clock);
      const transport = new InProcessTransport(async (request, requestSignal) => {
        const answer = await this.api.model.handle(request, requestSignal);
        await new Promise<void>((resolve) => clock.whenAwake(resolve));
        return answer;
      }, clock);
      const ports = { transport, clock, random: this.#random.fork(identity), onBug: rethrow };
      const election = new LeaderElection(ports, {
        namespace: 'kube-system',
        name: 'headwater',
        identity,
        onChange: ({ kind }) => {
          if (kind === 'leading') this.terms.push(identity);
          const { leaders } = this;
          if (leaders.length > 1) this.overlaps.push(`${this.clock.monotonic()} ${leaders.join(' ')}`);
        },
      });
      this.#processes.set(identity, { clock, election });
      await election.run(signal);
      this.#processes.delete(identity);
    }
  }

  async #trouble(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(this.clock, this.#random.integer(4000), signal);
      const processes = [...this.#processes.values()];
      if (this.#isCalm || processes.length === 0) continue;
      if (this.#random.chance(0.3)) this.#random.pick(processes).clock.freeze(this.#random.integer(30_000));
      else this.api.model.faults.inject({ path: /leases/, effect: this.#effect() });
    }
  }

  #effect(): FaultEffect {
    return this.#random.pick<FaultEffect>([
      { kind: 'dropBefore' },
      { kind: 'dropAfter' },
      { kind: 'delay', ms: this.#random.integer(20_000) },
      { kind: 'refuse', failure: { code: 409, reason: 'Conflict', message: 'modified' } },
      { kind: 'refuse', failure: { code: 503, message: 'shutting down' } },
    ]);
  }
}

describe('two electors against the embedded API', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'never lead both at once with seed %i, through lost answers, conflicts, delays and frozen processes',
    async (seed) => {
      const rivals = new Rivals(seed);

      await rivals.clock.advance(900_000);
      rivals.calm();
      await rivals.clock.advance(60_000);
      const { leaders } = rivals;
      await rivals.stop();

      expect(rivals.overlaps).toEqual([]);
      expect(leaders).toHaveLength(1);
      expect(rivals.terms.length).toBeGreaterThan(1);
      expect(rivals.api.model.get(lease, 'headwater', 'kube-system')).toMatchObject({
        spec: { holderIdentity: '', leaseDurationSeconds: 1 },
      });
    },
  );

  test('need only to get, create and update leases', async () => {
    const clock = new VirtualClock();
    const verbs = new Set<string>();
    const api = new EmbeddedApi(clock, 'verbs', {
      authorize: ({ verb, resource }) => {
        verbs.add(`${verb} ${resource}`);
        return true;
      },
    });
    const stopping = new AbortController();
    const election = new LeaderElection(
      { transport: api.transport, clock, random: new Random('verbs'), onBug: rethrow },
      { namespace: 'kube-system', name: 'headwater', identity: 'us' },
    );
    const ended = election.run(stopping.signal);

    await clock.advance(10_000);
    stopping.abort(new Error('stop'));

    expect(await ended).toBe('stopped');
    expect([...verbs].toSorted()).toEqual(['create leases', 'get leases', 'update leases']);
  });
});
