// The files that Prometheus and Alertmanager read, made from the tables of alerts and inhibitions.
import { stringify } from 'yaml';
import { alertGroups, inhibitions } from './inhibitions.ts';
import type { Alert, Inhibition } from './alert.ts';

/** Beside the root of the repository; the chart replaces it by where the runbooks are served. */
export const runbookBase = 'docs/runbooks';

const banner = '# Made by monitoring/generate.ts from monitoring/. Change those, not this file.\n';

/** Groups as Prometheus reads them, and as a PrometheusRule holds them under `spec`. */
export function ruleFile(): string {
  const groups = alertGroups.map(({ name, alerts }) => ({ name, rules: alerts.map(ruleOf) }));
  return banner + stringify({ groups }, { lineWidth: 0 });
}

/** What belongs under `inhibit_rules` of Alertmanager. */
export function inhibitionFile(): string {
  return banner + stringify({ inhibit_rules: inhibitions.map(inhibitRule) }, { lineWidth: 0 });
}

function ruleOf({ name, expr, for: duration, severity, summary, description }: Alert): object {
  return {
    alert: name,
    expr,
    for: duration,
    labels: { severity },
    annotations: { summary, description, runbook_url: `${runbookBase}/${name}.md` },
  };
}

function inhibitRule({ cause, effects, equal }: Inhibition): object {
  return {
    source_matchers: [`alertname="${cause}"`],
    target_matchers: [`alertname=~"${effects.join('|')}"`],
    equal,
  };
}
