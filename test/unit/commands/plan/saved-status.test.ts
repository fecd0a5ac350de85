import { describe, expect, test } from '@jest/globals';
import { snapshotIn, snapshotText } from '../../../../src/commands/plan/saved-status.ts';

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
    for (let length = 1; length < text.trim().length; length++)
      expect(snapshotIn(text.slice(0, length))).toMatch(
        /^is (?:cut off before its end|no snapshot, and no JSON): take /,
      );
    expect(snapshotIn(text.slice(0, -10))).toBe(
      'is cut off before its end: take another snapshot by headwater snapshot',
    );
  });
});
