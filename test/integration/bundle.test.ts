import { beforeAll, describe, expect, test } from '@jest/globals';
import { build, type Metafile } from 'esbuild';
import { bundleOptions } from '../../bundle-options.mjs';

/** The sources and packages of each cloud. */
const clouds: Readonly<Record<string, RegExp>> = {
  aws: /^src\/providers\/aws\/|^src\/controller\/clouds\/(connect-to-)?aws\.|node_modules\/@(aws-sdk|smithy)\//,
  azure: /^src\/providers\/azure\/|^src\/controller\/clouds\/(connect-to-)?azure\.|node_modules\/@azure\//,
};

let outputs: Metafile['outputs'];

beforeAll(async () => {
  const root = new URL('../../', import.meta.url).pathname;
  const { metafile } = await build({ ...bundleOptions, absWorkingDir: root, write: false });
  outputs = metafile.outputs;
});

function chunksWith(isMeant: (input: string) => boolean): readonly string[] {
  return Object.keys(outputs).filter((path) => Object.keys(outputs[path]?.inputs ?? {}).some(isMeant));
}

/** Clouds that this file of the bundle holds something of. */
function cloudsIn(path: string): readonly string[] {
  const inputs = Object.keys(outputs[path]?.inputs ?? {});
  return Object.keys(clouds).filter((cloud) => inputs.some((input) => clouds[cloud]?.test(input)));
}

/** What is loaded with a file of the bundle, itself included. */
function loadedWith(path: string, met: Set<string> = new Set()): ReadonlySet<string> {
  if (met.has(path)) return met;
  met.add(path);
  for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
    if (kind === 'import-statement') loadedWith(imported, met);
  }
  return met;
}

function cloudsLoadedWith(path: string): readonly string[] {
  return [...new Set([...loadedWith(path)].flatMap(cloudsIn))];
}

describe('the bundle', () => {
  test('holds a cloud only in chunks that are loaded once it is chosen', () => {
    const [controller = ''] = chunksWith((input) => input === 'src/controller/controller.ts');

    expect(cloudsLoadedWith(controller)).toEqual([]);
    expect(chunksWith((input) => clouds['aws']?.test(input) === true)).not.toEqual([]);
  });

  test('loads nothing of another cloud with a chunk of one', () => {
    const mixed = Object.keys(outputs)
      .map((path) => [path, cloudsLoadedWith(path)] as const)
      .filter(([, loaded]) => loaded.length > 1);

    expect(mixed).toEqual([]);
  });
});
