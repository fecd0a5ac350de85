// Serves health, readiness, metrics and status over HTTP. It reports what it is given and decides nothing. No client,
// slow or numerous, may delay the rest of the process or its shutdown.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../runtime/clock.ts';
import { ClientConnections } from './client-connections.ts';
import { describeError } from './describe-error.ts';
import { formatListenAddress, type ListenAddress } from './listen-address.ts';
import type { Logger } from './logger.ts';
import { SharedRendering } from './shared-rendering.ts';
import type { StatusPage } from './status-page.ts';

export type ProbeResult =
  | {
      readonly ok: true;
      /** Words beside `ok`, on a line of their own. */
      readonly note?: string | undefined;
    }
  | {
      readonly ok: false;
      /** The fault, in words. */
      readonly problem: string;
    };

export interface HttpServerOptions {
  readonly listenOn: ListenAddress;
  /** The option that sets `listenOn`, for the remedy. */
  readonly option: 'serve-addr' | 'prometheus-serve-addr' | 'agent-health-port';
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined: metrics alone are served. */
  readonly state: Probed | Reported | ServedState | undefined;
  readonly metrics: { readonly contentType: string; scrape(): Promise<string> };
  /** Time limit for a client to send a request or read an answer, in ms. Default: 10 s. */
  readonly clientTimeout?: number;
}

/** The answers of a process to probes. */
export interface Probed {
  /** Whether the process makes progress. A process without progress is restarted. */
  readonly health: () => ProbeResult;
  /** Whether the process can do its work. */
  readonly ready: () => ProbeResult;
}

/** The answers of a process about itself, beside its metrics. */
export interface Reported extends Probed {
  /** The state of the process, as JSON data. `withNodes`: with the name of every node, where it knows nodes. */
  readonly status: (withNodes: boolean) => unknown;
}

/** The answers of a process that knows nodes. */
export interface ServedState extends Reported {
  /** The status of one node, known or not. */
  readonly node: (name: string) => { readonly known: boolean };
  /** The page that browsers get at `/`; undefined: none. */
  readonly page: StatusPage | undefined;
}

export type StartedHttpServer =
  | { readonly kind: 'listening'; readonly server: HttpServer }
  | {
      readonly kind: 'refused';
      /** The problem that prevented the start, and the remedy. */
      readonly problem: string;
    };

export interface HttpServer {
  /** The actual listen address. */
  readonly address: { readonly host: string; readonly port: number };
  /** Accepts no more requests; resolves within a second, whatever connections are open. Idempotent. */
  close(): Promise<void>;
}

/** How long requests in flight may take after `close`, in ms. */
const closingGrace = 500;

/** Listens, or says why it cannot. */
export function startHttpServer(options: HttpServerOptions): Promise<StartedHttpServer> {
  const { listenOn, option, clock, log, clientTimeout = 10_000 } = options;
  const routes = routesOf(options);
  const server = createServer({
    requestTimeout: clientTimeout,
    headersTimeout: clientTimeout,
    connectionsCheckingInterval: Math.ceil(clientTimeout / 4),
  });
  const connections = new ClientConnections(server);
  server.on('request', (request, response) => {
    connections.inTurn(request, response, () => void answer(routes, request, response));
  });
  server.setTimeout(clientTimeout); // of silence: the limits above do not cover a client that stops reading

  return new Promise((resolve) => {
    server.once('error', (error) =>
      resolve({ kind: 'refused', problem: `${whyNotListening(listenOn, error)}; set --${option}` }),
    );
    server.once('listening', () => {
      server.on('error', (error) => log.warn('cannot accept a connection', { error }));
      const { address: host, port } = server.address() as AddressInfo;
      const close = (): Promise<void> => closeServer(server, clock, closingGrace);
      resolve({ kind: 'listening', server: { address: { host, port }, close } });
    });
    server.listen(listenOn.port, listenOn.host);
  });
}

interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: string;
  /** The body, for clients that accept it. */
  readonly gzipped?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

type Route = (query: URLSearchParams) => Answer | Promise<Answer>;

