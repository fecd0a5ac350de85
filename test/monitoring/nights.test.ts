import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inhibitions } from '../../monitoring/inhibitions.ts';
import { firingTimes } from './rig/firing-times.ts';
import { epoch, type Played, played } from './rig/played-stages.ts';
import { shippedRules } from './rig/shipped.ts';
import { alerts } from './rules/promtool-file.ts';
import { nightLength, nights } from './stages/nights.ts';

const { signal } = new AbortController();
/** The longest `for` of a critical alert may reach back to before the first scrape, in seconds. */
const settled = 5 * 60;

let all: Played;
/** By cluster, the alerts of its night with the times at which they fire. */
const firing = new Map<string, Map<string, readonly number[]>>();

beforeAll(async () => {
  all = await played(nights, { signal });
  const period = { start: epoch + settled, end: epoch + nightLength / 1000 };
  for (const rule of shippedRules()) {
    for (const [cluster, times] of await firingTimes(all, rule, period)) {
      firing.set(
        cluster,
        (firing.get(cluster) ?? new Map<string, readonly number[]>()).set(rule.alert, times),
      );
    }
  }
});

afterAll(() => all.server.stop());

/** Those that page: a cause that fires too late has not inhibited its effects. */
function pagesOf(cluster: string): readonly string[] {
  const fired = firing.get(cluster) ?? new Map<string, readonly number[]>();
  const isNotified = (name: string, time: number): boolean =>
    !inhibitions.some(
      ({ cause, effects }) => effects.includes(name) && fired.get(cause)?.includes(time) === true,
    );
  const critical = alerts.filter(({ severity }) => severity === 'critical').map(({ name }) => name);
  return critical.filter((name) => fired.get(name)?.some((time) => isNotified(name, time)));
}

describe('trouble at night', () => {
  test.each(nights.map(({ name, paged }) => [name, paged] as const))(
    'pages at most once: %s: %s',
    (name, paged) => {
      expect(pagesOf(name)).toEqual(paged === undefined ? [] : [paged]);
    },
  );

  test.each(nights.map(({ name }) => name))('fires an alert in any case: %s', (name) => {
    expect(firing.get(name)?.size ?? 0).toBeGreaterThan(0);
  });
});
