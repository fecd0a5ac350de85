// Needs root, for unshare and chroot.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildRootFileSystem, type RootFileSystem } from '../../image/root-file-system.ts';
import { Child, endAll, problemsOf } from '../integration/commands/child.ts';
import { announce, simulate, supplyKeys } from '../integration/commands/simulated.ts';

const work = mkdtempSync(join(tmpdir(), 'headwater-image-'));
const directory = join(work, 'root');
const enter = join(import.meta.dirname, '../../image/enter.sh');
let made: RootFileSystem;

beforeAll(() => {
  made = buildRootFileSystem(directory);
});

afterEach(endAll);
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** The command line of the container, with `args` in the place of its command. */
function inside(args: readonly string[], environment = made?.image.environment): Child {
  const [program = ''] = made.image.entrypoint;
  return new Child([directory, program, ...args], { program: enter, environment });
}

/** A small cloud with its cluster: a directory to mount at /etc/headwater, and the controller's arguments. */
async function cluster(): Promise<{
  mounted: string;
  kubeconfig: string;
  api: string;
  args: readonly string[];
}> {
  const mounted = mkdtempSync(join(work, 'mounted-'));
  chmodSync(mounted, 0o755);
  const { ec2, api, kubeconfig } = await simulate(join(mounted, 'cluster'));
  const flags = [`--ec2-api-endpoint=${ec2}`, '--aws-region=us-east-1', '--serve-addr=127.0.0.1:0'];
  const args = ['run', '--k8s-kubeconfig-path=/etc/headwater/cluster.kubeconfig', ...flags];
  return { mounted, kubeconfig, api, args };
}

/** The user id of a process. */
function userOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly content: string }[];
  readonly licenses?: readonly { readonly license?: { readonly id: string } }[];
}

describe('the files that the image adds to its base', () => {
  test('take 15 MB at most', () => {
    expect(made.size).toBeGreaterThan(1e6);
    expect(made.size).toBeLessThanOrEqual(15e6);
  });

  test('are the bundle, its launcher, the CNI plugin and their documents, and nothing else', () => {
    const home = '/opt/headwater';
    const others = made.added.filter(
      (path) => !/^\/opt\/headwater\/dist\/chunks\/[\w.-]+\.js(\.map)?$/.test(path),
    );

    expect(others).toEqual(
      [
        'LICENSE',
        'THIRD-PARTY-NOTICES',
        'bin/headwater',
        'bin/install-plugin',
        'dist/main.js',
        'dist/main.js.map',
        'dist/page.html',
        'package.json',
        'plugin/headwater-ipam',
        'sbom.cdx.json',
      ].map((name) => `${home}/${name}`),
    );
  });

  test('can be written by no user', () => {
    const modes = made.added.map((path) => statSync(join(directory, path)).mode & 0o222);

    expect(new Set(modes)).toEqual(new Set([0]));
  });

  test('list the packages of others that they hold, with versions, hashes and licenses', () => {
    const read = (name: string): string => readFileSync(join(directory, 'opt/headwater', name), 'utf8');
    const { components: all } = JSON.parse(read('sbom.cdx.json')) as {
      components: Component[];
    };
    const components = all.filter(({ type }) => type === 'library');
    const listed = components.map(({ name, version }) => `${name} ${version}`);

    expect(listed.map((each) => each.split(' ')[0])).toEqual(
      expect.arrayContaining(['@aws-sdk/client-ec2', 'pino', 'undici', 'yaml', 'zod', 'commander']),
    );
    expect(components.filter(({ hashes }) => hashes?.[0]?.content.length !== 128)).toEqual([]);
    expect(
      components.flatMap(({ licenses = [] }) => licenses).filter(({ license }) => license === undefined),
    ).toEqual([]);
    const base = all.filter(({ type }) => type === 'application').map(({ name }) => name);
    expect(base).toEqual(expect.arrayContaining(['node', 'libc6', 'bash']));
    expect(listed.filter((each) => !read('THIRD-PARTY-NOTICES').includes(each))).toEqual([]);
  });

  test('belong to an image of a user that is not root, under an open license', () => {
    expect(made.image).toMatchObject({
      user: '65532:65532',
      command: ['run'],
      labels: { 'org.opencontainers.image.licenses': 'Apache-2.0' },
    });
  });
});

describe('the program in the root file system', () => {
  test('starts as the user nobody', async () => {
    const { code, out, err } = await inside(['run', '--help']).ended;

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Usage: headwater run/);
  });

  test('has a CNI plugin that needs no file of its base', async () => {
    const script = `echo '{"cniVersion":"1.0.0"}' | CNI_COMMAND=VERSION /opt/headwater/plugin/headwater-ipam`;
    const { stdout } = await promisify(execFile)(enter, [directory, '/bin/sh', '-c', script]);

    expect(JSON.parse(stdout)).toMatchObject({ cniVersion: '1.0.0' });
  });

  test('can write nothing', async () => {
    const attempt = promisify(execFile)(enter, [directory, '/bin/sh', '-c', ': > /tmp/file']);

    await expect(attempt).rejects.toThrow(/Read-only file system/);
  });

  test.each([
    ['with the environment of its image', () => made.image.environment],
    ['without a home directory in the environment', () => ({})],
  ])('supplies a node, %s', async (_, environment) => {
    const { mounted, kubeconfig, api, args } = await cluster();
    chmodSync(kubeconfig, 0o644);
    await announce(api, 'one', 'i-00000000000000001');

    const controller = inside(args, { ...environment(), ...supplyKeys, MOUNTED: mounted });
    const port = await controller.word(/"port":(\d+).*"msg":"serving health/);
    await controller.said(/"node":"one".*"msg":"(?:assigned|attached) /);

    expect(userOf(controller.pid)).toBe(65532);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect(await controller.stop()).toMatchObject({ code: 0, err: '' });
  });

  test('says in one line that the user nobody may not read the kubeconfig', async () => {
    const { mounted, kubeconfig, args } = await cluster();
    chmodSync(kubeconfig, 0o600);

    const ended = await inside(args, { ...made.image.environment, MOUNTED: mounted }).ended;

    expect(ended.code).toBe(1);
    expect(problemsOf(ended)).toEqual([
      'cannot read /etc/headwater/cluster.kubeconfig: EACCES; make it readable for the user that Headwater runs as (65532 in its image)',
    ]);
  });

  test('says in one line that the bundle is missing', async () => {
    rmSync(join(directory, 'opt/headwater/dist'), { recursive: true });

    expect(await inside(['run']).ended).toMatchObject({
      code: 2,
      err: "headwater: neither the bundle nor its sources are in /opt/headwater: run 'npm run build' there, or take another image\n",
    });
  });
});
