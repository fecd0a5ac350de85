// Makes the dashboards and the rules of the chart: `node monitoring/generate.ts` writes them, and a test fails while a file
// differs from what it is made from.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cloudApiDashboard } from './dashboards/cloud-api.ts';
import { controllerDashboard } from './dashboards/controller.ts';
import type { DashboardPlan } from './dashboards/dashboard-plan.ts';
import { fleetDashboard } from './dashboards/fleet.ts';
import { dashboardJson } from './dashboards/grafana-dashboard.ts';
import { subnetsDashboard } from './dashboards/subnets.ts';
import { inhibitionFile, ruleFile } from './rule-files.ts';

export const dashboards: readonly DashboardPlan[] = [
  subnetsDashboard,
  fleetDashboard,
  cloudApiDashboard,
  controllerDashboard,
];

export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function generatedFiles(): readonly GeneratedFile[] {
  return [
    ...dashboards.map((plan) => ({
      path: `charts/headwater/dashboards/${plan.uid}.json`,
      text: dashboardJson(plan),
    })),
    { path: 'charts/headwater/rules/headwater.yaml', text: ruleFile() },
    { path: 'charts/headwater/alertmanager/inhibit-rules.yaml', text: inhibitionFile() },
  ];
}

if (import.meta.main) {
  for (const { path, text } of generatedFiles()) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
