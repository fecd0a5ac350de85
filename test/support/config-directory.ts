// A real directory of options that changes as the kubelet changes a mounted ConfigMap.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface MountedConfig {
  readonly path: string;
  /** Writes a new directory with these files, swaps ..data over to it atomically, and then links each key. */
  readonly mount: (data: Readonly<Record<string, string>>) => void;
  readonly remove: () => void;
}

export function mountedConfig(): MountedConfig {
  const path = mkdtempSync(join(tmpdir(), 'headwater-config-'));
  let versions = 0;
  return {
    path,
    mount: (data) => {
      const version = `..version-${versions++}`;
      mkdirSync(join(path, version));
      for (const [key, value] of Object.entries(data)) writeFileSync(join(path, version, key), value);
      symlinkSync(version, join(path, '..new'));
      renameSync(join(path, '..new'), join(path, '..data'));
      const links = readdirSync(path).filter((name) => !name.startsWith('..'));
      for (const key of links) if (!(key in data)) rmSync(join(path, key));
      for (const key of Object.keys(data))
        if (!links.includes(key)) symlinkSync(join('..data', key), join(path, key));
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
