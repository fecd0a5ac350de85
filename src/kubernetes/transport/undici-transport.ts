// Sends requests to a real API server over kept-alive HTTP/1.1 connections. It uses one pool, rebuilt when certificates
// rotate, and when a connection stays silent: the others may lead to the same dead end.
import type { Duplex } from 'node:stream';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { Backoff } from '../../runtime/backoff.ts';
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

export interface UpgradeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit of the upgrade, in ms. */
  readonly timeoutMs: number;
}

/**
 * How long to wait at most for the start of an answer before a request is sent once more, over a new connection, in ms: a
 * quarter of its own time limit where that is shorter. Undefined where that is not safe. A read changes nothing. A replacement
 * is bound to a resource version, and its caller reads the object after a conflict. The caller of a patch learns from its answer
 * whether it changed the object, and the second answer would say "conflict". A creation has no such bond.
 */
const repeatedAfter: Readonly<Record<TransportRequest['method'], number | undefined>> = {
  GET: 5000,
  PUT: 5000,
  PATCH: undefined,
  POST: undefined,
  // A second one may meet an object of the same name.
  DELETE: undefined,
};

/** Connections that are silent this soon after all were renewed have a slow server. In ms. */
const minRenewalInterval = 10_000;

/** After its last answer, a server is reached over the same connections for so long, in ms: silence is then its own slowness. */
const reachedFor = 1000;

/**
 * How long an idle connection is used again, in ms, whatever the server offers. The other side may be gone meanwhile
 * without a sign, and a new connection costs less than one time-out.
 */
const maxIdleTime = 5000;

/** Pauses between renewals of credentials, while the server refuses the renewed ones too. */
const renewals = { base: 10_000, cap: 300_000 };

export class UndiciTransport implements KubernetesTransport {
  readonly #options: UndiciTransportOptions;
  readonly #prefix: string;
  #pool: { readonly dispatcher: Dispatcher; readonly tls: TlsMaterial } | undefined;
  #isClosed = false;
  /** When the pool was last left for its silence, in monotonic ms. */
  #renewedAt = -Infinity;
  /** When an answer began last, in monotonic ms. */
  #heardAt = -Infinity;
  /** Renewals of credentials that did not help. */
  readonly #renewals: Backoff;

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
    this.#renewals = new Backoff(renewals, { clock: options.clock });
    this.#prefix = options.access.server.pathname.replace(/\/$/, '');
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    return withDeadline(this.#deadline(request, signal), async (inner) => {
      try {
        return await this.#whole(await this.#authorized(request, inner), request.maxBytes);
      } catch (error) {
        throw this.#failure(error, inner);
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
      throw this.#failure(error, signal);
    }
  }

  /**
   * Has the server speak WebSocket over a connection of its own. Rejects with a `KubernetesError` if it does not: why is in its
   * answer to the same request without an upgrade.
   */
  async upgrade({ path, headers, timeoutMs }: UpgradeRequest, signal: AbortSignal): Promise<Duplex> {
    const { access } = this.#options;
    try {
      return await withDeadline(this.#deadline({ method: 'GET', path, timeoutMs }, signal), async (inner) => {
        const { headers: own, tls } = await access.credentials();
        // The types of undici leave out that a dispatcher for any origin takes one.
        const request = {
          origin: access.server.origin,
          path: this.#prefix + path,
          protocol: 'websocket',
          headers: { ...(own as Record<string, string | string[]>), 'user-agent': userAgent, ...headers },
          signal: inner,
        };
        const upgraded = await this.#dispatcher(tls).upgrade(request);
        return upgraded.socket;
      });
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  /** Breaks all connections; every later request fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.dispatcher.destroy();
  }

  #deadline(
    { method, path, timeoutMs: ms = defaultTimeout }: TransportRequest,
    signal: AbortSignal,
  ): Deadline {
    return { clock: this.#options.clock, ms, signal, waitingFor: `${method} ${path}` };
  }

  /** Retries a 401 once, at once, if other credentials are available: a token may end before its time. */
  async #authorized(request: TransportRequest, signal: AbortSignal): Promise<Response> {
    const { access } = this.#options;
    const credentials = await access.credentials();
    const response = await this.#request(request, credentials, signal);
    if (response.statusCode !== 401) return response;
    const renewed = await this.#renewed(credentials);
    if (renewed === credentials) return response;
    await response.body.dump();
    const second = await this.#request(request, renewed, signal);
    if (second.statusCode !== 401) this.#renewals.forget();
    return second;
  }

