// What a scrape of /metrics costs the controller: its series, its size, and CPU time.
//
//   node bench/scrape-cost.ts [--nodes N] [--scrapes N]
//
// A fleet joins and comes to rest; then the controller is scraped many times, once with series for each node and once
// without. What it uses while it is left alone for as long is taken off.
import { execFileSync } from 'node:child_process';
import { join as joinPath } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep } from '../src/runtime/clock.ts';
import { systemClock as clock } from '../src/runtime/system-clock.ts';
import { aws } from './clouds/aws.ts';
import { clusterOf, withCluster } from './rig/bench-cluster.ts';
import { cpuTime } from './rig/process-figures.ts';
import { join } from './scenarios/scale-up.ts';
import { settled } from './scenarios/settled.ts';

/** The scrape interval of Prometheus, in seconds. */
const interval = 15;
const scale = 10;
/** The time without a call after which the scale-up has ended, in ms. */
const quiet = 5000;

interface ScrapeCost {
  readonly series: number;
  readonly bytes: number;
  /** CPU time of the controller for a scrape, in seconds. */
  readonly cpu: number;
  /** The time until the whole answer is there, in ms. */
  readonly took: number;
}

function scrapeCost(
  plan: { readonly nodes: number; readonly scrapes: number; readonly flags: readonly string[] },
  signal: AbortSignal,
): Promise<ScrapeCost> {
  const harness = { clock, signal, profiles: undefined, say: (): void => undefined };
  return withCluster(
    clusterOf(aws.usual, { cloud: aws.name, nodes: plan.nodes, scale }, plan.flags),
    harness,
    async (cluster) => {
      const controller = await cluster.startController();
      const { pid } = controller.child;
      await join(cluster, harness);
      await settled(cluster, quiet);
      let text = await controller.scrape(signal);
      const began = clock.monotonic();
      const before = await cpuTime(pid);
      for (let index = 0; index < plan.scrapes; index++) text = await controller.scrape(signal);
      const took = clock.monotonic() - began;
      const busy = (await cpuTime(pid)) - before;
      await sleep(clock, took, signal);
      const alone = (await cpuTime(pid)) - before - busy;
      return {
        series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
        bytes: Buffer.byteLength(text),
        cpu: (busy - alone) / plan.scrapes,
        took: took / plan.scrapes,
      };
    },
  );
}

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '1000' }, scrapes: { type: 'string', default: '200' } },
});
const [nodes, scrapes] = [Number(values.nodes), Number(values.scrapes)];
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort(new Error(name)));
execFileSync(process.execPath, [joinPath(import.meta.dirname, '../build.mjs')]);
for (const [what, limit] of [
  ['with series for each node', nodes],
  ['without', 0],
] as const) {
  const flags = [`--node-metrics-limit=${limit}`];
  const { series, bytes, cpu, took } = await scrapeCost({ nodes, scrapes, flags }, interrupt.signal);
  const share = ((cpu / interval) * 100).toFixed(3);
  process.stdout.write(
    `${nodes} nodes, ${what}: ${series} series, ${Math.round(bytes / 1024)} KiB, ` +
      `${(cpu * 1000).toFixed(1)} ms CPU and ${took.toFixed(1)} ms a scrape; ` +
      `${share} % of a core at a scrape every ${interval} s\n`,
  );
}
