import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alertGroups, inhibitions } from '../../../monitoring/inhibitions.ts';
import { causes } from '../../monitoring/causes.ts';
import { selectorsIn } from '../../monitoring/rig/selectors.ts';
import { problemOf } from './known-metrics.ts';

const runbooks = join(import.meta.dirname, '../../../docs/runbooks');
const alerts = alertGroups.flatMap((group) => group.alerts);
const names = alerts.map(({ name }) => name);

function severityOf(name: string): string | undefined {
  return alerts.find((alert) => alert.name === name)?.severity;
}

/** Alerts that page, out of those that fire at the same time in a cluster. */
function pages(firing: readonly string[]): readonly string[] {
  const inhibited = new Set(
    inhibitions.filter(({ cause }) => firing.includes(cause)).flatMap(({ effects }) => effects),
  );
  return firing.filter((name) => severityOf(name) === 'critical' && !inhibited.has(name));
}

describe('an alert', () => {
  test.each(alerts.map((alert) => [alert.name, alert] as const))('is complete: %s', (name, alert) => {
    expect(name).toMatch(/^Headwater[A-Z]\w+$/);
    expect(alert.for).toMatch(/^\d+[mh]$/);
    expect(alert.summary).not.toMatch(/\.$/);
    expect(alert.description).toMatch(/\.$/);
  });

  test('has a name of its own', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(alerts.map(({ name, expr }) => [name, expr]))(
    'uses existing metrics, labels and values: %s',
    (_, expr) => {
      expect(selectorsIn(expr).flatMap((selector) => problemOf(selector) ?? [])).toEqual([]);
    },
  );
});

describe('a runbook', () => {
  test('exists for each alert, and for nothing else', () => {
    expect(readdirSync(runbooks).toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
  });

  test.each(names)(
    'says what the alert means, what users notice, how to diagnose and what to do: %s',
    (name) => {
      const text = readFileSync(join(runbooks, `${name}.md`), 'utf8');

      expect(text.split('\n')[0]).toBe(`# ${name}`);
      expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
        'Meaning',
        'Impact',
        'Diagnosis',
        'Mitigation',
      ]);
      expect(text).not.toMatch(/^##.*\n\n(?=##|$(?![\s\S]))/m);
    },
  );

  test.each(names)('names existing metrics: %s', (name) => {
    const text = readFileSync(join(runbooks, `${name}.md`), 'utf8');
    const named = [...text.matchAll(/`(headwater_\w+[^`]*)`/g)].map(([, expr = '']) => expr);

    expect(named.flatMap(selectorsIn).flatMap((selector) => problemOf(selector) ?? [])).toEqual([]);
  });
});

describe('one cause', () => {
  test.each(causes.map((cause) => [cause.what, cause] as const))(
    'causes at most one page: %s',
    (_, { firing, paged }) => {
      expect(pages(firing)).toEqual(paged === undefined ? [] : [paged]);
    },
  );

  test('never has a paging alert inhibited by one that waits until the morning', () => {
    const silenced = inhibitions.flatMap(({ cause, effects }) =>
      effects.filter((effect) => severityOf(effect) === 'critical' && severityOf(cause) !== 'critical'),
    );

    expect(silenced).toEqual([]);
  });

  test('has inhibitions of existing alerts only, and no two that inhibit each other', () => {
    const pairs = inhibitions.flatMap(({ cause, effects }) => effects.map((effect) => `${cause} ${effect}`));
    const named = pairs.flatMap((pair) => pair.split(' '));

    expect(named.filter((name) => !names.includes(name))).toEqual([]);
    expect(pairs.filter((pair) => pairs.includes(pair.split(' ').toReversed().join(' ')))).toEqual([]);
  });
});
