// Sends requests to a real API server over kept-alive HTTP/1.1 connections. It uses one pool, rebuilt only when
// certificates rotate.
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import type { ClusterAccess, Credentials, TlsMaterial } from './cluster-access.ts';
import { type Deadline, withDeadline } from './deadline.ts';
import { KubernetesError } from './kubernetes-error.ts';
import { LinkedAbort } from './linked-abort.ts';
import { retryAfter } from './retry-after.ts';
import { textLines } from './text-lines.ts';
import {
  defaultTimeout,
  type KubernetesTransport,
  type StreamAnswer,
  type StreamLine,
  type TransportAnswer,
  type TransportRequest,
  userAgent,
} from './transport.ts';
import { unreachable } from './unreachable.ts';

export interface UndiciTransportOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  /**
   * Maximum concurrent connections; further requests queue. Each watch holds one. Default: 32. Requests that must not
   * queue, above all leader election, need a transport of their own.
   */
  readonly connections?: number;
}

type Response = Dispatcher.ResponseData;

export class UndiciTransport implements KubernetesTransport {
  readonly #options: UndiciTransportOptions;
  readonly #prefix: string;
  #pool: { readonly dispatcher: Dispatcher; readonly tls: TlsMaterial } | undefined;

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
    this.#prefix = options.access.server.pathname.replace(/\/$/, '');
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    return withDeadline(this.#deadline(request, signal), async (inner) => {
      try {
        return await this.#whole(await this.#authorized(request, inner), request.mostBytes);
      } catch (error) {
        throw inner.aborted ? inner.reason : this.#unreachable(error);
      }
    });
  }

  async stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer> {
    const connection = new LinkedAbort(signal);
    try {
      return await withDeadline(this.#deadline(request, signal), async () => {
        const response = await this.#authorized(request, connection.signal);
        if (response.statusCode === 200) return { kind: 'open', lines: this.#lines(response, connection) };
        const answer = await this.#whole(response);
        connection.release();
        return { kind: 'refused', answer };
      });
    } catch (error) {
      connection.abort();
      throw signal.aborted ? signal.reason : this.#unreachable(error);
    }
  }

  /** Breaks all connections; every later request fails. */
  async close(): Promise<void> {
    await this.#pool?.dispatcher.destroy();
  }

  #deadline(
    { method, path, timeoutMs: ms = defaultTimeout }: TransportRequest,
    signal: AbortSignal,
  ): Deadline {
    return { clock: this.#options.clock, ms, signal, waitingFor: `${method} ${path}` };
  }

  /** Retries a 401 once if other credentials are available: they may have rotated. */
  async #authorized(request: TransportRequest, signal: AbortSignal): Promise<Response> {
    const { access } = this.#options;
    const credentials = await access.credentials();
    const response = await this.#request(request, credentials, signal);
    if (response.statusCode !== 401) return response;
    const renewed = await this.#renewed(credentials);
    if (renewed === credentials) return response;
    await response.body.dump();
    return this.#request(request, renewed, signal);
  }

  async #renewed(refused: Credentials): Promise<Credentials> {
    const { access } = this.#options;
    const current = await access.credentials();
    if (current !== refused) return current;
    access.forget();
    return access.credentials();
  }

  #request(
    { method, path, contentType, body }: TransportRequest,
    { headers, tls }: Credentials,
    signal: AbortSignal,
  ): Promise<Response> {
    const { access } = this.#options;
    return this.#dispatcher(tls).request({
      origin: access.server.origin,
      path: this.#prefix + path,
      method,
      headers: {
        ...(headers as Record<string, string | string[]>),
        accept: 'application/json',
        'user-agent': userAgent,
        ...(contentType !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body }),
      signal,
    });
  }

  #dispatcher(tls: TlsMaterial): Dispatcher {
    if (this.#pool?.tls === tls) return this.#pool.dispatcher;
    const outdated = this.#pool?.dispatcher;
    this.#pool = { tls, dispatcher: this.#newDispatcher(tls) };
    // Requests in flight on the old pool, watches included, finish on it. Nothing waits for them.
    void outdated?.close();
    return this.#pool.dispatcher;
  }

  #newDispatcher({ ca, cert, key, serverName, insecure }: TlsMaterial): Dispatcher {
    const { access, connections = 32 } = this.#options;
    const tls = {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
      rejectUnauthorized: !insecure,
      allowH2: false,
    };
    const settings = {
      connections,
      allowH2: false,
      keepAliveTimeout: 30_000,
      // We enforce time-outs on our own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    // Early, frequent probes detect a dead peer within 30 s; a watch would otherwise hang until its time-out.
    const connect = { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 15_000 };
    if (access.proxy === undefined) return new Agent({ ...settings, connect });
    const proxyTls = { timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 15_000, allowH2: false };
    // Tunnel plain HTTP too: undici otherwise uses one connection to the proxy, and a watch blocks it.
    return new ProxyAgent({
      ...settings,
      uri: access.proxy.href,
      requestTls: connect,
      proxyTls,
      proxyTunnel: true,
    });
  }

  async #whole({ statusCode, headers, body }: Response, mostBytes = Infinity): Promise<TransportAnswer> {
    const text = mostBytes === Infinity ? await body.text() : await textWithin(body, mostBytes);
    const header = headers['retry-after'];
    const wait = retryAfter(typeof header === 'string' ? header : undefined, this.#options.clock.wall());
    return { status: statusCode, body: text, ...(wait !== undefined && { retryAfterMs: wait }) };
  }

  async *#lines(response: Response, connection: LinkedAbort): AsyncGenerator<StreamLine, void> {
    try {
      yield* textLines(response.body);
    } catch (error) {
      throw connection.signal.aborted ? connection.signal.reason : this.#unreachable(error);
    } finally {
      connection.abort();
    }
  }

  #unreachable(error: unknown): KubernetesError {
    return error instanceof KubernetesError ? error : unreachable(error, this.#options.access);
  }
}

/** Rejects once the body exceeds the limit, and breaks the connection. */
async function textWithin(body: Response['body'], mostBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes)
      throw new KubernetesError('KUBERNETES_ANSWER_TOO_LONG', `the answer is longer than ${mostBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
