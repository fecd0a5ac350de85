// Serves the model over plain HTTP on a loopback address. Only here do requests have bytes and connections.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { stringify } from 'yaml';
import type { Clock } from '../../runtime/clock.ts';
import { internalError } from './api-status.ts';
import type { KubernetesRequest, KubernetesResponse } from './exchange.ts';
import { ConnectionDropped } from './faults/faults.ts';
import type { KubernetesModel } from './kubernetes-model.ts';
import { refusal } from './serving/answers.ts';

export interface KubernetesServerOptions {
  readonly model: KubernetesModel;
  /** The clock for Date headers. */
  readonly clock: Clock;
  /** 0 uses any free port. */
  readonly port: number;
  /** 127.0.0.1 if omitted. */
  readonly host?: string;
}

export interface KubernetesServer {
  /** `http://127.0.0.1:8001`. */
  readonly url: string;
  /** Ends every connection and frees the port. */
  close(): Promise<void>;
}

/** Resolves once the server listens; rejects with an error that names the port if it cannot. */
export async function startKubernetesServer(options: KubernetesServerOptions): Promise<KubernetesServer> {
  const { port, host = '127.0.0.1' } = options;
  const server = createServer((incoming, outgoing) => {
    void serve(options, incoming, outgoing);
  });
  await listening(server, port, host);
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}`,
    close: () => closed(server),
  };
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is taken' : cause.message;
      reject(new Error(`cannot serve the Kubernetes API on ${host} port ${port}: ${why}`, { cause }));
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

async function serve(
  { model, clock }: KubernetesServerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  outgoing.setHeader('date', new Date(clock.wall()).toUTCString());
  try {
    await send(await model.handle(await requestOf(incoming), gone.signal), outgoing);
  } catch (error) {
    const lost = error instanceof ConnectionDropped || gone.signal.aborted || outgoing.headersSent;
    if (lost) outgoing.socket?.destroySoon();
    else await send(refusal(internalError(String(error))), outgoing);
  }
}

async function requestOf(incoming: IncomingMessage): Promise<KubernetesRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const { method = 'GET', url = '/' } = incoming;
  const request = { method, url, headers };
  return pieces.length === 0 ? request : { ...request, body: Buffer.concat(pieces).toString() };
}

async function send({ status, headers, body }: KubernetesResponse, outgoing: ServerResponse): Promise<void> {
  if (typeof body === 'string') {
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  for await (const piece of body) {
    if (!outgoing.write(piece)) await drained(outgoing);
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once('drain', resolve);
    outgoing.once('close', resolve);
  });
}

export interface KubeConfigOptions {
  readonly url: string;
  /** A bearer token; without one, requests are anonymous. */
  readonly token?: string;
}

/** A kubeconfig in YAML that kubectl and client libraries accept for a plain HTTP server. */
export function kubeConfigFor({ url, token }: KubeConfigOptions): string {
  const name = 'headwater';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
