import { describe, expect, test } from '@jest/globals';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from '../../../monitoring/generate.ts';
import { dashboardJson } from '../../../monitoring/dashboards/grafana-dashboard.ts';
import { variables } from '../../../monitoring/dashboards/dashboard-plan.ts';
import { alertGroups } from '../../../monitoring/inhibitions.ts';
import { expressionsIn, selectorsIn, textOf } from '../../monitoring/rig/selectors.ts';
import { problemOf, seriesOf } from './known-metrics.ts';

/** Series that a panel may need at 15,000 nodes. */
const maxSeries = 5000;

/** Panels over several clusters show the worst one: a sum would be meaningless. */
const worstOfAll = /^headwater_(oldest_deficit_seconds|cloud_rate_limit_\w+)$/;

const plans = dashboards.map((plan) => [plan.uid, plan] as const);
const panels = dashboards.flatMap((plan) =>
  plan.rows.flatMap((row) => row.panels.map((panel) => [`${plan.uid}: ${panel.title}`, panel] as const)),
);
const alerts = alertGroups.flatMap((group) => group.alerts.map(({ name }) => name));

function seriesFor(queries: readonly { readonly expr: string }[], nodes: number): number {
  const selectors = new Map(
    queries.flatMap(({ expr }) => selectorsIn(expr)).map((selector) => [textOf(selector), selector]),
  );
  return [...selectors.values()].reduce((sum, selector) => sum + seriesOf(selector, nodes), 0);
}

describe('a panel', () => {
  test.each(panels)('has a description, a unit, and queries with legends: %s', (_, panel) => {
    expect(panel.description).toMatch(/^\S.{30,}\.$/);
    expect(panel.unit).toMatch(/^\w+$/);
    expect(panel.queries.length).toBeGreaterThan(0);
    if (panel.queries.length > 1) expect(panel.queries.map(({ legend }) => legend)).not.toContain('');
  });

  test.each(panels)('uses existing metrics, labels and values: %s', (_, { queries }) => {
    const selectors = queries.flatMap(({ expr }) => selectorsIn(expr));

    expect(selectors.length).toBeGreaterThan(0);
    expect(selectors.flatMap((selector) => problemOf(selector) ?? [])).toEqual([]);
  });

  test.each(panels)(
    'needs 5,000 series at most in a fleet of 15,000 nodes, and of 2,000: %s',
    (_, { queries }) => {
      expect(seriesFor(queries, 15_000)).toBeLessThanOrEqual(maxSeries);
      // In the smaller fleet each node has series of its own: twenty of them are chosen.
      expect(seriesFor(queries, 20)).toBeLessThanOrEqual(maxSeries);
    },
  );

  test.each(panels)('adds up clusters, each with the largest value of its replicas: %s', (_, { queries }) => {
    const found = queries.flatMap(({ expr }) => [
      ...expr.matchAll(/\b(?:max|min) (?:by \(([^)]*)\) )?\((\w+)\{/g),
    ]);
    const mixed = found.filter(
      ([, labels = '', metric = '']) => !/\b(cluster|subnet_id)\b/.test(labels) && !worstOfAll.test(metric),
    );

    expect(mixed.map(([text]) => text)).toEqual([]);
  });

  test.each(panels)('reads hours back what the current leader reports: %s', (_, { queries }) => {
    const trends = queries.filter(({ expr }) => /\b(deriv|predict_linear)\(/.test(expr));

    expect(trends.filter(({ expr }) => !expr.includes('headwater_leader == 1'))).toEqual([]);
  });

  test.each(panels)('has thresholds in ascending order: %s', (_, { thresholds = [] }) => {
    const values = thresholds.map(({ value }) => value);

    expect(values).toEqual(values.toSorted((a, b) => a - b));
  });

  test.each(panels)('links runbooks of existing alerts: %s', (_, { runbooks = [] }) => {
    expect(runbooks.filter((name) => !alerts.includes(name))).toEqual([]);
  });
});

describe('a dashboard', () => {
  test.each(plans)('has its title, and panels with different titles: %s', (_, plan) => {
    const titles = plan.rows.flatMap((row) => row.panels.map(({ title }) => title));

    expect(plan.title).toMatch(/^Headwater \/ /);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test.each(plans)('uses each variable that it offers, and offers each that it uses: %s', (_, plan) => {
    const text = expressionsIn(JSON.parse(dashboardJson(plan))).join('\n');
    const used = Object.keys(variables).filter((name) => new RegExp(`\\$${name}\\b`).test(text));

    expect(plan.variables.toSorted()).toEqual(used.toSorted());
  });

  test.each(plans)('has its data source as a variable, and links to the others: %s', (_, plan) => {
    const made = JSON.parse(dashboardJson(plan)) as Dashboard;

    expect(made.templating?.list?.[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
    expect(made.links).toMatchObject([{ tags: ['headwater'], includeVars: true }, { title: 'Runbooks' }]);
    for (const panel of made.panels ?? []) {
      if (panel.type !== 'row') expect(panel).toMatchObject({ datasource: { uid: '${datasource}' } });
    }
  });

  test('shows the prefixes of both families side by side', () => {
    const shown = panels.map(([, { queries }]) => queries.map(({ expr }) => expr).join('\n'));

    expect(
      shown.filter((text) => /headwater_prefixes\b/.test(text) && /headwater_ipv6_prefixes\b/.test(text)),
    ).toHaveLength(1);
  });

  test('explains, together with the others, every alert by a panel that links its runbook', () => {
    const linked = new Set(panels.flatMap(([, { runbooks = [] }]) => runbooks));

    expect(alerts.filter((name) => !linked.has(name))).toEqual([]);
  });
});
