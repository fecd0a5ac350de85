// Runs the commands of docs/without-cilium.md as they are written, in a machine of its own: a network and file systems that
// end with the test.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf, commandsIn } from '../support/documented-commands.ts';
import { cniPrograms } from './rig/cni-programs.ts';
import { cniPath, type Ran, run } from './rig/node-machine.ts';

const root = join(import.meta.dirname, '../..');
/** Whatever runs in it ends with its first process. */
const machine = ['--mount', '--net', '--propagation=private', '--pid', '--fork', '--mount-proc'];

/** Places that the commands write to. */
const places = [
  '/etc/cni',
  '/usr/lib/cni',
  '/usr/local/bin',
  '/var/run/headwater',
  '/var/lib/headwater',
  '/run/netns',
];

const [prepared = '', onePod = '', twoNodes = '', routed = '', ended = '', ...others] = blocksOf(
  'docs/without-cilium.md',
)
  .filter(({ language, text }) => language === 'sh' && !text.startsWith('helm '))
  .map(({ text }) => text);

/** The last commands of the first recipe, as its last paragraph names them. */
const [, ending = ''] =
  /^.*To end: `(.*)`\.$/m.exec(readFileSync(join(root, 'docs/without-cilium.md'), 'utf8')) ?? [];

let directory: string;
let made: readonly string[];

async function addProgram(name: string, text: string): Promise<void> {
  await writeFile(join(directory, name), `#!/bin/sh\n${text}\n`);
  await chmod(join(directory, name), 0o755);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-documented-'));
  made = places.filter((place) => !existsSync(place));
  // The test is root already.
  await addProgram('sudo', 'exec env "$@"');
  // What registries bring is there already.
  await addProgram('npm', 'echo "npm $*"');
  await addProgram('go', `named=\${2##*/}; cp -L "${cniPath}/\${named%@*}" "$GOBIN"`);
});

afterAll(async () => {
  await rm(directory, { recursive: true });
  for (const place of made) await rmdir(place);
});

/** Runs commands one after the other, where the machine has nothing but what the preparations bring. */
async function inMachine(...commands: readonly string[]): Promise<Ran> {
  const lines = [
    'set -eu',
    ...places.map((place) => `mkdir -p ${place} && mount -t tmpfs none ${place}`),
    'ip link set lo up',
    `ln -s ${root}/* . && rm plugin && cp -r ${root}/plugin .`,
    ...commands,
    'wait',
  ];
  const file = join(directory, 'script');
  await writeFile(file, lines.join('\n'));
  const checkout = await mkdtemp(join(directory, 'checkout-'));
  const script = `cd ${checkout} && . ${file}`;
  const words = [...machine, 'bash', '--norc', '-c', script];
  return run('unshare', words, { PATH: `${directory}:/usr/local/bin:${process.env['PATH'] ?? ''}` });
}

describe('the commands of the page about pods without Cilium', () => {
  test('are all run here', () => {
    expect(others).toEqual([]);
  });

  test('prepare with the versions that are tested', () => {
    const commands = commandsIn(prepared);
    const needed = cniPrograms.filter(({ name }) => name === 'cnitool' || name === 'ptp');

    expect(commands).toContainEqual(['npm', 'run', 'build:plugin']);
    for (const { package: path, version } of needed)
      expect(commands).toContainEqual(['GOBIN=$PWD/plugin/dist', 'go', 'install', `${path}@${version}`]);
  });

  test('give a pod an address, reach its gateway, and leave nothing', async () => {
    expect(onePod.split('\n')).toHaveLength(10);

    const { code, out, err } = await inMachine(prepared, onePod, ending);

    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    expect(ending).toContain('rm /etc/cni/net.d/pods.conflist');
    expect(out).toContain('npm run build:plugin\n');
    expect(out).toContain('"address": "10.99.1.');
    expect(out).toContain('1 received');
    expect(out).toMatch(/"addresses":\{\},"excluded":\{"10\.99\.1\.1":"router"\}/);
  });

  test('connect the pods of two nodes, and leave nothing', async () => {
    const { code, out, err } = await inMachine(prepared, twoNodes, routed, ended);

    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('"address": "10.44.0.');
    expect(out).toContain('"address": "10.44.1.');
    expect(out).toContain('1 received');
    expect(out.match(/"addresses":\{\}/g)).toHaveLength(2);
  });
});
