// An API server whose answers a test scripts, in virtual time.
import type { Clock } from '../../../src/runtime/clock.ts';
import { withDeadline } from '../../../src/kubernetes/transport/deadline.ts';
import { KubernetesError } from '../../../src/kubernetes/transport/kubernetes-error.ts';
import {
  defaultTimeout,
  type KubernetesTransport,
  type StreamAnswer,
  type TransportAnswer,
  type TransportRequest,
} from '../../../src/kubernetes/transport/transport.ts';

export interface Said {
  readonly status: number;
  readonly body?: unknown;
  readonly retryAfterMs?: number;
}

/** An answer, the lines of a stream, no answer at all, or a broken connection. */
export type Script = Said | LineFeed | 'silence' | Error;

/** Answers a request, at once or later. */
export type Server = (request: TransportRequest) => Script | Promise<Script>;

export class ScriptedTransport implements KubernetesTransport {
  readonly requests: TransportRequest[] = [];
  readonly #clock: Clock;
  readonly #server: Server;

  constructor(clock: Clock, server: Server) {
    this.#clock = clock;
    this.#server = server;
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const script = await this.#script(request, signal);
    if (script instanceof LineFeed) throw new Error('a stream was scripted for what is none');
    return answer(script);
  }

  async stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer> {
    const script = await this.#script(request, signal);
    if (script instanceof LineFeed) {
      const seconds = new URLSearchParams(request.path.split('?')[1]).get('timeoutSeconds');
      const timeOut = new AbortController();
      if (seconds !== null) this.#clock.schedule(Number(seconds) * 1000, () => timeOut.abort());
      return { kind: 'open', lines: script.read(signal, timeOut.signal) };
    }
    return { kind: 'refused', answer: answer(script) };
  }

  #script(request: TransportRequest, signal: AbortSignal): Promise<Said | LineFeed> {
    this.requests.push(request);
    const deadline = {
      clock: this.#clock,
      ms: request.timeoutMs ?? defaultTimeout,
      signal,
      waitingFor: request.path,
    };
    return withDeadline(deadline, async () => {
      const script = await this.#server(request);
      if (script instanceof Error) throw script;
      if (script === 'silence') return new Promise<never>(() => undefined);
      return script;
    });
  }
}

function answer({ status, body = {}, retryAfterMs }: Said): TransportAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, body: text, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** The lines of one watch, which a test sends one by one. It ends at its time-out, as a server ends it. */
export class LineFeed {
  readonly #lines: string[] = [];
  #isEndless = false;
  #end: Error | 'ended' | undefined;
  #wake = (): void => undefined;

  push(...events: readonly unknown[]): this {
    this.#lines.push(...events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event))));
    this.#wake();
    return this;
  }

  /** Its end never arrives. */
  endless(): this {
    this.#isEndless = true;
    return this;
  }

  end(): this {
    this.#end = 'ended';
    this.#wake();
    return this;
  }

  break(): this {
    this.#end = unreachable();
    this.#wake();
    return this;
  }

  async *read(signal: AbortSignal, timeOut: AbortSignal): AsyncGenerator<string, void> {
    for (;;) {
      const line = this.#lines.shift();
      // An abort ends only what has not arrived yet: one chunk brings many lines.
      if (line !== undefined) yield line;
      else if (signal.aborted) throw signal.reason;
      else if (this.#end === 'ended' || (timeOut.aborted && !this.#isEndless)) return;
      else if (this.#end !== undefined) throw this.#end;
      else await this.#more(signal, timeOut);
    }
  }

  #more(...signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      for (const signal of signals) signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

export function unreachable(): KubernetesError {
  return new KubernetesError('KUBERNETES_UNREACHABLE', 'the connection broke');
}

/** The server's own object for a failure. */
export function status(code: number, message: string, details: Record<string, unknown> = {}): Said {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message, details },
  };
}
