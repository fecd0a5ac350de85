// Until the last of many objects has a block: given out by the controller, by a peer, or written by nobody in particular.
import { sleep } from '../../src/runtime/clock.ts';
import type { Harness } from '../scenarios/scenarios.ts';
import { type BlockBench, connections, type Scope, withBlockBench } from './block-bench.ts';

export interface AllocationPlan {
  readonly scope: Scope;
  readonly nodes: number;
  /** `operatorModel`: cilium-operator's algorithm, one write at a time. `peer`: Kubernetes' node-ipam-controller. */
  readonly by: 'headwater' | 'operatorModel' | 'peer' | 'plain' | 'unlimitedPeer';
}

export interface AllocationTime {
  /** From when it has read the objects until the last one has a block, in seconds. */
  readonly seconds: number;
  /** The same from the start of its process. */
  readonly sinceStart: number;
  /** Writes to the objects meanwhile, each. */
  readonly writesEach: number;
}

/** How long no write may be counted until all are, in ms. */
const settling = 1000;

const unlimited = ['--kube-api-qps=5000', '--kube-api-burst=5000'];

async function start(bench: BlockBench, by: AllocationPlan['by']): Promise<{ readonly leadsAt: number }> {
  switch (by) {
    case 'headwater':
      return bench.startController();
    case 'plain':
      return bench.startPlain(bench.scope === 'multi-pool' ? 'pools' : 'patch', connections);
    case 'operatorModel':
      return bench.startPlain('replace', 1);
    case 'peer':
      return bench.startPeer([]);
    case 'unlimitedPeer':
      return bench.startPeer(unlimited);
  }
}

export function allocation({ scope, nodes, by }: AllocationPlan, harness: Harness): Promise<AllocationTime> {
  const { clock, signal, say } = harness;
  say(`${nodes} ${scope === 'nodeipam' ? 'Nodes' : 'CiliumNodes'}, written by ${by}`);
  return withBlockBench(scope, harness, async (bench) => {
    await bench.create(nodes);
    await bench.follow();
    const before = await writes(bench);
    const startedAt = clock.monotonic();
    const { leadsAt } = await start(bench, by);
    const end = await bench.served(nodes);
    const seconds = (end - leadsAt) / 1000;
    const sinceStart = (end - startedAt) / 1000;
    say(`  ${seconds.toFixed(2)} s, ${sinceStart.toFixed(2)} s from the start of its process`);
    const settled = await settledWrites(bench, () => sleep(clock, settling, signal));
    return { seconds, sinceStart, writesEach: (settled - before) / nodes };
  });
}

/** The API server counts a request when it ends, which may be after the watch has shown what it wrote. */
async function settledWrites(bench: BlockBench, rest: () => Promise<void>): Promise<number> {
  let counted = await writes(bench);
  for (;;) {
    await rest();
    const now = await writes(bench);
    if (now === counted) return now;
    counted = now;
  }
}

async function writes(bench: BlockBench): Promise<number> {
  const counts = [...(await bench.requests())].filter(([key]) =>
    /^(PATCH|PUT) (ciliumnodes|nodes)$/.test(key),
  );
  return counts.reduce((sum, [, count]) => sum + count, 0);
}
