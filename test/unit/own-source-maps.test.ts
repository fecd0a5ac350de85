import { SourceMap } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { type RawSourceMap, withOwnLines } from '../../own-source-maps.mjs';

const files: Readonly<Record<string, string>> = {
  '/src/main.ts':
    "import { near } from '/src/near.ts';\nimport { far } from '/node_modules/far.js';\n\nexport function start(): number {\n  return far() + near(-1);\n}\n",
  '/src/near.ts': 'export function near(by: number): number {\n  return by * 2;\n}\n',
  '/node_modules/far.js': 'export function far() {\n  return 1;\n}\n',
};

/** A bundle of these files, with packages and our own files in turn, and its map. */
async function bundled(): Promise<{ code: string; map: RawSourceMap }> {
  const { outputFiles } = await build({
    entryPoints: ['/src/main.ts'],
    outfile: '/dist/main.js',
    bundle: true,
    write: false,
    // All on one line: the mapping of a package must end one of ours.
    minifyWhitespace: true,
    format: 'esm',
    sourcemap: true,
    plugins: [
      {
        name: 'files',
        setup: (it) => {
          it.onResolve({ filter: /.*/ }, ({ path }) => ({ path }));
          it.onLoad({ filter: /.*/ }, ({ path }) => ({ contents: files[path] ?? '', loader: 'ts' }));
        },
      },
    ],
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { code: textOf('.js'), map: JSON.parse(textOf('.map')) as RawSourceMap };
}

/** The origin of each character of the bundle: `source:line:column`, undefined without a mapping. */
function originsOf(code: string, map: RawSourceMap): readonly (string | undefined)[] {
  const read = new SourceMap(map as ConstructorParameters<typeof SourceMap>[0]);
  return code.split('\n').flatMap((text, line) =>
    Array.from({ length: text.length }, (_, column) => {
      const entry = read.findEntry(line, column);
      return 'originalSource' in entry && entry.originalSource !== undefined
        ? `${entry.originalSource}:${entry.originalLine}:${entry.originalColumn}`
        : undefined;
    }),
  );
}

describe('withOwnLines', () => {
  test('leads from the bundle to our own files as before, and to no package', async () => {
    const { code, map } = await bundled();
    const isForeign = (origin: string | undefined): boolean => origin?.includes('node_modules') === true;

    const before = originsOf(code, map);
    const after = originsOf(code, withOwnLines(map));

    expect(before.some(isForeign)).toBe(true);
    expect(before.some((origin) => origin?.includes('near.ts'))).toBe(true);
    expect(after).toEqual(before.map((origin) => (isForeign(origin) ? undefined : origin)));
  });

  test('makes a map of packages only empty', async () => {
    const { map } = await bundled();
    const ofPackages = { ...map, sources: map.sources.map((source) => `node_modules/${source}`) };

    expect(withOwnLines(ofPackages).mappings).toBe('');
  });
});
