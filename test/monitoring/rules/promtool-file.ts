// The tests of the alerts in the format of `promtool test rules`.
import { stringify } from 'yaml';
import type { Alert } from '../../../monitoring/alert.ts';
import { alertGroups } from '../../../monitoring/inhibitions.ts';
import { runbookBase } from '../../../monitoring/rule-files.ts';
import { cloudCases } from './cloud-cases.ts';
import { controllerCases } from './controller-cases.ts';
import { nodeCases } from './node-cases.ts';
import type { Fires, Labels, Quiet, RuleCase, Values } from './rule-case.ts';
import { blockCases } from './block-cases.ts';
import { subnetCases } from './subnet-cases.ts';

export const ruleCases: readonly RuleCase[] = [
  ...subnetCases,
  ...blockCases,
  ...nodeCases,
  ...cloudCases,
  ...controllerCases,
];

export const alerts: readonly Alert[] = alertGroups.flatMap((group) => group.alerts);

/** The tests of all alerts or of one: it fires for each reason, stays quiet for each condition, and clears. */
export function promtoolFile(rulesPath: string, only?: string): string {
  const cases = ruleCases.filter(({ alert }) => only === undefined || alert === only);
  const tests = cases.flatMap(({ alert: name, labels, fires, quiet, clears, ...more }) => {
    const firing = [fires, ...(more.alsoFires ?? []).map((each) => ({ labels, ...each }))];
    return [
      ...firing.map((each) => firingTest(name, { labels, ...each })),
      ...[quiet, ...(more.alsoQuiet ?? [])].map((each) => quietTest(name, each)),
      {
        ...testOf(`${name} clears`, clears.series),
        promql_expr_test: [
          counted(name, { state: 'firing', time: clears.firing, count: 1 }),
          counted(name, { state: 'firing', time: clears.cleared, count: 0 }),
        ],
      },
    ];
  });
  return stringify({ rule_files: [rulesPath], evaluation_interval: '1m', tests });
}

function firingTest(
  name: string,
  {
    labels,
    series,
    pending,
    at,
    shows,
    because,
  }: Fires & { readonly labels: Labels; readonly because?: string },
): object {
  const fired = expectedAlert(alertNamed(name), labels, shows);
  return {
    ...testOf(because === undefined ? `${name} fires` : `${name} fires: ${because}`, series),
    alert_rule_test: [{ alertname: name, eval_time: at, exp_alerts: [fired] }],
    promql_expr_test: [counted(name, { state: 'pending', time: pending, count: 1 })],
  };
}

function quietTest(name: string, { because, series, at }: Quiet): object {
  return {
    ...testOf(`${name} does not fire: ${because}`, series),
    alert_rule_test: [{ alertname: name, eval_time: at, exp_alerts: [] }],
  };
}

function counted(
  name: string,
  {
    state,
    time,
    count,
  }: { readonly state: 'pending' | 'firing'; readonly time: string; readonly count: 0 | 1 },
): object {
  return {
    expr: `count(ALERTS{alertname="${name}",alertstate="${state}"})`,
    eval_time: time,
    exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
  };
}

function alertNamed(name: string): Alert {
  const found = alerts.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no alert ${name}`);
  return found;
}

function expectedAlert(alert: Alert, labels: Labels, value: string | undefined): object {
  const texts = { labels, value };
  return {
    exp_labels: { severity: alert.severity, ...labels },
    exp_annotations: {
      summary: rendered(alert.summary, texts),
      description: rendered(alert.description, texts),
      runbook_url: `${runbookBase}/${alert.name}.md`,
    },
  };
}

interface Texts {
  readonly labels: Labels;
  readonly value: string | undefined;
}

/** As Prometheus renders the few templates that the alerts have. */
function rendered(text: string, { labels, value }: Texts): string {
  return text
    .replaceAll(/\{\{ with \$labels\.(\w+) \}\}(.*?)\{\{ end \}\}/g, (_, label: string, inner: string) =>
      labels[label] === undefined ? '' : inner.replaceAll('{{ . }}', labels[label]),
    )
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, () => {
      if (value === undefined) throw new Error(`the case does not say what it shows: ${text}`);
      return value;
    });
}

function testOf(name: string, series: Values): object {
  return {
    name,
    interval: '1m',
    input_series: Object.entries(series).map(([key, values]) => ({ series: key, values })),
  };
}
