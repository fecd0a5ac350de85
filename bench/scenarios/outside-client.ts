// Another client of the same account: it takes half of what each rate limit has at the start and half of what comes in.
import { sleep } from '../../src/runtime/clock.ts';
import { buckets } from '../clouds/ec2-limits.ts';
import type { Bucket } from '../floor.ts';
import type { BenchCluster } from '../rig/bench-cluster.ts';

/** Between two helpings, in ms. */
const interval = 50;

/** Part of everything that it takes. */
export const outsideShare = 0.5;

export class OutsideClient {
  readonly #cluster: BenchCluster;
  readonly #scale: number;

  constructor(cluster: BenchCluster, scale: number) {
    this.#cluster = cluster;
    this.#scale = scale;
  }

  /** Half of what the buckets hold when they are full. */
  takeHalf(): Promise<void> {
    return this.#take(({ capacity }) => capacity);
  }

  /** Half of what comes in, until the cluster's signal is aborted; rejects then. */
  async takeOn(): Promise<never> {
    const { clock, signal } = this.#cluster;
    let since = clock.monotonic();
    for (;;) {
      await sleep(clock, interval, signal);
      const now = clock.monotonic();
      const seconds = (now - since) / 1000;
      since = now;
      await this.#take(({ refill }) => refill * seconds);
    }
  }

  async #take(amount: (bucket: Bucket) => number): Promise<void> {
    const { cloud, signal } = this.#cluster;
    const helpings = Object.entries(buckets).map(([action, bucket]) =>
      cloud.drain(action, amount(bucket) * this.#scale * outsideShare, signal),
    );
    await Promise.all(helpings);
  }
}
