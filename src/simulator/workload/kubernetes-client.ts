// The agents' own Kubernetes client: plain requests, answers as values. It neither retries nor caches.
import { types } from 'node:util';
import type { KubernetesHandler, KubernetesRequest } from '../kubernetes/exchange.ts';
import { ConnectionDropped } from '../kubernetes/faults/faults.ts';
import { asJson, isObject, type JsonObject, parseObject, textAt } from './json.ts';

export interface Refusal {
  readonly kind: 'refused';
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Kubernetes' reason, such as `Conflict`. */
  readonly reason: string;
  readonly message: string;
}

export interface Success {
  readonly kind: 'ok';
  /** The API's answer, parsed on access. */
  readonly object: JsonObject;
}

export type Answer = Success | Refusal;

export type WatchAnswer = { readonly kind: 'ok'; readonly events: AsyncIterable<JsonObject> } | Refusal;

export class KubernetesClient {
  readonly #handler: KubernetesHandler;
  readonly #userAgent: string;

  constructor(handler: KubernetesHandler, userAgent: string) {
    this.#handler = handler;
    this.#userAgent = userAgent;
  }

  get(path: string, signal: AbortSignal): Promise<Answer> {
    return this.#ask('GET', path, signal);
  }

  create(path: string, object: JsonObject, signal: AbortSignal): Promise<Answer> {
    return this.#ask('POST', path, signal, object);
  }

  replace(path: string, object: JsonObject, signal: AbortSignal): Promise<Answer> {
    return this.#ask('PUT', path, signal, object);
  }

  mergePatch(path: string, patch: JsonObject, signal: AbortSignal): Promise<Answer> {
    return this.#ask('PATCH', path, signal, patch);
  }

  delete(path: string, options: JsonObject, signal: AbortSignal): Promise<Answer> {
    return this.#ask('DELETE', path, signal, options);
  }

  async watch(path: string, signal: AbortSignal): Promise<WatchAnswer> {
    const response = await this.#send({ method: 'GET', url: path, headers: this.#headers() }, signal);
    if ('kind' in response) return response;
    if (response.status !== 200) return refusal(response.status, await textOf(response.body));
    const { body } = response;
    if (typeof body !== 'string' && 'events' in body) return { kind: 'ok', events: body.events() };
    return { kind: 'ok', events: eventsIn(typeof body === 'string' ? onePiece(body) : body) };
  }

  async #ask(method: string, url: string, signal: AbortSignal, body?: JsonObject): Promise<Answer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { ...this.#headers(), ...(body && { 'content-type': type }) };
    const request =
      body === undefined ? { method, url, headers } : new SpeakingRequest(method, url, headers, asJson(body));
    const response = await this.#send(request, signal);
    if ('kind' in response) return response;

    const { value } = response;
    if (response.status < 300 && isObject(value)) return { kind: 'ok', object: value };
    const text = await textOf(response.body);
    if (response.status >= 300) return refusal(response.status, text);
    return new TextualSuccess(text);
  }

  /** A request without an answer is refused with status 0, unless this side aborted it. */
  async #send(
    request: KubernetesRequest,
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<KubernetesHandler>> | Refusal> {
    try {
      return await this.#handler(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isConnectionFailure(error)) throw error;
      return { kind: 'refused', status: 0, reason: 'Unreachable', message: String(error) };
    }
  }

  #headers(): Readonly<Record<string, string>> {
    return { accept: 'application/json', 'user-agent': this.#userAgent };
  }
}

/**
 * Whether the network failed, in an in-process handler or in Node.js (whose errors have a code); otherwise it
 * is a bug.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionDropped) return true;
  // From any realm: a test runner has its own.
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string';
}

/** Serializes its value only if the text is read. */
class SpeakingRequest implements KubernetesRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: KubernetesRequest['headers'];
  readonly value: NonNullable<KubernetesRequest['value']>;

  constructor(
    method: string,
    url: string,
    headers: KubernetesRequest['headers'],
    value: NonNullable<KubernetesRequest['value']>,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.value = value;
  }

  get body(): string {
    return JSON.stringify(this.value);
  }
}

class TextualSuccess implements Success {
  readonly kind = 'ok';
  readonly #text: string;
  #object: JsonObject | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get object(): JsonObject {
    this.#object ??= parseObject(this.#text);
    return this.#object;
  }
}

function refusal(status: number, text: string): Refusal {
  const described = text.startsWith('{') ? parseObject(text) : {};
  return {
    kind: 'refused',
    status,
    reason: textAt(described, 'reason'),
    message: textAt(described, 'message') || text,
  };
}

async function textOf(body: string | AsyncIterable<string>): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const piece of body) text += piece;
  return text;
}

/** The events of whole lines; drops an incomplete last one. */
async function* eventsIn(pieces: AsyncIterable<string>): AsyncGenerator<JsonObject> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield parseObject(line);
  }
}

async function* onePiece(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}
