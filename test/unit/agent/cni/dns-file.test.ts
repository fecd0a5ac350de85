import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDnsFile } from '../../../../src/agent/cni/dns-file.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'headwater-dns-'));
  for (const name of ['etc', 'run', 'etc2']) mkdirSync(join(root, name));
});

afterEach(() => rmSync(root, { recursive: true }));

const read = (path: string): Promise<string> =>
  readDnsFile(join(root, path), [join(root, 'etc'), join(root, 'run'), join(root, 'absent')]);

describe('the file of DNS settings', () => {
  test('is read through a link into another directory that is allowed', async () => {
    writeFileSync(join(root, 'run/stub'), 'nameserver 10.0.0.1\n');
    symlinkSync('../run/stub', join(root, 'etc/resolv.conf'));

    expect(await read('etc/resolv.conf')).toBe('nameserver 10.0.0.1\n');
  });

  test.each<[string, (path: string) => void, string]>([
    ['a pipe', (path) => void spawnSync('mkfifo', [path]), 'is no regular file'],
    ['a device', (path) => symlinkSync('/dev/zero', path), 'is /dev/zero, and accepted are files below'],
    ['a directory', (path) => mkdirSync(path), 'is no regular file'],
    ['a long file', (path) => writeFileSync(path, 'x'.repeat(65_537)), 'has more than 65536 bytes'],
    ['a link out of them', (path) => symlinkSync('/etc/hostname', path), '--resolv-conf-directories'],
    ['a file that is not there', () => undefined, 'no such file'],
  ])('is refused if it is %s', async (_, make, why) => {
    make(join(root, 'etc/resolv.conf'));

    await expect(read('etc/resolv.conf')).rejects.toThrow(why);
  });

  test('is refused in a directory whose name begins like one that is allowed', async () => {
    writeFileSync(join(root, 'etc2/resolv.conf'), '');

    await expect(read('etc2/resolv.conf')).rejects.toThrow('accepted are files below');
  });

  test('may have 64 KiB', async () => {
    writeFileSync(join(root, 'etc/resolv.conf'), 'x'.repeat(65_536));

    expect(await read('etc/resolv.conf')).toHaveLength(65_536);
  });
});
