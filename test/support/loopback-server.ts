// A small HTTP or HTTPS server on a free port of this machine that counts its connections.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from '../../src/simulator/certificates.ts';

export interface LoopbackServer {
  readonly url: string;
  /** Opened since the start. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function loopbackServer(
  answer: Answer,
  tls?: Certificate & { ca?: string },
): Promise<LoopbackServer> {
  const listener: RequestListener = answer;
  const clientCertificates =
    tls?.ca === undefined ? {} : { ca: tls.ca, requestCert: true, rejectUnauthorized: true };
  const server: Server =
    tls === undefined ? createServer(listener) : createTlsServer({ ...tls, ...clientCertificates }, listener);
  let connections = 0;
  server.on(tls === undefined ? 'connection' : 'secureConnection', (_socket: Socket) => connections++);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
