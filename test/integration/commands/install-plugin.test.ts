// What the init container of the agent runs, with directories in the place of those of a node.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const script = join(import.meta.dirname, '../../../image/install-plugin.sh');
let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'headwater-install-'));
  for (const name of ['bin', 'plugin', 'plugins', 'networks']) mkdirSync(join(place, name));
  copyFileSync(script, join(place, 'bin/install-plugin'));
  writeFileSync(join(place, 'plugin/headwater-ipam'), 'new', { mode: 0o555 });
  writeFileSync(join(place, 'conflist'), '{}', { mode: 0o444 });
});
afterEach(() => rmSync(place, { recursive: true }));

function install(...args: readonly string[]): void {
  execFileSync(join(place, 'bin/install-plugin'), args, { cwd: place });
}

const read = (path: string): string => readFileSync(join(place, path), 'utf8');
const modeOf = (path: string): number => statSync(join(place, path)).mode & 0o777;

describe('the installation of the plugin', () => {
  test('puts the plugin and the network onto the node, and nothing else', () => {
    install('plugins', 'conflist', 'networks/10-own.conflist');

    expect([read('plugins/headwater-ipam'), modeOf('plugins/headwater-ipam')]).toEqual(['new', 0o755]);
    expect([read('networks/10-own.conflist'), modeOf('networks/10-own.conflist')]).toEqual(['{}', 0o644]);
    expect([readdirSync(join(place, 'plugins')), readdirSync(join(place, 'networks'))]).toEqual([
      ['headwater-ipam'],
      ['10-own.conflist'],
    ]);
  });

  test('replaces files by others, whatever an earlier one left', () => {
    writeFileSync(join(place, 'plugins/headwater-ipam'), 'old, and running');
    writeFileSync(join(place, 'elsewhere'), 'kept');
    symlinkSync('../elsewhere', join(place, 'plugins/headwater-ipam.unfinished'));
    const before = statSync(join(place, 'plugins/headwater-ipam')).ino;

    install('plugins');

    expect(read('plugins/headwater-ipam')).toBe('new');
    expect(statSync(join(place, 'plugins/headwater-ipam')).ino).not.toBe(before);
    expect([read('elsewhere'), readdirSync(join(place, 'networks'))]).toEqual(['kept', []]);
  });
});
