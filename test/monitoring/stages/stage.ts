// A cluster in virtual time that is played for the sake of its metrics: something goes wrong in it, and meanwhile it is
// scraped as Prometheus would.
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { MetricHistory } from '../rig/metric-history.ts';

export interface Stage {
  /** Also the label `cluster` of its series. */
  readonly name: string;
  readonly play: (record: Recorder) => Promise<void>;
}

/** Between two scrapes, in ms. */
export const scrapeInterval = 15_000;

/** A cluster in virtual time. */
interface Played {
  readonly clock: VirtualClock;
  advance(ms: number): Promise<void>;
}

export class Recorder {
  readonly #history: MetricHistory;
  readonly #cluster: string;

  constructor(history: MetricHistory, cluster: string) {
    this.#history = history;
    this.#cluster = cluster;
  }

  /** Lets so much time pass, in ms, and scrapes every controller every 15 s. */
  async advance(
    world: Played,
    controllers: readonly { scrape(): Promise<string> }[],
    ms: number,
  ): Promise<void> {
    for (let passed = 0; passed < ms; passed += scrapeInterval) {
      await world.advance(scrapeInterval);
      for (const [index, controller] of controllers.entries()) {
        const target = { job: 'headwater', instance: `headwater-${index}`, cluster: this.#cluster };
        this.#history.add(await controller.scrape(), world.clock.monotonic(), target);
      }
    }
  }
}
