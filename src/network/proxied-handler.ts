// Routes each request of a cloud's SDK directly or through the proxy for its target. This includes the requests of
// the credential chain, which use the same handler. Its interface is that of the AWS SDK's handlers
// (https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/Package/-smithy-types/Interface/RequestHandler/).
import type { Readable } from 'node:stream';
import { unknownAuthority } from './certificate-trouble.ts';
import { proxyInWords, proxyTrouble } from './proxies.ts';

/** A handler of requests behind a proxy, or without one. */
export interface HttpHandler<Request, Options, Response> {
  handle(request: Request, options?: Options): Promise<{ response: Response }>;
  destroy?(): void;
}

export interface TargetedRequest {
  /** Includes the colon. */
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
}

interface Answer {
  statusCode: number;
  /** A stream, if there is a body. */
  body?: unknown;
}

export interface ProxiedHandlerOptions<Handler> {
  /** The proxy for a target; undefined for none. */
  readonly proxyFor: (target: URL) => URL | undefined;
  /** Creates a handler that sends everything through a proxy, or directly if undefined. Called once per proxy. */
  readonly handlerVia: (proxy: URL | undefined) => Handler;
  /** Called before the first request to each host. */
  readonly onRoute: (host: string, proxy: URL | undefined) => void;
}

/** A proxy rejected the request; nothing reached the target. `code` is for people and for tables. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'ProxyError';
}

export class ProxiedHandler<Request extends TargetedRequest, Options, Response extends Answer>
  implements HttpHandler<Request, Options, Response>
{
  readonly #options: ProxiedHandlerOptions<HttpHandler<Request, Options, Response>>;
  readonly #handlers = new Map<string | undefined, HttpHandler<Request, Options, Response>>();
  readonly #met = new Set<string>();

  constructor(options: ProxiedHandlerOptions<HttpHandler<Request, Options, Response>>) {
    this.#options = options;
  }

  async handle(request: Request, options?: Options): Promise<{ response: Response }> {
    const { protocol, hostname, port } = request;
    const target = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`);
    const proxy = this.#options.proxyFor(target);
    if (!this.#met.has(target.host)) {
      this.#met.add(target.host);
      this.#options.onRoute(target.host, proxy);
    }
    try {
      const answer = await this.#handlerVia(proxy).handle(request, options);
      if (proxy !== undefined && answer.response.statusCode === 407) {
        // An unread body would keep its connection open forever.
        (answer.response.body as Partial<Readable> | undefined)?.destroy?.();
        throw new ProxyError(proxyTrouble(proxy, target.host, { status: 407, why: '' }));
      }
      return answer;
    } catch (error) {
      throw explained(error, target, proxy);
    }
  }

  destroy(): void {
    for (const handler of this.#handlers.values()) handler.destroy?.();
  }

  /** The AWS SDK may configure its handler; this one has nothing to configure. */
  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): object {
    return {};
  }

  #handlerVia(proxy: URL | undefined): HttpHandler<Request, Options, Response> {
    const known = this.#handlers.get(proxy?.href);
    if (known !== undefined) return known;
    const handler = this.#options.handlerVia(proxy);
    this.#handlers.set(proxy?.href, handler);
    return handler;
  }
}

/** The errors of Node.js agents and of an SDK's handler. */
interface Failure {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly statusCode?: unknown;
  readonly message?: unknown;
  readonly errors?: unknown;
}

function explained(error: unknown, target: URL, proxy: URL | undefined): unknown {
  if (typeof error !== 'object' || error === null || error instanceof ProxyError) return error;
  if (unknownAuthority.has((error as Failure).code)) return untrusted(error, target, proxy);
  if (proxy === undefined || !isBeforeTheTunnel(error)) return error;
  const { statusCode } = error as Failure;
  const status = typeof statusCode === 'number' ? statusCode : undefined;
  const text = proxyTrouble(proxy, target.host, { status, why: String(innermost(error).message) });
  return new ProxyError(text, { cause: error });
}

/** The error keeps its code, which shows that nothing was sent. */
function untrusted(cause: Failure, target: URL, proxy: URL | undefined): Error {
  const way = proxy === undefined ? '' : ` through the proxy ${proxyInWords(proxy)}`;
  const text = `the certificate of ${target.host}${way} is not trusted: ${String(cause.message)}; name its authority in --extra-ca-file`;
  return Object.assign(new Error(text, { cause }), { code: cause.code });
}

/** Through a proxy, this process connects only to the proxy. */
function isBeforeTheTunnel(error: Failure): boolean {
  const { code, syscall } = innermost(error);
  return (
    code === 'ERR_PROXY_TUNNEL' ||
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    /did not establish a connection/.test(String(error.message))
  );
}

/** The first error, if there is one per attempted address. */
function innermost(error: Failure): Failure {
  const { errors } = error;
  return Array.isArray(errors) && errors.length > 0 ? (errors[0] as Failure) : error;
}
