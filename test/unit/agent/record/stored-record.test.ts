// What the files of a record say, line by line, and what of them is damage.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '../../../../src/agent/ipam/holdings.ts';
import { AddressRecord, type OpenedRecord } from '../../../../src/agent/record/address-record.ts';
import { openState } from '../../../../src/agent/record/state-directory.ts';
import type { RecordOwner } from '../../../../src/agent/record/stored-record.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-stored-'));
const owner: RecordOwner = { boot: 'b', node: 'one' };
let directory: string;
let count = 0;

beforeEach(() => {
  directory = join(root, String(count++));
  mkdirSync(directory);
});
afterAll(() => rmSync(root, { recursive: true }));

const hold = (last: number): Change => ({ hold: [{ pool: 'p', ip: `10.0.0.${last}`, owner: 'x' }] });

function write(...lasts: readonly number[]): void {
  const opened = AddressRecord.open(directory, owner);
  if (opened.kind !== 'open') throw new Error(opened.problem);
  for (const last of lasts) {
    expect(opened.record.write(hold(last))).toBeUndefined();
    opened.holdings.apply(hold(last));
  }
  opened.record.close();
}

function read(own = owner): string | readonly string[] {
  const opened: OpenedRecord = AddressRecord.open(directory, own);
  if (opened.kind !== 'open') return opened.problem;
  opened.record.close();
  return [...opened.holdings.held()].map(({ ip }) => ip);
}

const pathOf = (name: string): string => join(directory, name);
const linesOf = (name: string): readonly string[] =>
  readFileSync(pathOf(name), 'utf8').split('\n').slice(0, -1);
const put = (name: string, lines: readonly string[]): void =>
  writeFileSync(pathOf(name), lines.map((line) => `${line}\n`).join(''));

