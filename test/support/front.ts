// A forwarding server, over TLS if it has a certificate, that records the request headers.
import { type IncomingHttpHeaders, request } from 'node:http';
import type { Certificate } from '../../src/simulator/certificates.ts';
import { loopbackServer } from './loopback-server.ts';

export interface Front {
  readonly url: string;
  readonly seen: readonly IncomingHttpHeaders[];
  readonly close: () => Promise<void>;
}

export async function startFront(target: string, tls?: Certificate): Promise<Front> {
  const seen: IncomingHttpHeaders[] = [];
  const { url, close } = await loopbackServer((message, response) => {
    const { method, headers, url: path = '/' } = message;
    seen.push(headers);
    const onwards = request(new URL(path, target), { method, headers }, (back) => {
      response.writeHead(back.statusCode ?? 500, back.headers);
      back.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    message.pipe(onwards);
  }, tls);
  return { url, seen, close };
}
