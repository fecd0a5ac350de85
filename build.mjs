// Bundles the sources into dist/: one entry, one chunk for each thing loaded lazily (a cloud's SDK, the simulator).
import { build } from 'esbuild';
import { rm, writeFile } from 'node:fs/promises';
import { leanImports } from './lean-imports.mjs';
import { keepOwnLines } from './own-source-maps.mjs';

await rm('dist', { recursive: true, force: true });
const { metafile } = await build({
  metafile: true,
  entryPoints: { main: 'src/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  mainFields: ['module', 'main'],
  target: 'node24',
  // Node.js keeps the text of what it runs: without comments and indentation it is a third smaller, and names stay as they are.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  chunkNames: 'chunks/[name]-[hash]',
  // Packages that are CommonJS inside call require for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  plugins: [leanImports],
  logLevel: 'warning',
});
await keepOwnLines('dist');
// What the bundle is made of, for the notices and the bill of materials of the image.
await writeFile('dist/meta.json', JSON.stringify(metafile));
