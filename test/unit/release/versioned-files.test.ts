import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  compareVersions,
  versionedFiles,
  versionProblem,
  withVersion,
} from '../../../release/versioned-files.ts';

const root = new URL('../../../', import.meta.url);

describe('the version of a release', () => {
  const known = { current: '0.2.0', tags: ['v0.1.0', 'v0.3.0-rc.1'] };

  test.each(['0.2.0', '0.2.1', '0.10.0', '1.0.0', '0.3.0-rc.2', '0.3.0'])('may be %s', (version) => {
    expect(versionProblem(version, known)).toBeUndefined();
  });

  test.each([
    ['v1.0.0', /^"v1\.0\.0" is no version: name one such as 1\.2\.0/],
    ['1.0', /^"1\.0" is no version/],
    ['01.0.0', /^"01\.0\.0" is no version/],
    ['1.0.0; rm -rf /', /is no version/],
    ['0.1.0', /^v0\.1\.0 is tagged already: name a later version$/],
    ['0.3.0-rc.1', /^v0\.3\.0-rc\.1 is tagged already/],
    ['0.1.9', /^0\.1\.9 comes before 0\.2\.0, which the files say: name a later version$/],
    ['0.2.0-rc.1', /^0\.2\.0-rc\.1 comes before 0\.2\.0/],
  ])('may not be %s', (version, problem) => {
    expect(versionProblem(version, known)).toMatch(problem);
  });

  test('comes after the versions that it follows', () => {
    const versions = ['0.9.0', '1.0.0-beta.2', '1.0.0-rc.1', '1.0.0-rc.10', '1.0.0', '1.0.1', '1.10.0'];

    expect(versions.toReversed().toSorted(compareVersions)).toEqual(versions);
  });
});

describe('a file that holds the version', () => {
  test.each(versionedFiles.map((file) => [file.path, file] as const))(
    'gets the new version in each of its places, and nothing else changes: %s',
    (path, file) => {
      const before = readFileSync(new URL(path, root), 'utf8');

      const after = withVersion(file, before, '7.8.9-rc.1');

      const lines = before.split('\n');
      const changed = after.split('\n').filter((line, index) => line !== lines[index]);
      expect(changed).toHaveLength(file.places.length);
      expect(changed.filter((line) => !line.includes('7.8.9-rc.1'))).toEqual([]);
    },
  );

  test('is not changed when it is no longer in the known form', () => {
    const file = { path: 'package.json', places: [/^(version: ).+/m] };

    expect(() => withVersion(file, '{}\n', '1.0.0')).toThrow(/^package\.json has 0 lines for/);
  });
});
