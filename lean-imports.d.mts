// What TypeScript cannot tell from lean-imports.mjs.
import type { Plugin } from 'esbuild';

export const leanImports: Plugin;
