// The dashboards and rules as the chart ships them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expressionsIn, type Selector, selectorsIn, textOf, withAllChosen } from './selectors.ts';

const chart = join(import.meta.dirname, '../../../charts/headwater');

export interface Query {
  /** File, and panel or alert. */
  readonly from: string;
  /** With the variables filled in. */
  readonly expr: string;
}

function documents(): readonly (readonly [file: string, document: unknown])[] {
  const dashboards = readdirSync(join(chart, 'dashboards')).map(
    (file) => [file, JSON.parse(readFileSync(join(chart, 'dashboards', file), 'utf8'))] as const,
  );
  const rules = readFileSync(join(chart, 'rules/headwater.yaml'), 'utf8');
  return [...dashboards, ['headwater.yaml', parse(rules)]];
}

/** Everything under `expr`, whatever it is in. */
export function shippedQueries(): readonly Query[] {
  return documents().flatMap(([from, document]) =>
    expressionsIn(document).map((expr) => ({ from, expr: withAllChosen(expr) })),
  );
}

/** By its text: each once. */
export function shippedSelectors(): ReadonlyMap<string, Selector> {
  return new Map(
    shippedQueries()
      .flatMap(({ expr }) => selectorsIn(expr))
      .map((selector) => [textOf(selector), selector]),
  );
}

export interface ShippedRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
}

export function shippedRules(): readonly ShippedRule[] {
  const file = parse(readFileSync(join(chart, 'rules/headwater.yaml'), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly ShippedRule[] }[];
  };
  return file.groups.flatMap(({ rules }) => rules);
}
