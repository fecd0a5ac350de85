// Health, readiness, metrics and status over HTTP. It only tells what it is given: it decides nothing, and no client,
// however slow or many, may hold up the rest of the process or its end.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../scheduling/clock.ts';
import { describeError } from './describe-error.ts';
import { formatListenAddress, type ListenAddress } from './listen-address.ts';
import type { Logger } from './logger.ts';

export type Verdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** What is wrong, in words. */
      readonly problem: string;
    };

export interface HttpServerOptions {
  readonly listenOn: ListenAddress;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the process makes progress. A process that does not is restarted. */
  readonly health: () => Verdict;
  /** Whether the process can do its work. */
  readonly ready: () => Verdict;
  /** What the process sees and does, as data that JSON can hold. */
  readonly status: () => unknown;
  readonly metrics: { readonly contentType: string; scrape(): Promise<string> };
  /** How long a client may take to send a request or to read an answer, in ms; 10 s if not given. */
  readonly clientTimeout?: number;
}

export type StartedHttpServer =
  | { readonly kind: 'listening'; readonly server: HttpServer }
  | {
      readonly kind: 'refused';
      /** What stood in the way, and what to do about it. */
      readonly problem: string;
    };

export interface HttpServer {
  /** Where it really listens. */
  readonly address: { readonly host: string; readonly port: number };
  /** Takes no further request; resolves within a second, whatever connections are open. May be called twice. */
  close(): Promise<void>;
}

/** How long requests under way are given to end when the server closes, in ms. */
const closingGrace = 500;

/** Listens, or says why it cannot. */
export function startHttpServer(options: HttpServerOptions): Promise<StartedHttpServer> {
  const { listenOn, clock, log, clientTimeout = 10_000 } = options;
  const routes = routesOf(options);
  const server = createServer(
    {
      requestTimeout: clientTimeout,
      headersTimeout: clientTimeout,
      connectionsCheckingInterval: Math.ceil(clientTimeout / 4),
    },
    (request, response) => void answer(routes, request, response),
  );
  server.setTimeout(clientTimeout); // of silence: the limits above say nothing of a client that does not read

  return new Promise((resolve) => {
    server.once('error', (error) => resolve({ kind: 'refused', problem: whyNotListening(listenOn, error) }));
    server.once('listening', () => {
      server.on('error', (error) => log.warn('cannot accept a connection', { error }));
      const { address: host, port } = server.address() as AddressInfo;
      const close = (): Promise<void> => closeServer(server, clock);
      resolve({ kind: 'listening', server: { address: { host, port }, close } });
    });
    server.listen(listenOn.port, listenOn.host);
  });
}

interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Route = () => Answer | Promise<Answer>;

function routesOf({ health, ready, status, metrics }: HttpServerOptions): ReadonlyMap<string, Route> {
  const livez: Route = () => verdictAnswer(health());
  return new Map<string, Route>([
    ['/healthz', livez],
    ['/v1/healthz', livez],
    ['/readyz', () => verdictAnswer(ready())],
    ['/metrics', async () => ({ code: 200, contentType: metrics.contentType, body: await metrics.scrape() })],
    [
      '/status',
      () => ({ code: 200, contentType: 'application/json', body: `${JSON.stringify(status(), null, 2)}\n` }),
    ],
  ]);
}

async function answer(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { code, contentType, body, headers } = await findAnswer(routes, request);
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body); // of an answer to HEAD Node.js sends the head alone
}

async function findAnswer(
  routes: ReadonlyMap<string, Route>,
  { url = '', method = '' }: IncomingMessage,
): Promise<Answer> {
  const route = routes.get(url.split('?', 1)[0] ?? '');
  if (route === undefined) return plain(404, `not found; there is ${[...routes.keys()].join(', ')}`);
  if (method !== 'GET' && method !== 'HEAD') {
    return { ...plain(405, 'only GET and HEAD are answered'), headers: { allow: 'GET, HEAD' } };
  }
  try {
    return await route();
  } catch (error) {
    return plain(500, describeError(error).message);
  }
}

function verdictAnswer(verdict: Verdict): Answer {
  return verdict.ok ? plain(200, 'ok') : plain(500, verdict.problem);
}

function plain(code: number, text: string): Answer {
  return { code, contentType: 'text/plain; charset=utf-8', body: text };
}

function whyNotListening(listenOn: ListenAddress, error: NodeJS.ErrnoException): string {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'the port is taken',
    EACCES: 'this process may not use the port',
    EADDRNOTAVAIL: 'this machine does not have the address',
    ENOTFOUND: 'the name cannot be resolved',
  };
  const reason = reasons[error.code ?? ''] ?? error.message;
  return `cannot listen on ${formatListenAddress(listenOn)}: ${reason}; set --serve-addr`;
}

function closeServer(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(closingGrace, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
  });
}
