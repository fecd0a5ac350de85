// Serves over TCP as soon as the port is free, for a process that does its work without that.
import { sleep } from '../runtime/clock.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';

/** Between two tries, in ms. */
const retryInterval = 30_000;

/** Resolves after `stop`. `onServing` is called once it listens; a refusal is a warning in the log. */
export async function serveWhenFree(
  options: HttpServerOptions,
  onServing: (address: HttpServer['address']) => void,
  stop: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  let said: string | undefined;
  while (!stop.aborted) {
    const started = await startHttpServer(options);
    if (started.kind === 'listening') {
      onServing(started.server.address);
      if (!stop.aborted)
        await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
      return started.server.close();
    }
    if (said !== started.problem) log.warn('not served over TCP until the address is free', started);
    said = started.problem;
    await sleep(clock, retryInterval, stop).catch(() => undefined);
  }
}
