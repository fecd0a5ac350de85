import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockPath, type PathLock } from '../../../src/agent/path-lock.ts';

let directory: string;
let place: string;
const locks: PathLock[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'headwater-lock-'));
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => {
  place = mkdtempSync(join(directory, 'p-'));
});
afterEach(() => {
  for (const lock of locks.splice(0)) if (lock.kind === 'held') lock.release();
});

async function lock(path: string): Promise<PathLock> {
  const taken = await lockPath(path, 0o700);
  locks.push(taken);
  return taken;
}

const kindsOf = (all: readonly PathLock[]): readonly string[] => all.map(({ kind }) => kind);

/** As a killed process leaves it. */
async function leaveSocket(...path: readonly string[]): Promise<void> {
  const [passing, left] = [join(place, 'passing'), join(place, ...path)];
  const server = createServer();
  server.listen(passing);
  await once(server, 'listening');
  mkdirSync(join(left, '..'), { recursive: true });
  renameSync(passing, left);
  server.close();
}

describe('the lock of a path', () => {
  test('is for one process, until that releases it', async () => {
    const path = join(place, 'lock');
    const first = await lock(path);

    expect(kindsOf([first, await lock(path), await lock(path)])).toEqual(['held', 'taken', 'taken']);

    if (first.kind === 'held') first.release();
    expect(kindsOf([await lock(path), await lock(path)])).toEqual(['held', 'taken']);
    expect(readdirSync(place)).toEqual(['lock']);
  });

  test.each([
    ['nothing', () => Promise.resolve()],
    ['a lock that was released', () => Promise.resolve(mkdirSync(join(place, 'lock')))],
    ['what a killed process left', () => leaveSocket('lock', 'lock.starter-aaaaaa')],
    [
      'what several killed processes left',
      async () => {
        await leaveSocket('lock', 'lock.starter-aaaaaa');
        await leaveSocket('lock.starter-bbbbbb', 'lock.starter-bbbbbb');
        mkdirSync(join(place, 'lock.starter-cccccc'));
      },
    ],
  ])('is for one of 40 that start about together over %s', async (_, prepare) => {
    await prepare();
    const path = join(place, 'lock');

    const start = async (delay: number): Promise<PathLock> => {
      for (let turn = 0; turn < delay; turn++) await stat(place);
      return lock(path);
    };
    const all = await Promise.all(Array.from({ length: 40 }, (_, index) => start(index)));

    expect(kindsOf(all).toSorted()).toEqual(['held', ...Array.from({ length: 39 }, () => 'taken')]);
    expect(readdirSync(place)).toEqual(['lock']);
    expect(readdirSync(path)).toHaveLength(1);
  });

  test('is the same by a symbolic link, and at a path that is too long for a socket', async () => {
    const deep = join(place, 'x'.repeat(200), 'y'.repeat(200));
    const path = join(deep, 'lock');
    const first = await lock(path);
    symlinkSync(deep, join(place, 'link'));

    expect(kindsOf([first, await lock(path), await lock(join(place, 'link/lock'))])).toEqual([
      'held',
      'taken',
      'taken',
    ]);
  });

  test('is free when its holder was killed', async () => {
    const path = join(place, 'lock');
    const source = JSON.stringify(join(import.meta.dirname, '../../../src/agent/path-lock.ts'));
    const script = `
      const { lockPath } = await import(${source});
      console.log((await lockPath(${JSON.stringify(path)}, 0o700)).kind);
      setInterval(() => {}, 1e6);`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(holder.stdout, 'data')) as [Buffer];
    const beside = await lock(path);
    holder.kill('SIGKILL');
    await once(holder, 'exit');

    expect([said.toString().trim(), ...kindsOf([beside, await lock(path)])]).toEqual([
      'held',
      'taken',
      'held',
    ]);
  });

  test.each([
    ['its folder is a file', 'file/lock', /ENOTDIR|EEXIST/],
    ['it is a file', 'file', /ENOTDIR/],
  ])('cannot be had where %s, with the reason', async (_, path, problem) => {
    writeFileSync(join(place, 'file'), 'precious');

    expect(await lock(join(place, path))).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringMatching(problem) },
    });
  });
});
