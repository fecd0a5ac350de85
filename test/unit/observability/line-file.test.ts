import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LineFile } from '../../../src/observability/line-file.ts';

let directory = '';
let path = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headwater-lines-'));
  path = join(directory, 'lines');
});

afterEach(() => rmSync(directory, { recursive: true }));

describe('a file of lines', () => {
  test('is appended to, and readable by its owner and group alone', () => {
    new LineFile(path).append('{"a":1}');
    new LineFile(path).append('{"b":2}');

    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"b":2}\n');
    expect(statSync(path).mode & 0o007).toBe(0);
  });

  test('begins anew once it was moved away or deleted', () => {
    const file = new LineFile(path);
    file.append('one');
    renameSync(path, `${path}.1`);
    file.append('two');
    rmSync(path);
    file.append('three');

    expect(readFileSync(`${path}.1`, 'utf8')).toBe('one\n');
    expect(readFileSync(path, 'utf8')).toBe('three\n');
  });

  test('begins a line of its own after one that was cut off', () => {
    appendFileSync(path, '{"cut');

    new LineFile(path).append('{"a":1}');

    expect(readFileSync(path, 'utf8')).toBe('{"cut\n{"a":1}\n');
  });

  test.each([
    ['a directory', () => directory, 'EISDIR'],
    ['a path below a directory that is not there', () => join(directory, 'no', 'file'), 'ENOENT'],
  ])('is refused if it is %s', (_, given, code) => {
    expect(() => new LineFile(given())).toThrow(expect.objectContaining({ code }));
  });

  test('is refused, and not waited for, if it is a pipe that nobody reads', () => {
    execFileSync('mkfifo', [path]);

    expect(() => new LineFile(path)).toThrow(expect.objectContaining({ code: 'ENXIO' }));
  });

  test('says that its directory is gone, and goes on once it is back', () => {
    const file = new LineFile(path);
    renameSync(directory, `${directory}-away`);
    expect(() => file.append('lost')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    renameSync(`${directory}-away`, directory);

    file.append('kept');

    expect(readFileSync(path, 'utf8')).toBe('kept\n');
  });
});
