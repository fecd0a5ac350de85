// Bundles the sources into dist/.
import { build } from 'esbuild';
import { rm, writeFile } from 'node:fs/promises';
import { bundleOptions } from './bundle-options.mjs';
import { keepOwnLines } from './own-source-maps.mjs';
import { bundlePage } from './page/bundle.mjs';

await rm('dist', { recursive: true, force: true });
const { metafile } = await build(bundleOptions);
await keepOwnLines('dist');
const { html, inputs } = await bundlePage();
await writeFile('dist/page.html', html);
// What the bundle is made of, for the notices and the bill of materials of the image.
const meta = { ...metafile, inputs: { ...metafile.inputs, ...inputs } };
await writeFile('dist/meta.json', JSON.stringify(meta));
