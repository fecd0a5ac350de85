import type { BuildOptions } from 'esbuild';

export const bundleOptions: BuildOptions & { readonly metafile: true };
