// A cluster in virtual time that is played for the sake of its metrics: something goes wrong in it, and meanwhile it is
// scraped as Prometheus would.
import type { World } from '../../support/world.ts';
import type { WorldController } from '../../support/world-controller.ts';
import type { MetricHistory } from '../rig/metric-history.ts';

export interface Stage {
  /** Also the label `cluster` of its series. */
  readonly name: string;
  readonly play: (record: Recorder) => Promise<void>;
}

/** Between two scrapes, in ms. */
export const scrapeInterval = 15_000;

export class Recorder {
  readonly #history: MetricHistory;
  readonly #cluster: string;

  constructor(history: MetricHistory, cluster: string) {
    this.#history = history;
    this.#cluster = cluster;
  }

  /** Lets so much time pass, in ms, and scrapes every controller every 15 s. */
  async advance(world: World, controllers: readonly WorldController[], ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += scrapeInterval) {
      await world.advance(scrapeInterval);
      for (const [index, controller] of controllers.entries()) {
        const target = { job: 'headwater', instance: `headwater-${index}`, cluster: this.#cluster };
        this.#history.add(await controller.scrape(), world.clock.monotonic(), target);
      }
    }
  }
}
