import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { saveSnapshot, snapshotIn, snapshotText } from '../../../../src/commands/plan/saved-status.ts';

const status = '{"state":"leading","identity":"a-0123456789","paused":[]}\n';
const text = snapshotText(status, Date.UTC(2026, 0, 2, 3, 4, 5));

test('a snapshot is read back as it was taken', () => {
  expect(snapshotIn(text)).toMatchObject({
    json: status.trim(),
    report: { state: 'leading', identity: 'a-0123456789' },
    takenAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
  expect(text).toMatch(
    /^[{]"kind":"headwater-snapshot","format":1,"takenAt":"2026-01-02T03:04:05\.000Z","status":[{]/,
  );
});

describe('a file is refused', () => {
  const damaged = 'is a snapshot that was changed or damaged: take another one by headwater snapshot';
  const foreign = 'is no snapshot: take one by headwater snapshot';

  test.each<[string, string, string]>([
    ['that is empty', ' \n', 'is empty: take a snapshot by headwater snapshot'],
    ['that is no JSON', 'apiVersion: v1', 'is no snapshot, and no JSON: take one by headwater snapshot'],
    ['of bytes', '\u0000\u0001', 'is no snapshot, and no JSON: take one by headwater snapshot'],
    ['of another program', '{"kind":"List","items":[]}', foreign],
    ['that is a list', '[]', foreign],
    ['that is null', 'null', foreign],
    [
      'that is an answer of /status',
      status,
      'is no snapshot, but an answer of /status: take one by headwater snapshot',
    ],
    [
      'of a later format',
      text.replace('"format":1', '"format":2'),
      'is a snapshot of format 2, and this headwater reads format 1: update it',
    ],
    ['of no format', text.replace('"format":1', '"format":"1"'), foreign],
    ['without its status', text.replace('"status"', '"other"'), damaged],
    ['whose status is none', text.replace('"identity"', '"other"'), damaged],
    ['whose time is none', text.replace('2026-01-02T', 'yesterday '), damaged],
  ])('%s', (_, given, problem) => {
    expect(snapshotIn(given)).toBe(problem);
  });

  test('that is cut off, wherever that is', () => {
    const marked = '{"kind":"headwater-snapshot"'.length;
    for (let length = 1; length < text.trim().length; length++)
      expect(snapshotIn(text.slice(0, length))).toBe(
        length < marked
          ? 'is no snapshot, and no JSON: take one by headwater snapshot'
          : 'is a snapshot that is cut off or damaged: take another one by headwater snapshot',
      );
  });
});

describe('a snapshot is saved', () => {
  const at = (name: string): string => join(directory, name);
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'headwater-snapshot-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('to a file, which only its owner may read', async () => {
    expect(await saveSnapshot(at('new'), text)).toBeUndefined();
    expect(readFileSync(at('new'), 'utf8')).toBe(text);
    expect(statSync(at('new')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['new']);
  });

  test('to the file of a link, which stays', async () => {
    writeFileSync(at('file'), 'older');
    symlinkSync(at('file'), at('link'));
    expect(await saveSnapshot(at('link'), text)).toBeUndefined();
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('file'), 'utf8')).toBe(text);
  });

  test('into a pipe, which stays', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const [problem, read] = await Promise.all([saveSnapshot(at('pipe'), text), readFile(at('pipe'), 'utf8')]);
    expect(problem).toBeUndefined();
    expect(read).toBe(text);
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
  });

  test('and says why it cannot be, and leaves nothing', async () => {
    expect(await saveSnapshot(directory, text)).toMatch(/^cannot write .*: EISDIR/);
    expect(await saveSnapshot(at('none/new'), text)).toMatch(/^cannot write .*: ENOENT/);
    expect(readdirSync(directory)).toEqual([]);
  });
});
