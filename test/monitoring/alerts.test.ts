import { beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ruleFile } from '../../monitoring/rule-files.ts';
import { promtool } from './rig/promtool.ts';
import { alerts, promtoolFile, ruleCases } from './rules/promtool-file.ts';

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Record<string, unknown>[] }[];
}

let directory = '';
let files = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rules-'));
});

/** Runs the cases of these alerts against rules. */
async function tested(
  rules: string,
  only?: string,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const number = files++;
  const [rulesName, testName] = [`rules-${number}.yaml`, `tests-${number}.yaml`];
  await writeFile(join(directory, rulesName), rules);
  await writeFile(join(directory, testName), promtoolFile(rulesName, only));
  return promtool(['test', 'rules', testName], directory);
}

/** The rules with one of them changed. */
function changed(name: string, change: Record<string, unknown>): string {
  const file = parse(ruleFile()) as RuleFile;
  const groups = file.groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => (rule['alert'] === name ? { ...rule, ...change } : rule)),
  }));
  return stringify({ groups });
}

/** The expression without one line that adds a reason to fire, or a condition. */
function withoutOneLine(expr: string): readonly (readonly [line: string, rest: string])[] {
  const lines = expr.split('\n');
  return lines.flatMap((line, index) => {
    const isWhole = line.replaceAll(/[^(]/g, '').length === line.replaceAll(/[^)]/g, '').length;
    if (!isWhole || !/^\s*(or|and|unless)\b/.test(line)) return [];
    return [[line.trim(), lines.toSpliced(index, 1).join('\n')] as const];
  });
}

describe('the alert rules', () => {
  test('pass promtool', async () => {
    await writeFile(join(directory, 'rules.yaml'), ruleFile());

    const { ok, text } = await promtool(['check', 'rules', '--lint-fatal', 'rules.yaml'], directory);

    expect({ ok, text }).toMatchObject({ ok: true });
    expect(text).toContain(`${alerts.length} rules found`);
  });

  test('each have their cases', () => {
    expect(ruleCases.map(({ alert }) => alert).toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
  });

  test('fire, stay quiet and clear as their cases say', async () => {
    const { ok, text } = await tested(ruleFile());

    expect(ok ? '' : text).toBe('');
  });
});

describe('the cases of the alerts', () => {
  const cluster = 'label_replace(vector(1), "cluster", "c", "", "")';

  const changes: readonly (readonly [what: string, change: Record<string, unknown>])[] = [
    ['never fires', { expr: 'vector(0) > 1' }],
    ['always fires', { expr: cluster }],
    ['does not wait', { for: '0s' }],
    ['has another severity', { labels: { severity: 'info' } }],
  ];
  const mutants = alerts.flatMap(({ name }) =>
    changes.map(([what, change]) => [name, what, changed(name, change)] as const),
  );

  test.each(mutants)('notice when %s %s', async (name, _, rules) => {
    expect((await tested(rules, name)).ok).toBe(false);
  });

  const conditions = alerts.flatMap(({ name, expr }) =>
    withoutOneLine(expr).map(([line, rest]) => [name, line, changed(name, { expr: rest })] as const),
  );

  test.each(conditions)('notice when %s loses the line "%s"', async (name, _, rules) => {
    const { ok, text } = await tested(rules, name);

    expect(ok).toBe(false);
    expect(text).not.toContain('parse error');
  });
});
