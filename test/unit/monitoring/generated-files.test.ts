import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from '../../../monitoring/generate.ts';

const root = join(import.meta.dirname, '../../..');

describe('the files of the chart that are generated from monitoring/', () => {
  test.each(generatedFiles().map((file) => [file.path, file.text]))(
    'are up to date: %s is what npm run monitoring writes',
    (path, text) => {
      expect(readFileSync(join(root, path), 'utf8')).toBe(text);
    },
  );

  test('have no outdated file next to them', () => {
    const made = generatedFiles().map(({ path }) => path);
    const directories = [...new Set(made.map((path) => dirname(path)))];

    const found = directories.flatMap((path) =>
      readdirSync(join(root, path)).map((name) => `${path}/${name}`),
    );

    expect(found.toSorted()).toEqual(made.toSorted());
  });

  test.each(['dashboards', 'prometheusrule'])('have a template in the chart for %s', (name) => {
    expect(existsSync(join(root, `charts/headwater/templates/${name}.yaml`))).toBe(true);
  });
});
