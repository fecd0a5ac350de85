// The HTTP front of every model: reads whole requests from a socket and writes outcomes, lost and broken ones included.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { BrokenForm } from './cloud/exchange.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body is cut off after this many bytes. */
  readonly cutAt?: number;
}

export type HttpOutcome = HttpAnswer | { readonly kind: 'drop' } | { readonly kind: 'hang' };

export interface HttpFrontOptions {
  /** Answers one request. A rejection is a bug of the model and ends the process. */
  readonly answer: (request: HttpRequest) => Promise<HttpOutcome>;
  /** 0 uses any free port. */
  readonly port: number;
  /** The loopback address by default. */
  readonly host?: string;
  /** Serves HTTPS with this certificate. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface HttpFront {
  readonly url: string;
  /** Ends every connection; resolves once the port is free. */
  close(): Promise<void>;
}

/** Longer than clients keep idle connections, so no connection closes during a request. */
const keepAliveMs = 75_000;

/** No request to a cloud is larger. */
const maxBodyBytes = 1_000_000;

/** Rejects with an error that names the port if it is in use. */
export async function startHttpFront(options: HttpFrontOptions): Promise<HttpFront> {
  const { answer, port, host = '127.0.0.1', tls } = options;
  const timeouts = { keepAliveTimeout: keepAliveMs, headersTimeout: keepAliveMs + 5000 };
  const server = tls === undefined ? createServer(timeouts) : createSecureServer({ ...timeouts, ...tls });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response, answer);
  });
  await listening(server, port, host);
  const { port: chosen } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${shown}:${chosen}`,
    close: () => closed(server),
  };
}

/** The answer with one of the ways in which a body arrives broken. */
export function broken(whole: HttpAnswer, form: BrokenForm): HttpAnswer {
  switch (form) {
    case 'empty':
      return { ...whole, body: '' };
    case 'truncated':
      return { ...whole, cutAt: Math.floor(whole.body.length / 2) };
    case 'html502':
      return {
        kind: 'answer',
        status: 502,
        headers: { 'content-type': 'text/html' },
        body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>',
      };
  }
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  answer: HttpFrontOptions['answer'],
): Promise<void> {
  const body = await read(message);
  if (body === undefined) {
    response.destroy();
    return;
  }
  const { method = 'GET', url = '/' } = message;
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : value,
    ]),
  );
  try {
    send(await answer({ method, url, headers, body }), response);
  } catch (bug) {
    response.writeHead(500).end();
    throw bug;
  }
}

/** The whole body; undefined if the client disconnects or sends too much. */
function read(message: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    message.on('data', (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > maxBodyBytes) resolve(undefined);
    });
    message.once('end', () => resolve(Buffer.concat(pieces).toString()));
    message.once('close', () => resolve(undefined));
    message.once('error', () => resolve(undefined));
  });
}

function send(outcome: HttpOutcome, response: ServerResponse): void {
  if (outcome.kind === 'hang') return;
  if (outcome.kind === 'drop') {
    response.destroy();
    return;
  }
  const body = Buffer.from(outcome.body);
  // A status without a body has no length either.
  const length = outcome.status === 204 ? {} : { 'content-length': body.length };
  response.writeHead(outcome.status, { ...outcome.headers, ...length });
  if (outcome.cutAt === undefined) response.end(body);
  else response.write(body.subarray(0, outcome.cutAt), () => response.destroy());
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? new Error(`port ${port} of ${host} is taken`, { cause: error }) : error);
    });
    server.listen(port, host, resolve);
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
