// How soon a node has blocks of a pool once its agent asks for them.
import type { Harness } from '../scenarios/scenarios.ts';
import { withBlockBench } from './block-bench.ts';

export interface DemandPlan {
  readonly tries: number;
}

/** From the answer to the agent's write until a watch shows the blocks, in ms. */
export interface DemandTime {
  readonly median: number;
  readonly max: number;
}

const addresses = 100;

export function demand({ tries }: DemandPlan, harness: Harness): Promise<DemandTime> {
  const { clock, say } = harness;
  say(`${tries} nodes that ask for ${addresses} addresses, one after another`);
  return withBlockBench('multi-pool', harness, async (bench) => {
    await bench.create(1);
    await bench.follow();
    await bench.startController();
    await bench.served(1);
    const times: number[] = [];
    for (let index = 0; index < tries; index++) {
      await bench.cluster.ask(`dry-${index}`, { default: addresses, blue: addresses });
      const asked = clock.monotonic();
      times.push((await bench.served(index + 2)) - asked);
    }
    const sorted = times.toSorted((a, b) => a - b);
    return { median: sorted[Math.floor(tries / 2)] ?? NaN, max: sorted.at(-1) ?? NaN };
  });
}
