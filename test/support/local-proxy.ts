// A real HTTP proxy on a free port of this machine. It alone resolves the host names of a test, so every request that
// reaches one has passed through it.
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Certificate } from '../../src/simulator/certificates.ts';

export interface ProxySetup {
  /** From `host:port` as clients request it to the URL of a local server. */
  readonly routes: Readonly<Record<string, string>>;
  /** Required `user:password`; none by default. */
  readonly credentials?: string;
  /** A way to misbehave. */
  readonly manner?: number | 'hangsUp' | 'keepsSilent';
  readonly tls?: Certificate;
}

export interface LocalProxy {
  readonly url: string;
  /** `CONNECT host:port`, or the method and the whole URL, of each request. */
  readonly asked: readonly string[];
  readonly close: () => Promise<void>;
}

export async function startProxy(setup: ProxySetup): Promise<LocalProxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server: Server = setup.tls === undefined ? createServer() : createTlsServer(setup.tls);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  server.on('connect', (message: IncomingMessage, client: Socket) => {
    asked.push(`CONNECT ${message.url}`);
    client.on('error', () => client.destroy());
    const answer =
      refusalOf(message, setup) ?? (targetOf(message.url ?? '', setup) === undefined ? 502 : 200);
    if (answer === 'hangsUp') client.destroy();
    else if (answer === 'keepsSilent') client.resume();
    else if (answer !== 200) client.end(`HTTP/1.1 ${answer} No\r\ncontent-length: 0\r\n\r\n`);
    else {
      const { hostname, port } = new URL(targetOf(message.url ?? '', setup) ?? '');
      const target = connect(Number(port), hostname, () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        target.pipe(client).pipe(target);
      });
      target.on('error', () => client.destroy());
      client.on('close', () => target.destroy());
    }
  });

  server.on('request', (message, response) => {
    asked.push(`${message.method} ${message.url}`);
    const { host, pathname, search } = new URL(message.url ?? '');
    const target = targetOf(host.includes(':') ? host : `${host}:80`, setup);
    const answer = refusalOf(message, setup) ?? (target === undefined ? 502 : 200);
    if (answer === 'hangsUp') message.socket.destroy();
    else if (answer === 'keepsSilent') message.resume();
    else if (answer !== 200) response.writeHead(answer, { 'content-type': 'text/html' }).end('<h1>No</h1>');
    else {
      const { method, headers } = message;
      const onwards = request(new URL(pathname + search, target), { method, headers }, (back) => {
        response.writeHead(back.statusCode ?? 500, back.headers);
        back.pipe(response);
      });
      onwards.on('error', () => response.destroy());
      message.pipe(onwards);
    }
  });

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${setup.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

function targetOf(host: string, { routes }: ProxySetup): string | undefined {
  return routes[host];
}

function refusalOf({ headers }: IncomingMessage, { credentials, manner }: ProxySetup): ProxySetup['manner'] {
  if (manner !== undefined || credentials === undefined) return manner;
  const wanted = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return headers['proxy-authorization'] === wanted ? undefined : 407;
}
