import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { leanImports } from '../../lean-imports.mjs';

const src = join(import.meta.dirname, '../../src');

/** The output of a bundle of this source. */
async function printedBy(source: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'headwater-lean-'));
  try {
    await build({
      stdin: { contents: source, sourcefile: join(src, 'main.ts'), resolveDir: src, loader: 'ts' },
      outdir: directory,
      outExtension: { '.js': '.mjs' },
      splitting: true,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      plugins: [leanImports],
      logLevel: 'silent',
    });
    return (await promisify(execFile)(process.execPath, [join(directory, 'stdin.mjs')])).stdout;
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe('leanImports', () => {
  test('skips what imports would load without use, and loads what is used', async () => {
    const printed = await printedBy(`
      import { createServer } from 'node:http';
      import { Agent, ProxyAgent } from 'undici';
      const server = createServer((_, response) => response.end('served'));
      server.listen(0, '127.0.0.1', async () => {
        const agent = new Agent();
        const { body } = await agent.request({ origin: 'http://127.0.0.1:' + server.address().port, path: '/', method: 'GET' });
        console.log(await body.text(), typeof ProxyAgent);
        await agent.close();
        server.close();
        console.log(process.moduleLoadList.filter((name) => name.includes('internal/deps/undici')));
      });
    `);

    expect(printed).toBe('served function\n[]\n');
  });

  test('gives later imports their names', async () => {
    const printed = await printedBy(`
      const { default: all, request } = await import('node:http');
      const { inspect } = await import('util');
      console.log(typeof request, request === all.request, typeof inspect);
      console.log(process.moduleLoadList.filter((name) => name.includes('internal/deps/undici')));
    `);

    expect(printed).toBe('function true function\n[]\n');
  });

  test('skips gateways and traces of prom-client, and measures the process without them', async () => {
    const printed = await printedBy(`
      import { collectDefaultMetrics, Counter, Registry } from 'prom-client';
      const register = new Registry();
      collectDefaultMetrics({ register });
      new Counter({ name: 'one', help: 'One.', registers: [register] }).inc();
      const lines = (await register.metrics()).split('\\n');
      console.log(['one 1', 'process_cpu_seconds_total'].map((start) => lines.some((line) => line.startsWith(start))));
      console.log(process.moduleLoadList.filter((name) => /NativeModule (https|cluster|zlib)$/.test(name)));
      process.exit();
    `);

    expect(printed).toBe('[ true, true ]\n[]\n');
  });

  test.each([
    ['undici', 'MockAgent'],
    ['prom-client', 'Pushgateway'],
  ])('does not build with a part of %s that it skips', async (name, part) => {
    await expect(printedBy(`import { ${part} } from '${name}'; console.log(${part});`)).rejects.toThrow(
      `No matching export in "part:${name}" for import "${part}"`,
    );
  });
});
