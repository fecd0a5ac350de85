// Runs the commands of docs/without-cilium.md as they are written, in a machine of its own: a network and file systems that
// end with the test.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../support/documented-commands.ts';
import { cniPath, run } from './rig/node-machine.ts';

const root = join(import.meta.dirname, '../..');
/** Places that the commands write to. */
const places = ['/etc/cni', '/usr/lib/cni', '/var/run/headwater', '/var/lib/headwater', '/run/netns'];

let directory: string;
let made: readonly string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-documented-'));
  made = places.filter((place) => !existsSync(place));
  // The test is root already.
  await writeFile(join(directory, 'sudo'), '#!/bin/sh\nexec env "$@"\n');
  await chmod(join(directory, 'sudo'), 0o755);
});

afterAll(async () => {
  await rm(directory, { recursive: true });
  for (const place of made) await rmdir(place);
});

function script(commands: string): string {
  return [
    'set -eu',
    ...places.map((place) => `mkdir -p ${place} && mount -t tmpfs none ${place}`),
    'ip link set lo up',
    `cp -L ${cniPath}/ptp /usr/lib/cni/`,
    commands,
    'kill %1',
    'wait',
  ].join('\n');
}

describe('the commands of the page about pods without Cilium', () => {
  test('give a pod an address, reach its gateway, and leave nothing', async () => {
    const [block] = blocksOf('docs/without-cilium.md').filter(({ language }) => language === 'sh');
    const lines = block?.text ?? '';
    expect(lines.split('\n')).toHaveLength(10);
    const file = join(directory, 'script');
    await writeFile(file, script(lines));
    const environment = { PATH: `${directory}:${cniPath}:${process.env['PATH'] ?? ''}` };

    const words = ['--mount', '--net', '--propagation=private', 'bash', '-c', `cd ${root} && . ${file}`];
    const { code, out, err } = await run('unshare', words, environment);

    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('"address": "10.99.1.');
    expect(out).toContain('1 received');
    expect(out).toMatch(/"addresses":\{\},"excluded":\{"10\.99\.1\.1":"router"\}/);
  });
});
