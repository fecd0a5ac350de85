// A server behind a URL as a target of the script.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { WireAnswer, WireRequest } from './run-script.ts';

export interface HttpServer {
  readonly url: string;
  /** The certificate of the authority that signed the server's, as PEM. */
  readonly ca?: string;
}

/** Resolves with the head of the answer, and collects its body from then on. */
export function sendOverHttp(server: HttpServer, request: WireRequest): Promise<WireAnswer> {
  const send = server.url.startsWith('https:') ? httpsRequest : httpRequest;
  const length = request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) };
  const headers = { ...request.headers, ...length, 'user-agent': 'headwater-conformance' };
  const options = server.ca === undefined ? {} : { ca: server.ca };
  return new Promise((resolve, reject) => {
    const outgoing = send(
      server.url + request.path,
      { method: request.method, headers, agent: false, ...options },
      (incoming) => {
        const text = collected(incoming);
        resolve({ status: incoming.statusCode ?? 0, headers: flat(incoming), text: () => text });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(request.body);
  });
}

async function collected(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function flat(incoming: IncomingMessage): Readonly<Record<string, string>> {
  const entries = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
