import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from '../../../monitoring/generate.ts';

const root = join(import.meta.dirname, '../../..');

describe('the files of the chart that are made from monitoring/', () => {
  test.each(generatedFiles().map((file) => [file.path, file.text]))(
    '%s is what npm run monitoring makes now',
    (path, text) => {
      expect(readFileSync(join(root, path), 'utf8')).toBe(text);
    },
  );

  test('beside them lies nothing that is not made any more', () => {
    const made = generatedFiles().map(({ path }) => path);
    const directories = [...new Set(made.map((path) => dirname(path)))];

    const found = directories.flatMap((path) =>
      readdirSync(join(root, path)).map((name) => `${path}/${name}`),
    );

    expect(found.toSorted()).toEqual(made.toSorted());
  });

  test.each(['dashboards', 'prometheusrule'])('the chart has a template for %s', (name) => {
    expect(existsSync(join(root, `charts/headwater/templates/${name}.yaml`))).toBe(true);
  });
});
