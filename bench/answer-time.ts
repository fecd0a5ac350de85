// How long `headwater status`, `explain` and `check` take against a fleet, as a user waits for them: whole processes.
//
//   node bench/answer-time.ts [--nodes N] [--runs N]
import { execFile, execFileSync } from 'node:child_process';
import { join as joinPath } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { systemClock as clock } from '../src/runtime/system-clock.ts';
import { callFigures, callsBetween } from './call-figures.ts';
import { aws } from './clouds/aws.ts';
import { percentile } from './percentile.ts';
import { clusterOf, withCluster } from './rig/bench-cluster.ts';
import { join } from './scenarios/scale-up.ts';
import { settled } from './scenarios/settled.ts';

/** Rate limits are those of EC2 times this, so that the fleet comes soon. */
const scale = 100;
/** The time without a call after which the scale-up has ended, in ms. */
const quiet = 5000;
/** The longest that a user waits gladly, in ms. */
const limit = 1000;

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '5000' }, runs: { type: 'string', default: '10' } },
});
const [nodes, runs] = [Number(values.nodes), Number(values.runs)];
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort(new Error(name)));
const { signal } = interrupt;
const harness = { clock, signal, profiles: undefined, say: (): void => undefined };
const program = joinPath(import.meta.dirname, '../bin/headwater');
execFileSync(process.execPath, [joinPath(import.meta.dirname, '../build.mjs')]);

await withCluster(clusterOf(aws.usual, { cloud: aws.name, nodes, scale }), harness, async (cluster) => {
  const controller = await cluster.startController();
  await join(cluster, harness);
  await settled(cluster, quiet);
  const { host } = new URL(controller.urlOf('/'));
  const [first] = cluster.machines;
  const { cloud, api } = cluster;
  const checking = [`--k8s-kubeconfig-path=${api.kubeconfig}`, ...cloud.access.flags, '--cluster-name=bench'];
  for (const args of [
    ['status', `--address=${host}`],
    ['explain', String(first?.name), `--address=${host}`],
    ['check', ...checking],
  ]) {
    const times: number[] = [];
    const before = await cloud.calls(signal);
    for (let run = 0; run < runs; run++) {
      const began = clock.monotonic();
      // An exit code of 1 is an answer, too.
      await promisify(execFile)(program, args, { env: { ...process.env, ...cloud.access.env } }).catch(
        ({ code }: { readonly code: unknown }) => {
          if (code !== 1) throw new Error(`headwater ${args[0]} ended with ${String(code)}`);
        },
      );
      times.push(clock.monotonic() - began);
    }
    const [median, slowest] = [percentile(times, 0.5), percentile(times, 1)];
    const { calls } = callFigures(callsBetween(before, await cloud.calls(signal)));
    process.stdout.write(
      `${nodes} nodes, headwater ${args[0]}: median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms; ` +
        `${(median / limit).toFixed(2)} of ${limit} ms; ${(calls / runs).toFixed(1)} calls to the cloud\n`,
    );
  }
});
