// The page in the browser of the machine, as its user has it: served by our HTTP server, under the policy that it sends.
import { spawnSync } from 'node:child_process';
import { bundlePage } from '../../page/bundle.mjs';
import { type HttpServer, type ServedState, startHttpServer } from '../../src/observability/http-server.ts';
import { policyOf } from '../../src/observability/status-page.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { recordingLogger } from './recording-logger.ts';

/** Undefined where there is none. */
export function browserProgram(): string | undefined {
  const program = spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim();
  if (program !== '') return program;
  process.stdout.write(
    'not run: the page in a browser, because chromium is not on the PATH: apt-get install chromium\n',
  );
  return undefined;
}

/** Close it. */
export async function servePage(answers: Pick<ServedState, 'status' | 'node'>): Promise<HttpServer> {
  const { html } = await bundlePage();
  const started = await startHttpServer({
    listenOn: { host: '127.0.0.1', port: 0 },
    option: 'serve-addr',
    clock: systemClock,
    log: recordingLogger(),
    state: {
      health: () => ({ ok: true }),
      ready: () => ({ ok: true }),
      ...answers,
      page: { html, contentSecurityPolicy: policyOf(html) },
    },
    metrics: { contentType: 'text/plain', scrape: () => Promise.resolve('') },
  });
  if (started.kind === 'refused') throw new Error(started.problem);
  return started.server;
}
