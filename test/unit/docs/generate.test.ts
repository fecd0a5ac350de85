import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { generatedPages } from '../../../docs/generate.ts';
import { optionNames } from '../../../src/config/option-table.ts';
import { optionsWithoutEffect } from '../../../src/config/options/options-without-effect.ts';
import { metricTable } from '../../../src/observability/metrics.ts';

const pages = generatedPages();
const ignoredNames = Object.values(optionsWithoutEffect).flatMap(({ reasons }) => Object.keys(reasons));

describe('generated pages', () => {
  test.each(pages.map(({ name, text }) => [name, text]))(
    'match their tables: %s; if not, run: node docs/generate.ts',
    (name, text) => {
      const written = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

      expect(written).toBe(text);
    },
  );

  test.each([
    ['options.md', [...optionNames, ...ignoredNames].map((name) => `\`--${name}\``)],
    ['metrics.md', Object.keys(metricTable).map((name) => `| \`${name}\` |`)],
  ])('are complete: %s', (name, rows) => {
    const text = pages.find((page) => page.name === name)?.text ?? '';

    expect(rows.filter((row) => !text.includes(row))).toEqual([]);
  });
});
