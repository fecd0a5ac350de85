// The packages of others that are part of the bundle, by what the bundler says it read.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX. */
  readonly license: string;
  /** The texts of its license and notice files, the license first. */
  readonly texts: readonly string[];
  /** Of its archive, as the lock file has it: `sha512-...`. */
  readonly integrity: string | undefined;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

/** Directories of packages under `node_modules`, of the inputs that esbuild lists. */
export function packageDirectories(inputs: readonly string[]): readonly string[] {
  const found = inputs.flatMap((input) => {
    const [directory] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    return directory === undefined ? [] : [directory];
  });
  return [...new Set(found)].toSorted();
}

/** Names that packages give where SPDX has another: https://spdx.org/licenses/ */
const spdxOf: ReadonlyMap<string, string> = new Map([['Apache License 2.0', 'Apache-2.0']]);

/** Of the checkout in `root`, whose bundle is built. */
export function bundledPackages(root: string): readonly BundledPackage[] {
  const { inputs } = jsonAt(join(root, 'dist/meta.json')) as { readonly inputs: Record<string, unknown> };
  const lock = jsonAt(join(root, 'package-lock.json')) as Lock;
  return packageDirectories(Object.keys(inputs)).map((directory) => {
    const place = join(root, directory);
    const { name, version, license } = jsonAt(join(place, 'package.json')) as Record<string, unknown>;
    if (typeof license !== 'string') throw new Error(`${directory} names no license by SPDX`);
    const integrity = lock.packages[directory]?.integrity;
    const spdx = spdxOf.get(license) ?? license;
    return {
      name: String(name),
      version: String(version),
      license: spdx,
      texts: licenseTexts(place),
      integrity,
    };
  });
}

function licenseTexts(place: string): readonly string[] {
  const names = readdirSync(place).filter((name) => /^(licen[cs]e|copying|notice)(\.|-|$)/i.test(name));
  return names.toSorted().map((name) => readFileSync(join(place, name), 'utf8').trim());
}

function jsonAt(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
