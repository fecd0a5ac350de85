// Connects to an API server in the same process, without sockets, so that the same seed yields the same history.
// Simulations and tests use it; code above the transport port cannot tell the difference.
import type { Clock } from '../../src/runtime/clock.ts';
import { type Deadline, withDeadline } from '../../src/kubernetes/transport/deadline.ts';
import type { Json, JsonObject } from '../../src/runtime/json.ts';
import { KubernetesError } from '../../src/kubernetes/transport/kubernetes-error.ts';
import { LinkedAbort } from '../../src/kubernetes/transport/linked-abort.ts';
import { retryAfter } from '../../src/kubernetes/transport/retry-after.ts';
import { textLines } from '../../src/kubernetes/transport/text-lines.ts';
import {
  defaultTimeout,
  type KubernetesTransport,
  type StreamAnswer,
  type StreamLine,
  type TransportAnswer,
  type TransportRequest,
  userAgent,
} from '../../src/kubernetes/transport/transport.ts';

/** An HTTP request as an in-process handler receives it. */
export interface InProcessRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface InProcessResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string> | EventLines;
  /** The parsed body, if the handler has it. */
  readonly value?: Json;
}

/** A body of lines, each the JSON of one object. */
export interface EventLines extends AsyncIterable<string> {
  /** The objects alone, without one that is cut off in the middle of its line. */
  readonly events: () => AsyncIterable<JsonObject>;
}

/** Answers one request. A rejection counts as a broken connection, also while the body is read. */
export type InProcessHandler = (request: InProcessRequest, signal: AbortSignal) => Promise<InProcessResponse>;

export class InProcessTransport implements KubernetesTransport {
  readonly #handler: InProcessHandler;
  readonly #clock: Clock;

  constructor(handler: InProcessHandler, clock: Clock) {
    this.#handler = handler;
    this.#clock = clock;
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    return withDeadline(this.#deadline(request, signal), async (inner) => {
      const response = await this.#answer(request, inner);
      return this.#whole(response, inner);
    });
  }

  async stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer> {
    const connection = new LinkedAbort(signal);
    try {
      const response = await withDeadline(this.#deadline(request, signal), () =>
        this.#answer(request, connection.signal),
      );
      if (response.status === 200) return { kind: 'open', lines: linesOf(response.body, connection) };
      const answer = await this.#whole(response, signal);
      connection.abort();
      return { kind: 'refused', answer };
    } catch (error) {
      connection.abort();
      throw error;
    }
  }

  #deadline(request: TransportRequest, signal: AbortSignal): Deadline {
    const { method, path, timeoutMs: ms = defaultTimeout } = request;
    return { clock: this.#clock, ms, signal, waitingFor: `${method} ${path}` };
  }

  async #answer(request: TransportRequest, signal: AbortSignal): Promise<InProcessResponse> {
    const { method, path: url, contentType, body } = request;
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(contentType !== undefined && { 'content-type': contentType }),
    };
    try {
      return await this.#handler({ method, url, headers, ...(body !== undefined && { body }) }, signal);
    } catch (cause) {
      throw signal.aborted ? signal.reason : broken(cause);
    }
  }

  async #whole(response: InProcessResponse, signal: AbortSignal): Promise<TransportAnswer> {
    const wait = retryAfter(response.headers['retry-after'], this.#clock.wall());
    const head = { status: response.status, ...(wait !== undefined && { retryAfterMs: wait }) };
    const { value } = response;
    if (value === undefined) return { ...head, body: await textOf(response.body, signal) };
    return {
      ...head,
      value,
      /** Serialized only on access. */
      get body() {
        const { body } = response;
        return typeof body === 'string' ? body : JSON.stringify(value);
      },
    };
  }
}

async function textOf(body: InProcessResponse['body'], signal: AbortSignal): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const piece of untilAborted(body, signal)) text += piece;
  return text;
}

/** The handler's signal aborts with the caller's, and when the caller stops reading. */
async function* linesOf(
  body: InProcessResponse['body'],
  connection: LinkedAbort,
): AsyncGenerator<StreamLine, void> {
  try {
    if (typeof body === 'string') yield* body.split('\n').filter((line) => line !== '');
    else
      yield* textLines(untilAborted<StreamLine>('events' in body ? body.events() : body, connection.signal));
  } finally {
    connection.abort();
  }
}

/** Yields the same pieces. Throws the signal's reason as soon as it aborts, even if no further piece arrives. */
async function* untilAborted<T>(pieces: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  let giveUp = (_reason: Error): void => undefined;
  const abandon = (): void => giveUp(signal.reason as Error);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        giveUp = reject;
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) return;
      yield next.value;
    }
    throw signal.reason;
  } catch (error) {
    throw signal.aborted ? signal.reason : broken(error);
  } finally {
    signal.removeEventListener('abort', abandon);
    void iterator.return?.().catch(() => undefined);
  }
}

function broken(cause: unknown): KubernetesError {
  if (cause instanceof KubernetesError) return cause;
  return new KubernetesError('KUBERNETES_UNREACHABLE', `the connection broke: ${String(cause)}`, { cause });
}
