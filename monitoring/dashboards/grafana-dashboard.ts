// Makes the JSON that Grafana loads from a dashboard's plan.
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import {
  LegendDisplayMode,
  LegendPlacement,
  StackingConfigBuilder,
  StackingMode,
  VizLegendOptionsBuilder,
  VizOrientation,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { runbookBase } from '../rule-files.ts';
import { type DashboardPlan, type PanelPlan, type VariableName, variables } from './dashboard-plan.ts';

const tag = 'headwater';
const datasource = { type: 'prometheus', uid: '${datasource}' } as const;

/** Columns of 24, and lines, that a panel of each kind takes. */
const sizes = {
  stat: { span: 6, height: 4 },
  timeseries: { span: 12, height: 8 },
  bargauge: { span: 12, height: 8 },
  table: { span: 24, height: 8 },
} as const satisfies Record<PanelPlan['kind'], { span: number; height: number }>;

/** As the file has it. */
export function dashboardJson(plan: DashboardPlan): string {
  const builder = new DashboardBuilder(plan.title)
    .uid(plan.uid)
    .description(plan.description)
    .tags([tag])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .link(otherDashboards())
    .link(
      new DashboardLinkBuilder('Runbooks').type(DashboardLinkType.Link).url(runbookBase).targetBlank(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const name of plan.variables) builder.withVariable(variable(name));
  for (const row of plan.rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) builder.withPanel(panelOf(panel));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

/** The same variables and the same time there. */
function otherDashboards(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Headwater')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .asDropdown(true)
    .includeVars(true)
    .keepTime(true);
}

function variable(name: VariableName): QueryVariableBuilder {
  const { label, query } = variables[name];
  const builder = new QueryVariableBuilder(name)
    .label(label)
    .datasource(datasource)
    .query(query)
    .multi(true)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
  // Nodes are too many to be looked at all at once.
  if (name === 'node') return builder;
  // Also what has no such label.
  return builder.includeAll(true).allValue('.*').current({ text: 'All', value: '$__all' });
}

type AnyPanel = Stat | TimeSeries | BarGauge | Table;

function panelOf(plan: PanelPlan): Builder<Panel> {
  const panel = kindOf(plan);
  const { span, height } = sizes[plan.kind];
  panel
    .title(plan.title)
    .description(plan.description)
    .datasource(datasource)
    .unit(plan.unit)
    .noValue('none')
    .thresholds(thresholdsOf(plan))
    .span(span)
    .height(height)
    .links(
      (plan.runbooks ?? []).map((name) =>
        new DashboardLinkBuilder(`Runbook ${name}`)
          .type(DashboardLinkType.Link)
          .url(`${runbookBase}/${name}.md`)
          .targetBlank(true),
      ),
    );
  if (plan.isSigned !== true) panel.min(0);
  if (plan.max !== undefined) panel.max(plan.max);
  for (const [index, target] of targetsOf(plan).entries()) {
    panel.withTarget(target.refId(String.fromCharCode(65 + index)).datasource(datasource));
  }
  return panel;
}

/** Between two samples of one line, in ms: a takeover of seconds is no gap. */
const longestGap = 120_000;

function kindOf({ kind, isStacked, queries }: PanelPlan): AnyPanel {
  switch (kind) {
    case 'stat':
      return new Stat();
    case 'table':
      return new Table()
        .withTransformation({ id: 'merge', options: {} })
        .withTransformation({ id: 'organize', options: columnsOf(queries) });
    case 'bargauge':
      return new BarGauge().orientation(VizOrientation.Horizontal);
    case 'timeseries': {
      const legend = new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(['lastNotNull', 'max']);
      const panel = new TimeSeries()
        .legend(legend)
        .fillOpacity(isStacked === true ? 20 : 5)
        .spanNulls(longestGap);
      return isStacked === true
        ? panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal))
        : panel;
    }
  }
}

/** Grafana calls the columns of several queries by their letters. */
function columnsOf(queries: PanelPlan['queries']): object {
  const nameOf = (index: number): string =>
    queries.length === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`;
  return {
    excludeByName: { Time: true },
    renameByName: Object.fromEntries(queries.map(({ legend }, index) => [nameOf(index), legend])),
  };
}

function targetsOf({ kind, queries }: PanelPlan): readonly DataqueryBuilder[] {
  return queries.map(({ expr, legend }) => {
    const query = new DataqueryBuilder().expr(expr).legendFormat(legend);
    if (kind === 'timeseries') return query.range();
    return kind === 'table' ? query.instant().format(PromQueryFormat.Table) : query.instant();
  });
}

function thresholdsOf({ thresholds = [], lowIsBad }: PanelPlan): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: lowIsBad === true ? 'red' : 'green' }, ...thresholds]);
}
