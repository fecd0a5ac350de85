// Many CiliumNodes with blocks of pools: what is written when each asks for more, and what is asked while nothing happens.
import { sleep } from '../../src/runtime/clock.ts';
import type { Harness } from '../scenarios/scenarios.ts';
import { type BlockBench, withBlockBench } from './block-bench.ts';

export interface PoolChangesPlan {
  readonly nodes: number;
  readonly idleMinutes: number;
}

export interface PoolChanges {
  /** Writes of the controller to each CiliumNode: for its first blocks, and for a change of what it asks. */
  readonly first: number;
  readonly change: number;
  /** Writes and lists while idle, by verb and resource. */
  readonly idle: ReadonlyMap<string, number>;
}

/** More than one block of /24 has. */
const more = { default: 300, blue: 300 };
/** How long everything rests before it counts as idle, in ms. */
const settling = 15_000;

export function poolChanges({ nodes, idleMinutes }: PoolChangesPlan, harness: Harness): Promise<PoolChanges> {
  const { clock, signal, say } = harness;
  say(`${nodes} CiliumNodes with pools: each asks for more, then idle for ${idleMinutes} min`);
  return withBlockBench('multi-pool', harness, async (bench) => {
    await bench.createNodes(nodes);
    await bench.create(nodes);
    await bench.follow();
    const atFirst = await writes(bench);
    await bench.startController();
    await bench.served(nodes);
    await sleep(clock, settling, signal);
    const served = await writes(bench);
    await bench.askMore(nodes, more);
    await bench.servedMore(nodes);
    await sleep(clock, settling, signal);
    const changed = await writes(bench);
    const before = await bench.requests();
    await sleep(clock, idleMinutes * 60_000, signal);
    const idle = new Map(
      [...(await bench.requests())]
        .map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
    // Each of the agents wrote once, too.
    return { first: (served - atFirst) / nodes, change: (changed - served) / nodes - 1, idle };
  });
}

async function writes(bench: BlockBench): Promise<number> {
  const counts = [...(await bench.requests())].filter(([key]) => /^(PATCH|PUT) ciliumnodes$/.test(key));
  return counts.reduce((sum, [, count]) => sum + count, 0);
}
