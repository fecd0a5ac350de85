// Makes the reference pages from the tables that the program itself is made of: `node docs/generate.ts` writes them,
// and a test fails while a page differs from its table.
import { writeFileSync } from 'node:fs';
import { chartReadme } from './chart-readme.ts';
import { chartCommands, chartOptionFacts, chartSchema } from './chart-schema.ts';
import { metricsPage } from './metrics-page.ts';
import { optionsPage } from './options-page.ts';
import { outputNames, outputSchema } from './output-schemas.ts';

export interface Page {
  /** Beside this file. */
  readonly name: string;
  readonly text: string;
}

export function generatedPages(): readonly Page[] {
  const schema = chartSchema();
  return [
    { name: 'options.md', text: banner('the table of options (src/config/option-table.ts)') + optionsPage() },
    {
      name: 'metrics.md',
      text:
        banner(
          'the tables of metrics (src/observability/headwater-metrics.ts, operator-metrics.ts, node-ipam-metrics.ts, agent-metrics.ts)',
        ) + metricsPage(),
    },
    { name: '../charts/headwater/values.schema.json', text: `${JSON.stringify(schema, undefined, 2)}\n` },
    {
      name: '../charts/headwater/README.md',
      text: banner('the schema of its values and values.yaml') + chartReadme(schema),
    },
    { name: '../charts/headwater/files/commands.json', text: chartCommands() },
    { name: '../charts/headwater/files/options.json', text: chartOptionFacts() },
    ...outputNames.map((output) => ({
      name: `output/${output}.schema.json`,
      text: `${JSON.stringify(outputSchema(output), undefined, 2)}\n`,
    })),
  ];
}

function banner(source: string): string {
  return `<!-- Made by docs/generate.ts from ${source}. Change the source, not the page. -->\n\n`;
}

if (import.meta.main) {
  for (const { name, text } of generatedPages()) writeFileSync(new URL(name, import.meta.url), text);
}
