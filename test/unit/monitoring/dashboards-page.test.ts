import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards } from '../../../monitoring/generate.ts';
import { alertGroups, inhibitions } from '../../../monitoring/inhibitions.ts';
import { ciliumPanels } from '../../monitoring/cilium-dashboard.ts';

const docs = join(import.meta.dirname, '../../../docs');
const page = readFileSync(join(docs, 'dashboards.md'), 'utf8');
const alerts = alertGroups.flatMap((group) => group.alerts);

function link(name: string): string {
  return `[${name}](runbooks/${name}.md)`;
}

const rows = [
  ...alerts.map(({ name, severity, for: duration }) => `| ${link(name)} | ${severity} | ${duration} |`),
  ...inhibitions.map(({ cause, effects, why }) => `| ${cause} | ${effects.join(', ')} | ${why} |`),
  ...ciliumPanels.map(({ title, shows }) => `| ${title} | ${shows} |`),
];

describe('docs/dashboards.md', () => {
  test.each(rows)('has the row %s', (row) => {
    expect(page.split('\n')).toContain(row);
  });

  test('has no row for what no longer exists', () => {
    const written = page.split('\n').filter((line) => /^\| (\[?Headwater[A-Z])/.test(line));

    expect(written.filter((line) => !rows.includes(line))).toEqual([]);
  });

  test.each(dashboards.map(({ title, description }) => [title, description]))(
    'describes %s as the dashboard itself does',
    (_, description) => {
      expect(page.replaceAll('\n', ' ')).toContain(description);
    },
  );

  test.each(dashboards.map(({ uid }) => uid))('shows a picture of %s', (uid) => {
    expect(page).toContain(`(pictures/${uid}.svg)`);
    expect(existsSync(join(docs, `pictures/${uid}.svg`))).toBe(true);
  });
});
