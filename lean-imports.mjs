// An esbuild plugin that keeps out of memory what comes with an import and is never used.
import { createRequire } from 'node:module';
import { sep } from 'node:path';

const require = createRequire(import.meta.url);

// To import a module of Node.js is to read all that it exports, and that loads what is otherwise loaded once it is used: with
// node:http all of fetch and WebSocket, 14 MB. To require it is not.
const requiredInstead = /^(?:node:)?(http|process|util)$/;

// The index of undici loads fetch, WebSocket, caches and mocks, 12 MB. What our own sources use of it; an import of anything
// else is an error of the build.
const undici = /^undici$/;
const usedOfUndici = `
  import api from 'undici/lib/api/index.js';
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  Object.assign(Dispatcher.prototype, api);
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
`;

export const leanImports = {
  name: 'lean-imports',
  setup({ onResolve, onLoad, initialOptions }) {
    const src = `${initialOptions.absWorkingDir ?? process.cwd()}${sep}src${sep}`;
    onResolve({ filter: requiredInstead }, ({ path, namespace, kind }) =>
      namespace.startsWith('required')
        ? { path, external: true }
        : {
            path: `node:${requiredInstead.exec(path)[1]}`,
            namespace: kind === 'dynamic-import' ? 'required later' : 'required',
          },
    );
    onLoad({ filter: requiredInstead, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
    // What is imported later gets its names by what the file exports, not by who imports it.
    onLoad({ filter: requiredInstead, namespace: 'required later' }, ({ path }) => ({
      contents: `
        const all = require('${path}');
        export default all;
        export const { ${plainNames(path).join(', ')} } = all;
      `,
    }));
    onResolve({ filter: undici }, ({ path, importer }) =>
      importer.startsWith(src) ? { path, namespace: 'part' } : undefined,
    );
    onLoad({ filter: undici, namespace: 'part' }, () => ({
      contents: usedOfUndici,
      resolveDir: src,
    }));
  },
};

/** What a module exports without loading it first. */
function plainNames(path) {
  return Object.entries(Object.getOwnPropertyDescriptors(require(path)))
    .filter(([name, { get }]) => get === undefined && /^[A-Za-z_]\w*$/.test(name))
    .map(([name]) => name);
}
