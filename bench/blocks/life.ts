// A controller with many CiliumNodes and their Nodes, all served: what it needs of memory, what it asks while nothing happens,
// and how soon it serves a new one after a restart.
import { sleep } from '../../src/runtime/clock.ts';
import { peakMemory } from '../rig/process-figures.ts';
import type { Harness } from '../scenarios/scenarios.ts';
import { type BlockBench, withBlockBench } from './block-bench.ts';

export interface LifePlan {
  readonly nodes: number;
  readonly idleMinutes: number;
}

export interface Life {
  /** Peak, in bytes: with all CiliumNodes, and of a process that has none. */
  readonly memory: { readonly full: number; readonly empty: number };
  /** Writes and lists while idle, by verb and resource. */
  readonly idle: ReadonlyMap<string, number>;
  /** From the start of a process until a new CiliumNode has its block, in ms: with all others, and with none. */
  readonly restart: { readonly full: number; readonly empty: number };
  /** One list of all, in ms. */
  readonly list: number;
}

/** How long the empty process runs, and how long everything rests before it counts as idle, in ms. */
const settling = 15_000;
const tries = 5;

export function life({ nodes, idleMinutes }: LifePlan, harness: Harness): Promise<Life> {
  const { clock, signal, say } = harness;
  say(`${nodes} CiliumNodes: memory, idle for ${idleMinutes} min, restarts`);
  return withBlockBench('cluster-pool', harness, async (bench) => {
    await bench.follow();
    const restartEmpty = await median(() => restart(bench, harness, 1));
    const empty = await bench.startController();
    await sleep(clock, settling, signal);
    const emptyPeak = await peakMemory(empty.controller.child.pid);
    await empty.controller.child.stop();

    await bench.createNodes(nodes);
    await bench.create(nodes);
    const { controller } = await bench.startController();
    await bench.served(nodes);
    await sleep(clock, settling, signal);
    const fullPeak = await peakMemory(controller.child.pid);
    const before = await bench.requests();
    await sleep(clock, idleMinutes * 60_000, signal);
    const after = await bench.requests();
    const idle = new Map(
      [...after]
        .map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
    await controller.child.stop();

    const list = await median(() => bench.listTime());
    const restartFull = await median(() => restart(bench, harness, nodes + 1));
    say(
      `  one list ${list.toFixed(0)} ms; restart ${restartFull.toFixed(0)} ms, empty ${restartEmpty.toFixed(0)} ms`,
    );
    return {
      memory: { full: fullPeak, empty: emptyPeak },
      idle,
      restart: { full: restartFull, empty: restartEmpty },
      list,
    };
  });
}

/** From the start of a process until one CiliumNode that waits for it has a block, the `count`-th; then it is deleted. */
async function restart(bench: BlockBench, { clock }: Harness, count: number): Promise<number> {
  await bench.cluster.create('new');
  const begin = clock.monotonic();
  const { controller } = await bench.startController();
  const end = await bench.served(count);
  await controller.child.stop();
  await bench.cluster.delete('new');
  await bench.unserved('new');
  return end - begin;
}

async function median(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < tries; index++) values.push(await measure());
  return values.toSorted((a, b) => a - b)[Math.floor(tries / 2)] ?? 0;
}