function routesOf({ state, metrics, clock }: HttpServerOptions): ReadonlyMap<string, Route> {
  const { contentType } = metrics;
  const scrape = new SharedRendering(clock, async () => ({
    code: 200,
    contentType,
    body: await metrics.scrape(),
  }));
  return new Map<string, Route>([
    ['/metrics', () => scrape.read()],
    ...(state === undefined ? [] : stateRoutes(state, clock)),
  ]);
}

function stateRoutes(
  state: NonNullable<HttpServerOptions['state']>,
  clock: Clock,
): readonly (readonly [string, Route])[] {
  const livez: Route = () => probeAnswer(state.health());
  return [
    ['/healthz', livez],
    ['/v1/healthz', livez],
    ['/readyz', () => probeAnswer(state.ready())],
    ...('status' in state ? statusRoutes(state, clock) : []),
  ];
}

function statusRoutes(state: Reported | ServedState, clock: Clock): readonly (readonly [string, Route])[] {
  const whole = new SharedRendering(clock, () => jsonAnswer(200, state.status(false)));
  if (!('node' in state)) return [['/status', () => whole.read()]];
  const { node, page } = state;
  const withNodes = new SharedRendering(clock, () => compressed(jsonAnswer(200, state.status(true))));
  return [
    ...(page === undefined ? [] : [['/', () => pageAnswer(page)] as const]),
    [
      '/status',
      (query) => {
        const name = query.get('node');
        if (name === null) return query.has('nodes') ? withNodes.read() : whole.read();
        const answer = node(name);
        return jsonAnswer(answer.known ? 200 : 404, answer);
      },
    ],
  ];
}

async function answer(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { code, contentType, body: text, gzipped, headers } = await findAnswer(routes, request);
  const isGzipped = gzipped !== undefined && /\bgzip\b/.test(String(request.headers['accept-encoding']));
  const body = isGzipped ? gzipped : text;
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...(isGzipped && { 'content-encoding': 'gzip' }),
    ...headers,
  });
  response.end(body); // for HEAD, Node.js sends the head only
}

async function findAnswer(
  routes: ReadonlyMap<string, Route>,
  { url = '', method = '' }: IncomingMessage,
): Promise<Answer> {
  const [path = '', query = ''] = url.split('?', 2);
  const route = routes.get(path);
  if (route === undefined) return plain(404, `not found; there is ${[...routes.keys()].join(', ')}`);
  if (method !== 'GET' && method !== 'HEAD') {
    return { ...plain(405, 'only GET and HEAD are answered'), headers: { allow: 'GET, HEAD' } };
  }
  try {
    return await route(new URLSearchParams(query));
  } catch (error) {
    return plain(500, describeError(error).message);
  }
}

function pageAnswer({ html, contentSecurityPolicy }: StatusPage): Answer {
  return {
    code: 200,
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers: {
      'content-security-policy': contentSecurityPolicy,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  };
}

function jsonAnswer(code: number, value: unknown): Answer {
  return { code, contentType: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` };
}

const compress = promisify(gzip);

/** Names of nodes shrink to a tenth even at the fastest level, in a thread of its own. */
async function compressed(answer: Answer): Promise<Answer> {
  return { ...answer, gzipped: await compress(answer.body, { level: 1 }) };
}

function probeAnswer(result: ProbeResult): Answer {
  if (!result.ok) return plain(500, result.problem);
  return plain(200, result.note === undefined ? 'ok' : `ok\n${result.note}\n`);
}

function plain(code: number, text: string): Answer {
  return { code, contentType: 'text/plain; charset=utf-8', body: text };
}

function whyNotListening(listenOn: ListenAddress, error: NodeJS.ErrnoException): string {
  const reasons: ReadonlyMap<string | undefined, string> = new Map([
    ['EADDRINUSE', 'the port is taken'],
    ['EACCES', 'this process may not use the port'],
    ['EADDRNOTAVAIL', 'this machine does not have the address'],
    ['ENOTFOUND', 'the name cannot be resolved'],
  ]);
  const reason = reasons.get(error.code) ?? error.message;
  return `cannot listen on ${formatListenAddress(listenOn)}: ${reason}`;
}

/** Accepts no more requests; resolves once those in flight are answered, or cut off after `grace`, in ms. */
export function closeServer(server: Server, clock: Clock, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(grace, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
  });
}
