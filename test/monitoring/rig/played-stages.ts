// Stages, played in virtual time and given to a real Prometheus as blocks of its database.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Recorder, type Stage } from '../stages/stage.ts';
import { ciliumPanels } from '../cilium-dashboard.ts';
import { MetricHistory } from './metric-history.ts';
import { PrometheusServer } from './prometheus-server.ts';
import { promtool } from './promtool.ts';
import { selectorsIn } from './selectors.ts';
import { shippedSelectors } from './shipped.ts';

/** When virtual time starts, in seconds: blocks start at even hours, and Prometheus accepts any time as one long ago. */
export const epoch = Date.UTC(2025, 0, 1) / 1000;

export interface Played {
  readonly server: PrometheusServer;
  /** When the last scrape was taken, in seconds since the epoch. */
  readonly end: number;
}

/** Plays them one after the other, each from the beginning of virtual time. */
export async function played(
  stages: readonly Stage[],
  { signal }: { readonly signal: AbortSignal },
): Promise<Played> {
  const directory = await mkdtemp(join(tmpdir(), 'played-'));
  const path = join(directory, 'metrics.txt');
  const watched = [...shippedSelectors().values()];
  const ofCilium = ciliumPanels.flatMap(({ queries }) => queries).flatMap(selectorsIn);
  const metrics = new Set([...watched, ...ofCilium].map(({ metric }) => metric));
  const history = new MetricHistory({ path, metrics, epoch });
  for (const { name, play } of stages) await play(new Recorder(history, name));
  history.close();
  const blocks = join(directory, 'data');
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', '--max-block-duration=24h', path, blocks];
  const { ok, text } = await promtool(args, directory);
  if (!ok) throw new Error(text);
  return { server: await PrometheusServer.over(blocks, signal), end: history.lastAt };
}
