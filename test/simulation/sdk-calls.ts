// Calls over the wire in virtual time: through the real SDK of a cloud and the HTTP interface of its model, with
// signatures, parameters, texts of answers, error codes and timeouts. Only the socket is missing. Virtual time stands
// still while the SDK works.
import { Readable } from 'node:stream';
import type { HttpSenderOptions, RequestSender } from '../../src/network/http-sender.ts';
import { CallError, type Sending } from '../../src/providers/gate/cloud-call.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import type { HttpAnswer, HttpOutcome, HttpRequest } from '../../src/simulator/http-front.ts';

/** An answer as Node.js passes it to an SDK. */
export interface ReceivedAnswer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/** Virtual time stands still while the SDK prepares its request, and again while it reads the answer. */
interface CallInFlight {
  release: () => void;
  /** Lets the next call be prepared or read. */
  leave: () => void;
}

/** Keeps calls of one instant in order although the SDK takes different time for each. */
class Line {
  #last: Promise<void> = Promise.resolve();

  /** Resolves once all earlier callers have left, to a function that leaves. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    let leave = (): void => undefined;
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }
}

export class SdkCalls {
  readonly #clock: VirtualClock;
  /** By the signal that accompanies a call. */
  readonly #inFlight = new Map<AbortSignal, CallInFlight>();
  readonly #preparing = new Line();
  readonly #reading = new Line();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Passes a call to the SDK. `onEnd` receives the code of its result, unless it was never sent. */
  async pass<T extends object>(
    sending: Sending,
    send: (sending: Sending) => Promise<T>,
    onEnd: (result: string, output?: T) => void,
  ): Promise<T> {
    const call: CallInFlight = { release: this.#clock.hold(), leave: () => undefined };
    this.#inFlight.set(sending.signal, call);
    // The SDK takes several turns to abort a call.
    const giveUp = (): void => {
      call.release();
      call.release = this.#clock.hold();
    };
    sending.signal.addEventListener('abort', giveUp, { once: true });
    let isSent = false;
    const onSend = (): void => {
      sending.onSend();
      isSent = true;
    };
    try {
      call.leave = await this.#preparing.enter();
      const output = await send({ ...sending, onSend });
      onEnd('OK', output);
      return output;
    } catch (error) {
      if (isSent) onEnd(error instanceof CallError ? error.code : 'Error');
      throw error;
    } finally {
      sending.signal.removeEventListener('abort', giveUp);
      this.#inFlight.delete(sending.signal);
      call.leave();
      call.release();
    }
  }

  /** Answers a request that the SDK sends: rejects as a socket does. */
  async exchange(
    signal: AbortSignal | undefined,
    answer: () => Promise<HttpOutcome>,
  ): Promise<ReceivedAnswer> {
    const call = signal && this.#inFlight.get(signal);
    call?.leave();
    call?.release();
    const outcome = await Promise.race([answer(), abandoned(signal)]);
    if (outcome.kind === 'hang') return abandoned(signal);
    if (call !== undefined && signal?.aborted === false) {
      call.release = this.#clock.hold();
      const leave = await this.#reading.enter();
      // The call may have been aborted meanwhile.
      if (this.#inFlight.get(signal) === call) call.leave = leave;
      else leave();
    }
    if (outcome.kind === 'drop') throw connectionReset();
    return received(outcome);
  }
}

/** What an SDK needs to send its requests to a model instead of the network. */
export function senderTo(
  calls: SdkCalls,
  answer: (request: HttpRequest) => Promise<HttpOutcome>,
): { readonly sender: RequestSender; readonly http: HttpSenderOptions } {
  const sender: RequestSender = {
    send: ({ url, method, headers, body = '', signal }) => {
      const path = `${url.pathname}${url.search}`;
      const text = typeof body === 'string' ? body : Buffer.from(body).toString();
      const request = { method, url: path, headers: { host: url.host, ...headers }, body: text };
      return calls.exchange(signal, () => answer(request));
    },
    close: () => undefined,
  };
  return {
    sender,
    http: {
      connections: 1000,
      connectionTimeout: 1000,
      clock: systemClock,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
  };
}

function received({ status, headers, body, cutAt }: HttpAnswer): ReceivedAnswer {
  const whole = Buffer.from(body);
  const pieces = cutAt === undefined ? Readable.from([whole], { objectMode: false }) : cut(whole, cutAt);
  return { statusCode: status, headers: { ...headers }, body: pieces };
}

function cut(body: Buffer, at: number): Readable {
  const pieces = function* (): Generator<Buffer> {
    yield body.subarray(0, at);
    throw connectionReset();
  };
  return Readable.from(pieces(), { objectMode: false });
}

function connectionReset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
}

function abandoned(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abandon = (): void => reject(Object.assign(new Error('aborted'), { name: 'AbortError' }));
    if (signal?.aborted === true) abandon();
    else signal?.addEventListener('abort', abandon, { once: true });
  });
}
