// How esbuild makes the bundle: one entry, one chunk for each thing loaded lazily (a cloud and its SDK, the simulator).
import { leanImports } from './lean-imports.mjs';

export const bundleOptions = {
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
};
