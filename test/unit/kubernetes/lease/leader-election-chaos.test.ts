import { describe, expect, test } from '@jest/globals';
import { LeaderElection } from '../../../../src/kubernetes/lease/leader-election.ts';
import type {
  KubernetesTransport,
  TransportAnswer,
  TransportRequest,
} from '../../../../src/kubernetes/transport/transport.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { FreezableClock } from '../freezable-clock.ts';
import { LeaseServer } from '../lease-server.ts';
import { ScriptedTransport, type Server, unreachable } from '../scripted-transport.ts';
import { rethrow } from '../../../support/rethrow.ts';

const never = new AbortController().signal;

/** Some processes that compete for one Lease, over a bad network, on machines that freeze; each loser is replaced. */
class Electorate {
  readonly clock = new VirtualClock();
  readonly server = new LeaseServer();
  readonly history: string[] = [];
  readonly overlaps: string[] = [];
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #processes = new Map<string, { clock: FreezableClock; election: LeaderElection }>();
  readonly #running: Promise<void>[] = [];
  #isBad = true;

  constructor(seed: number, isWatched: boolean) {
    this.#random = new Random(`electorate/${seed}`);
    for (let place = 0; place < 3; place++) this.#running.push(this.#keepOne(place));
    this.#running.push(this.#trouble());
    if (isWatched) this.#watch();
  }

  get leaders(): string[] {
    return [...this.#processes]
      .filter(([, { clock, election }]) => !clock.isFrozen && election.leaseEnd() !== undefined)
      .map(([identity]) => identity);
  }

  calm(): void {
    this.#isBad = false;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stop'));
    let stopped = false;
    const all = Promise.allSettled(this.#running).then(() => {
      stopped = true;
    });
    await this.clock.runUntil(() => stopped, 60_000);
    await all;
  }

  async #keepOne(place: number): Promise<void> {
    const { signal } = this.#stopping;
    for (let life = 0; !signal.aborted; life++) {
      await sleep(this.clock, this.#random.integer(3000), signal);
      const identity = `p${place}.${life}`;
      const clock = new FreezableClock(this.clock);
      const random = this.#random.fork(identity);
      const ports = { transport: this.#network(clock, random), clock, random, onBug: rethrow };
      const election = new LeaderElection(ports, {
        namespace: 'ns',
        name: 'lock',
        identity,
        onChange: ({ kind }) => {
          this.history.push(`${this.clock.monotonic()} ${identity} ${kind}`);
          this.#check();
        },
      });
      this.#processes.set(identity, { clock, election });
      await election.run(signal);
      this.#processes.delete(identity);
    }
  }

  #network(clock: FreezableClock, random: Random): KubernetesTransport {
    const answer: Server = async (request) => {
      if (!this.#isBad) return this.server.apply(request);
      if (random.chance(0.15)) return 'silence';
      await sleep(this.clock, this.#latency(random), never);
      if (random.chance(0.1)) return unreachable();
      const said = this.server.apply(request);
      await sleep(this.clock, this.#latency(random), never);
      return random.chance(0.15) ? unreachable() : said;
    };
    const transport = new ScriptedTransport(clock, answer);
    const awake = (): Promise<void> => new Promise((resolve) => clock.whenAwake(resolve));
    return {
      send: async (request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> => {
        await awake();
        try {
          return await transport.send(request, signal);
        } finally {
          await awake();
        }
      },
      stream: () => Promise.reject(new Error('no streams here')),
    };
  }

  /** Mostly fast; sometimes so slow that a request takes effect long after its sender gave up. */
  #latency(random: Random): number {
    return random.chance(0.1) ? random.integer(20_000) : random.integer(300);
  }

  async #trouble(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(this.clock, this.#random.integer(5000), signal);
      const processes = [...this.#processes.values()];
      if (!this.#isBad || processes.length === 0) continue;
      const { clock } = this.#random.pick(processes);
      if (this.#random.chance(0.6)) clock.freeze(this.#random.integer(30_000));
      else if (this.#random.chance(0.3)) clock.setWall(this.#random.integer(40_000) - 20_000);
    }
  }

  #watch(): void {
    this.#check();
    this.clock.schedule(100, () => {
      if (!this.#stopping.signal.aborted) this.#watch();
    });
  }

  #check(): void {
    const { leaders } = this;
    if (leaders.length > 1) this.overlaps.push(`${this.clock.monotonic()} ${leaders.join(' ')}`);
  }
}

describe('several electors over a bad network, on machines that freeze,', () => {
  test.each(Array.from({ length: 100 }, (_, seed) => seed))(
    'never have two leaders with seed %i, and have one in the end',
    async (seed) => {
      const electorate = new Electorate(seed, seed % 2 === 0);

      await electorate.clock.advance(600_000);
      electorate.calm();
      await electorate.clock.advance(90_000);
      const { leaders } = electorate;
      await electorate.stop();

      expect(electorate.overlaps).toEqual([]);
      expect(leaders).toHaveLength(1);
      expect(electorate.history.filter((line) => line.endsWith('leading')).length).toBeGreaterThan(1);
      expect(electorate.server.spec['holderIdentity']).toBe('');
    },
  );

  test('have the same history for the same seed', async () => {
    const histories: string[][] = [];
    for (let run = 0; run < 2; run++) {
      const electorate = new Electorate(7, true);
      await electorate.clock.advance(300_000);
      await electorate.stop();
      histories.push(electorate.history);
    }

    expect(histories[0]).toEqual(histories[1]);
  });
});
