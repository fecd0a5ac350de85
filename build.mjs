// Bundles the sources into dist/.
import { build } from 'esbuild';
import { rm, writeFile } from 'node:fs/promises';
import { bundleOptions } from './bundle-options.mjs';
import { keepOwnLines } from './own-source-maps.mjs';

await rm('dist', { recursive: true, force: true });
const { metafile } = await build(bundleOptions);
await keepOwnLines('dist');
// What the bundle is made of, for the notices and the bill of materials of the image.
await writeFile('dist/meta.json', JSON.stringify(metafile));
