// Sends single HTTP requests for a cloud's SDK that has no handler of its own: over reused connections, directly or
// through the proxy for the target. It neither retries nor follows redirects.
import {
  type Agent,
  type IncomingHttpHeaders,
  request as requestPlain,
  type RequestOptions,
} from 'node:http';
import { type Agent as TlsAgent, request as requestTls } from 'node:https';
import type { Readable } from 'node:stream';
import type { Clock } from '../runtime/clock.ts';
import { agentsVia } from './pre-send-agents.ts';
import { type HttpHandler, ProxiedHandler, type TargetedRequest } from './proxied-handler.ts';

export interface OutgoingRequest extends TargetedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** Ends the wait for the answer, and its body. */
  readonly signal: AbortSignal | undefined;
}

export interface IncomingAnswer {
  readonly statusCode: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

export interface HttpSenderOptions {
  /** Maximum connections to one host. */
  readonly connections: number;
  /** Timeout for opening a connection, in ms. A request ends by its signal. */
  readonly connectionTimeout: number;
  readonly clock: Clock;
  /** The proxy for a target; undefined for none. */
  readonly proxyFor: (target: URL) => URL | undefined;
  /** Called before the first request to each host, including hosts that serve credentials. */
  readonly onRoute: (host: string, proxy: URL | undefined) => void;
}

/** A sender of requests: the network, or a model in the same process. */
export type RequestSender = Pick<HttpSender, 'send' | 'close'>;

export class HttpSender {
  readonly #handler: ProxiedHandler<OutgoingRequest, never, IncomingAnswer>;

  constructor(options: HttpSenderOptions) {
    const { clock, connectionTimeout, proxyFor, onRoute } = options;
    const handlerVia = (proxy: URL | undefined): HttpHandler<OutgoingRequest, never, IncomingAnswer> =>
      new AgentHandler({ ...agentsVia(proxy, options), clock, connectionTimeout });
    this.#handler = new ProxiedHandler({ proxyFor, handlerVia, onRoute });
  }

  /** Resolves once the headers of the answer are there. Rejects as Node.js does, or with a ProxyError. */
  async send(request: Omit<OutgoingRequest, keyof TargetedRequest>): Promise<IncomingAnswer> {
    const { protocol, hostname, port } = request.url;
    const target = { protocol, hostname, ...(port !== '' && { port: Number(port) }) };
    return (await this.#handler.handle({ ...request, ...target })).response;
  }

  close(): void {
    this.#handler.destroy();
  }
}

interface AgentHandlerOptions {
  readonly http: Agent;
  readonly https: TlsAgent;
  readonly clock: Clock;
  readonly connectionTimeout: number;
}

class AgentHandler implements HttpHandler<OutgoingRequest, never, IncomingAnswer> {
  readonly #options: AgentHandlerOptions;

  constructor(options: AgentHandlerOptions) {
    this.#options = options;
  }

  handle({ url, method, headers, body, signal }: OutgoingRequest): Promise<{ response: IncomingAnswer }> {
    const { http, https, clock, connectionTimeout } = this.#options;
    const isTls = url.protocol === 'https:';
    const request = isTls ? requestTls : requestPlain;
    const options: RequestOptions = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      agent: isTls ? https : http,
      ...(signal !== undefined && { signal }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(url, options, (answer) => {
        const { statusCode = 0 } = answer;
        resolve({ response: { statusCode, headers: plainHeaders(answer.headers), body: answer } });
      });
      // A request that waits for a connection of others is not late.
      sent.once('socket', (socket) => {
        if (!socket.connecting) return;
        const cancel = clock.schedule(connectionTimeout, () =>
          sent.destroy(notConnected(url, connectionTimeout)),
        );
        socket.once(isTls ? 'secureConnect' : 'connect', cancel).once('close', cancel);
      });
      sent.on('error', reject);
      // An answer that switches protocols closes the connection without an error.
      sent.once('close', () => reject(noAnswer(url)));
      sent.end(body);
    });
  }

  destroy(): void {
    this.#options.http.destroy();
    this.#options.https.destroy();
  }
}

function plainHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(entries);
}

function noAnswer({ host }: URL): Error {
  return Object.assign(new Error(`${host} closed the connection without an answer`), { code: 'ECONNRESET' });
}

function notConnected({ host }: URL, ms: number): Error {
  const message = `${host} did not establish a connection within ${ms / 1000} s`;
  return Object.assign(new Error(message), { code: 'NotConnected' });
}
