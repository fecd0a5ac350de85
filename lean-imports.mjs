// An esbuild plugin that keeps out of memory what comes with an import and is never used.
import { createRequire } from 'node:module';
import { sep } from 'node:path';

const require = createRequire(import.meta.url);

// To import a module of Node.js is to read all that it exports, and that loads what is otherwise loaded once it is used: with
// node:http all of fetch and WebSocket, 14 MB. To require it is not.
const requiredInstead = /^(?:node:)?(http|process|util)$/;

// The parts that our own sources use of packages whose index loads much more. Importing anything else fails the build.
// The index of undici loads fetch, WebSocket, caches and mocks, 12 MB; that of prom-client loads a client of push
// gateways, with HTTPS, and registries of clusters and workers.
const usedOf = {
  undici: `
    import api from 'undici/lib/api/index.js';
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
    Object.assign(Dispatcher.prototype, api);
    export { default as Agent } from 'undici/lib/dispatcher/agent.js';
    export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
  `,
  'prom-client': `
    export { default as collectDefaultMetrics } from 'prom-client/lib/defaultMetrics.js';
    export { default as Counter } from 'prom-client/lib/counter.js';
    export { default as Gauge } from 'prom-client/lib/gauge.js';
    export { default as Histogram } from 'prom-client/lib/histogram.js';
    export { default as Registry } from 'prom-client/lib/registry.js';
  `,
};

// prom-client reads only the current span, for exemplars, which we do not have.
const openTelemetry = /^@opentelemetry\/api$/;

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
    // A module that is imported later gets its names from what its file exports, not from its importer.
    onLoad({ filter: requiredInstead, namespace: 'required later' }, ({ path }) => ({
      contents: `
        const all = require('${path}');
        export default all;
        export const { ${plainNames(path).join(', ')} } = all;
      `,
    }));
    onResolve({ filter: /^(?:undici|prom-client)$/ }, ({ path, importer }) =>
      importer.startsWith(src) ? { path, namespace: 'part' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'part' }, ({ path }) => ({
      contents: usedOf[path],
      resolveDir: src,
    }));
    onResolve({ filter: openTelemetry }, ({ path, importer }) =>
      importer.includes(`${sep}prom-client${sep}`) ? { path, namespace: 'nothing' } : undefined,
    );
    onLoad({ filter: openTelemetry, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** The names that a module exports. Getters are skipped: reading one would load more. */
function plainNames(path) {
  return Object.entries(Object.getOwnPropertyDescriptors(require(path)))
    .filter(([name, { get }]) => get === undefined && /^[A-Za-z_]\w*$/.test(name))
    .map(([name]) => name);
}