  async #renewed(refused: Credentials): Promise<Credentials> {
    const { access } = this.#options;
    const current = await access.credentials();
    if (current !== refused) return current;
    if (!this.#renewals.isPausing) {
      this.#renewals.fail();
      access.forget(refused);
    }
    return access.credentials();
  }

  /**
   * Asks a second time beside a request that stays silent, over a new connection, where repeating is safe. The first
   * answer counts: a server that is only slow has carried out the first request all along.
   */
  #request(request: TransportRequest, credentials: Credentials, signal: AbortSignal): Promise<Response> {
    const isReached = this.#options.clock.monotonic() < this.#heardAt + reachedFor;
    if (request.isCostly === true && !isReached) this.#leavePool();
    const patience = this.#patience(request);
    if (patience === undefined) return this.#dispatch(request, credentials, signal);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const open = new Set<LinkedAbort>();
    const attempt = (): void => {
      const own = new LinkedAbort(signal);
      open.add(own);
      this.#dispatch(request, credentials, own.signal).then(
        (response) => {
          cancel();
          resolve(response);
          open.delete(own);
          for (const other of open) other.abort();
        },
        (error: Error) => {
          open.delete(own);
          if (open.size > 0) return;
          cancel();
          reject(error);
        },
      );
    };
    const cancel = this.#options.clock.schedule(patience, () => {
      this.#leaveSilentPool();
      attempt();
    });
    attempt();
    return promise;
  }

  /** When to ask a second time; undefined where that is not safe. A slow server is not asked twice again and again. */
  #patience({ method, isCostly, timeoutMs = defaultTimeout }: TransportRequest): number | undefined {
    const longest = isCostly === true ? undefined : repeatedAfter[method];
    if (longest === undefined) return undefined;
    const patience = Math.min(longest, timeoutMs / 4);
    const calm = this.#renewedAt + 2 * patience - this.#options.clock.monotonic();
    return Math.max(patience, calm);
  }

  async #dispatch(
    { method, path, contentType, body }: TransportRequest,
    { headers, tls }: Credentials,
    signal: AbortSignal,
  ): Promise<Response> {
    if (this.#isClosed) throw new Error('the connection to Kubernetes is closed');
    const { access } = this.#options;
    const response = await this.#dispatcher(tls).request({
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
    this.#heardAt = this.#options.clock.monotonic();
    return response;
  }

  #dispatcher(tls: TlsMaterial): Dispatcher {
    if (this.#pool?.tls === tls) return this.#pool.dispatcher;
    this.#leavePool();
    this.#pool = { tls, dispatcher: this.#newDispatcher(tls) };
    return this.#pool.dispatcher;
  }

  #isRenewed(): boolean {
    return this.#options.clock.monotonic() - this.#renewedAt < minRenewalInterval;
  }

  /** Later requests use new connections. */
  #leaveSilentPool(): void {
    this.#renewedAt = this.#options.clock.monotonic();
    this.#leavePool();
  }

  /** Requests in flight on the pool, watches included, finish on it. Nothing waits for them. */
  #leavePool(): void {
    // A closed pool refuses to be closed again, and what is closed opens no other one.
    if (this.#isClosed) return;
    void this.#pool?.dispatcher.close();
    this.#pool = undefined;
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
      keepAliveTimeout: maxIdleTime,
      keepAliveMaxTimeout: maxIdleTime,
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

  async #whole({ statusCode, headers, body }: Response, maxBytes = Infinity): Promise<TransportAnswer> {
    const text = maxBytes === Infinity ? await body.text() : await textWithin(body, maxBytes);
    const header = headers['retry-after'];
    const wait = retryAfter(typeof header === 'string' ? header : undefined, this.#options.clock.wall());
    return { status: statusCode, body: text, ...(wait !== undefined && { retryAfterMs: wait }) };
  }

  async *#lines(response: Response, connection: LinkedAbort): AsyncGenerator<StreamLine, void> {
    try {
      yield* textLines(response.body);
    } catch (error) {
      throw this.#failure(error, connection.signal);
    } finally {
      connection.abort();
    }
  }

  /** Why a request has no whole answer. After a time-out, later requests use new connections. */
  #failure(error: unknown, { aborted, reason }: AbortSignal): unknown {
    const failure: unknown = aborted ? reason : error;
    if (!aborted && !(error instanceof KubernetesError)) return unreachable(error, this.#options.access);
    if (failure instanceof KubernetesError && failure.code === 'KUBERNETES_TIMEOUT' && !this.#isRenewed())
      this.#leaveSilentPool();
    return failure;
  }
}

/** Rejects once the body exceeds the limit, and breaks the connection. */
async function textWithin(body: Response['body'], maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new KubernetesError('KUBERNETES_ANSWER_TOO_LONG', `the answer is longer than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