describe('a record', () => {
  test('says in its first line whose it is, and numbers every line', () => {
    write(1, 2);
    write(3);

    expect(linesOf('snapshot')[0]).toMatch(
      /^0 [\da-f]{8} \{"headwater":"addresses","version":2,"boot":"b","node":"one","last":0\}$/,
    );
    expect(linesOf('journal').map((line) => line.split(' ')[0])).toEqual(['1', '2', '3']);
  });

  test.each([
    ['changed', ([a = '', b = '', c = '']: readonly string[]) => [a, b.replace('10.0.0.2', '10.0.0.9'), c]],
    ['numbered otherwise', ([a = '', b = '', c = '']: readonly string[]) => [a, b.replace(/^2/, '3'), c]],
    ['lost', ([a = '', , c = '']: readonly string[]) => [a, c]],
    ['the first, and lost', ([, b = '', c = '']: readonly string[]) => [b, c]],
    ['there twice', ([a = '', b = '', c = '']: readonly string[]) => [a, b, b, c]],
    ['moved', ([a = '', b = '', c = '']: readonly string[]) => [a, c, b]],
    ['of version 1', ([a = '', b = '', c = '']: readonly string[]) => [a, b.replace(/^\S+ \S+ /, ''), c]],
  ])('is damaged if a line in the middle of its journal is %s', (_, edit) => {
    write(1, 2, 3);
    put('journal', edit(linesOf('journal')));

    expect(read()).toBe(`${pathOf('journal')} is damaged`);
  });

  test.each([
    ['lacks a line', (lines: readonly string[]) => lines.toSpliced(1, 1)],
    ['lacks its end', (lines: readonly string[]) => lines.slice(0, -1)],
    ['has another node', (lines: readonly string[]) => lines.map((line) => line.replace('"one"', '"two"'))],
  ])('is damaged if its snapshot %s', (_, edit) => {
    write(1, 2);
    const opened = AddressRecord.open(directory, owner);
    if (opened.kind === 'open') opened.record.snapshot();
    put('snapshot', edit(linesOf('snapshot')));

    expect(read()).toBe(`${pathOf('snapshot')} is damaged`);
  });

  test('is damaged by the change of any one byte, but for the end of its last line', () => {
    write(1, 2);
    const opened = AddressRecord.open(directory, owner);
    if (opened.kind === 'open') opened.record.snapshot();
    write(3, 4);
    for (const name of ['snapshot', 'journal']) {
      const bytes = readFileSync(pathOf(name));
      const found = Array.from(bytes, (byte, at) => {
        writeFileSync(pathOf(name), bytes.with(at, byte ^ 1));
        return AddressRecord.open(directory, owner).kind;
      });
      writeFileSync(pathOf(name), bytes);
      const ends = name === 'journal' ? ['damaged', 'open'] : ['damaged', 'damaged'];
      expect([new Set(found.slice(0, -1)), found.at(-1)]).toEqual([new Set(ends.slice(0, 1)), ends[1]]);
    }
  });

  test('is damaged if its snapshot is gone', () => {
    write(1);
    rmSync(pathOf('snapshot'));

    expect(read()).toBe(`${pathOf('journal')} is damaged`);
  });

  test('goes on behind a snapshot, whatever of the journal before it is left', () => {
    write(1, 2, 3);
    const journal = linesOf('journal');
    const opened = AddressRecord.open(directory, owner);
    if (opened.kind !== 'open') throw new Error(opened.problem);
    opened.record.snapshot();
    opened.record.close();

    for (const left of [journal, journal.slice(0, 2)]) {
      put('journal', left);
      write(4);
      expect(read()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']);
    }
  });
});

describe('a record of version 1', () => {
  const change = (last: number): string => JSON.stringify(hold(last));

  test.each([
    ['without a snapshot', false],
    ['with a snapshot', true],
  ])('%s is read, and rewritten', (_, hasSnapshot) => {
    const snapshot = ['{"headwater":"addresses","version":1}', change(1), '{"headwater":"end"}'];
    if (hasSnapshot) put('snapshot', snapshot);
    put('journal', [change(1), change(2)]);
    const journal = linesOf('journal');

    expect(read()).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(linesOf('snapshot')[0]).toContain('"version":2,"boot":"b","node":"one"');
    expect(linesOf('journal')).toEqual([]);

    // Killed before it could empty the journal.
    put('journal', journal);
    write(3);
    expect(read()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  });

  test.each(['__proto__', 'hasOwnProperty', 'constructor'])('is damaged by a part named %s', (name) => {
    put('journal', [change(1), `{"${name}":"hold"}`]);

    expect(read()).toContain('is damaged');
  });

  test('without a change is new', () => {
    put('journal', []);
    const opened = AddressRecord.open(directory, owner);

    expect(opened.kind === 'open' && opened.record.isNew).toBe(true);
  });
});

describe('a record of another owner', () => {
  const state = (node: string): ReturnType<typeof openState> => {
    writeFileSync(pathOf('boot_id'), '1b4e28ba-2fa1-41d2-883f-0016d3cca427\n');
    return openState({ path: pathOf('state'), bootIdFile: pathOf('boot_id'), node, canRebuild: true });
  };

  test('is refused, stays as it is, and says what to do', () => {
    const first = state('one');
    if (first.kind !== 'open') throw new Error(first.problem);
    first.record.write(hold(1));
    first.record.close();

    const own = join(pathOf('state'), '1b4e28ba-2fa1-41d2-883f-0016d3cca427');
    expect(state('two')).toEqual({
      kind: 'unusable',
      problem: `${own} is the record of the node one, and this agent is for two: set --node-name=one, or a --state-dir of its own; if the node was renamed, remove the pods of this node, then that directory`,
    });
    expect(existsSync(`${own}.damaged`)).toBe(false);
    const again = state('one');
    expect(again.kind === 'open' && again.holdings.size).toBe(1);
  });

  test('of another boot is refused', () => {
    write(1);

    expect(read({ ...owner, boot: 'later' })).toMatch(/is the record of another boot: remove the pods/);
  });
});
