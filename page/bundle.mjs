// Makes the page one file, with its script and its style in it: a browser needs no second request, and no other server.
import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';

/** The commands read over sockets of Node.js; the page takes only their words. */
const withoutNode = {
  name: 'without-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node', sideEffects: false }));
    onLoad({ filter: /.*/, namespace: 'node' }, () => ({ contents: 'module.exports = {}', loader: 'js' }));
  },
};

/** The whole page, and what it is made of. */
export async function bundlePage() {
  const at = (name) => new URL(name, import.meta.url);
  const { outputFiles, metafile } = await build({
    entryPoints: [at('page.ts').pathname],
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
    write: false,
    plugins: [withoutNode],
    logLevel: 'warning',
  });
  const [frame, style] = await Promise.all(
    ['page.html', 'page.css'].map((name) => readFile(at(name), 'utf8')),
  );
  // The end of a script would end it, wherever it stands.
  const script = outputFiles[0].text.replaceAll('</script', '<\\/script');
  const html = frame
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script></script>', () => `<script>${script}</script>`);
  return { html, inputs: metafile.inputs };
}
