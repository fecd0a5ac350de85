import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfigDirectory } from '../../../src/config/config-directory.ts';
import { thisProcess } from '../../../src/config/process-environment.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headwater-config-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Writes files as the kubelet does: in a directory named after a time, with ..data linked to it, and a link for each key. */
function mountConfigMap(data: Readonly<Record<string, string>>): void {
  mkdirSync(join(directory, '..2026_01_01_00_00_00.123'));
  symlinkSync('..2026_01_01_00_00_00.123', join(directory, '..data'));
  for (const [key, value] of Object.entries(data)) {
    writeFileSync(join(directory, '..data', key), value);
    symlinkSync(join('..data', key), join(directory, key));
  }
}

describe('readConfigDirectory', () => {
  test('reads a mounted ConfigMap: our options, trimmed, and nothing else', () => {
    mountConfigMap({
      'cluster-name': 'prod\n',
      'eni-tags': '{"team":"net"}',
      'subnet-ids-filter': '  subnet-0123abcd subnet-4567abcd ',
      'bpf-map-dynamic-size-ratio': '0.0025',
      'operator-prometheus-serve-addr': ':9963',
      'serve-addr': ':1',
      'k8s-namespace': 'elsewhere',
      'leader-election-lease-name': 'theirs',
      'config-dir': '/elsewhere',
    });

    const { files, failures } = readConfigDirectory(directory, thisProcess);

    expect(failures).toEqual([]);
    expect(Object.fromEntries(files)).toEqual({
      'cluster-name': { path: `${directory}/cluster-name`, text: 'prod' },
      'eni-tags': { path: `${directory}/eni-tags`, text: '{"team":"net"}' },
      'subnet-ids-filter': {
        path: `${directory}/subnet-ids-filter`,
        text: 'subnet-0123abcd subnet-4567abcd',
      },
    });
  });

  test('never opens a file of other programs', () => {
    mkdirSync(join(directory, 'cluster-id'));
    symlinkSync('nowhere', join(directory, 'identity-allocation-mode'));
    writeFileSync(join(directory, '.ipam'), 'cluster-pool');

    const read = readConfigDirectory(`${directory}/`, thisProcess);

    expect(read).toMatchObject({ files: new Map(), failures: [] });
  });

  test('names what cannot be read', () => {
    mkdirSync(join(directory, 'ipam'));
    symlinkSync('nowhere', join(directory, 'debug'));
    writeFileSync(join(directory, 'cluster-name'), 'prod');

    const { files, failures } = readConfigDirectory(directory, thisProcess);

    expect([...files.keys()]).toEqual(['cluster-name']);
    expect(failures).toEqual([
      { name: 'ipam', path: `${directory}/ipam`, because: 'it is a directory' },
      { name: 'debug', path: `${directory}/debug`, because: 'it does not exist' },
    ]);
  });

  test.each([
    ['missing', 'it does not exist'],
    ['file', 'it is not a directory'],
  ])('refuses a directory that is %s', (name, because) => {
    writeFileSync(join(directory, 'file'), '');
    const path = join(directory, name);

    const { failures } = readConfigDirectory(path, thisProcess);

    expect(failures).toEqual([{ name: undefined, path, because }]);
  });

  test.each([
    [Object.assign(new Error('no'), { code: 'EACCES' }), 'this process may not read it'],
    [Object.assign(new Error('no'), { code: 'EIO' }), 'reading it failed (EIO)'],
    [new Error('no'), 'reading it failed (Error: no)'],
  ])('names a failure of the system: %s', (error, because) => {
    const readDirectory = (): never => {
      throw error;
    };

    const { failures } = readConfigDirectory('/etc/x', { ...thisProcess, readDirectory });

    expect(failures).toEqual([{ name: undefined, path: '/etc/x', because }]);
  });
});
