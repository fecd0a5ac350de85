// When alerts fire over data of the past: Prometheus evaluates rules for the present only.
import { epoch, type Played } from './played-stages.ts';
import type { ShippedRule } from './shipped.ts';

const { signal } = new AbortController();
/** As `evaluation_interval` is by default, in seconds. */
const step = 60;

export interface Period {
  /** In seconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

/**
 * By cluster: the seconds of virtual time at which the alert fires. It does when its expression has been true for as long as
 * `for` says, at each evaluation: that is asked as a query.
 */
export async function firingTimes(
  { server }: Played,
  { expr, for: duration }: ShippedRule,
  { start, end }: Period,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const evaluations = secondsOf(duration) / step + 1;
  const held = `count_over_time((${expr})[${secondsOf(duration) + 1}s:${step}s]) >= ${evaluations}`;
  const lines = await server.api.range(held, { start, end, step }, signal);
  const byCluster = Map.groupBy(lines, ({ metric }) => metric['cluster'] ?? '');
  return new Map(
    [...byCluster].map(([cluster, its]) => {
      const times = new Set(its.flatMap(({ values }) => values.map(([time]) => time - epoch)));
      return [cluster, [...times].toSorted((x, y) => x - y)];
    }),
  );
}

function secondsOf(duration: string): number {
  const [, count = '', unit = ''] = /^(\d+)([mh])$/.exec(duration) ?? [];
  return Number(count) * (unit === 'h' ? 3600 : 60);
}
