// Serves EC2 on a socket: the only file of the model that uses one.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { answerAdmin } from './admin.ts';
import type { Ec2Gateway } from './ec2-gateway.ts';
import { answerEc2, type HttpContext, type HttpOutcome } from './ec2-http.ts';

export interface Ec2ServerOptions {
  readonly gateway: Ec2Gateway;
  /** The clients' clock, for signatures; the cloud's own may run faster. */
  readonly clock: Clock;
  /** 0 uses any free port. */
  readonly port: number;
  /** The loopback address by default. */
  readonly host?: string;
}

export interface Ec2Server {
  readonly url: string;
  /** Ends every connection; resolves once the port is free. */
  close(): Promise<void>;
}

/** Longer than clients keep idle connections, so no connection closes during a request. */
const keepAliveMs = 75_000;

/** No EC2 request is larger. */
const mostBodyBytes = 1_000_000;

/** Rejects with an error that names the port if it is in use. */
export async function startEc2Server(options: Ec2ServerOptions): Promise<Ec2Server> {
  const { gateway, clock, port, host = '127.0.0.1' } = options;
  const requestIds = new Random(`request-ids/${gateway.network.account}`);
  const server = createServer({ keepAliveTimeout: keepAliveMs, headersTimeout: keepAliveMs + 5000 });
  server.on('request', (request, response) => {
    // A rejection here is a bug of the model and ends the process.
    void serve(request, response, () => ({ gateway, now: clock.wall(), requestId: requestIds.uuid() }));
  });
  await listening(server, port, host);
  const { port: chosen } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shown}:${chosen}`, close: () => closed(server) };
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  context: () => HttpContext,
): Promise<void> {
  const body = await read(message);
  if (body === undefined) {
    response.destroy();
    return;
  }
  try {
    send(await answer(message, body, context()), response);
  } catch (bug) {
    response.writeHead(500).end();
    throw bug;
  }
}

async function answer(message: IncomingMessage, body: string, context: HttpContext): Promise<HttpOutcome> {
  const { method = 'GET', url = '/' } = message;
  if (url.startsWith('/_headwater/')) return answerAdmin({ method, url, body }, context.gateway);
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : value,
    ]),
  );
  return answerEc2({ method, url, headers, body }, context);
}

/** The whole body; undefined if the client disconnects or sends too much. */
function read(message: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    message.on('data', (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > mostBodyBytes) resolve(undefined);
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
  response.writeHead(outcome.status, { ...outcome.headers, 'content-length': body.length });
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
