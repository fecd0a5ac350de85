// The EC2 port over the wire: the real SDK and the HTTP interface of the model, with signatures, parameters, XML, error
// codes and timeouts. Only the socket is missing. Virtual time stands still while the SDK works.
import { Readable } from 'node:stream';
import { AwsApi } from '../../src/providers/aws/aws-api.ts';
import { CallError, type Sending } from '../../src/providers/gate/cloud-call.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import type { Ec2Gateway } from '../../src/simulator/ec2/ec2-gateway.ts';
import type { OnCall } from '../support/in-process-ec2.ts';
import { answerEc2 } from '../../src/simulator/ec2/ec2-http.ts';
import type { HttpAnswer } from '../../src/simulator/http-front.ts';

/** A request of the SDK. */
interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
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

export class WireEc2 implements Ec2Api {
  readonly #clock: VirtualClock;
  readonly #gateway: Ec2Gateway;
  readonly #api: AwsApi;
  readonly #onCall: OnCall;
  /** By the signal that accompanies a call. */
  readonly #inFlight = new Map<AbortSignal, CallInFlight>();
  readonly #preparing = new Line();
  readonly #reading = new Line();
  #requests = 0;

  constructor(gateway: Ec2Gateway, clock: VirtualClock, onCall: OnCall) {
    this.#gateway = gateway;
    this.#clock = clock;
    this.#onCall = onCall;
    const [credential] = gateway.credentials;
    process.env['AWS_ACCESS_KEY_ID'] = credential?.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = credential?.secretAccessKey;
    const handler = {
      handle: (request: WireRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) =>
        this.#handle(request, abortSignal),
    };
    this.#api = new AwsApi({
      region: gateway.network.region,
      endpoint: 'http://ec2.simulation',
      connections: 1000,
      clock: systemClock,
      connectionTimeout: 1000,
      proxyFor: () => undefined,
      onRoute: () => undefined,
      handler,
    });
  }

  async send<A extends Ec2Action>(action: A, input: Ec2Input<A>, sending: Sending): Promise<Ec2Output<A>> {
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
      const output = await this.#api.send(action, input, { ...sending, onSend });
      this.#onCall(action, input, 'OK', output);
      return output;
    } catch (error) {
      if (isSent) this.#onCall(action, input, error instanceof CallError ? error.code : 'Error');
      throw error;
    } finally {
      sending.signal.removeEventListener('abort', giveUp);
      this.#inFlight.delete(sending.signal);
      call.leave();
      call.release();
    }
  }

  async #handle(
    { method, path, headers, body }: WireRequest,
    signal: AbortSignal | undefined,
  ): Promise<{ response: object }> {
    const call = signal && this.#inFlight.get(signal);
    call?.leave();
    call?.release();
    const request = { method, url: path, headers, body: textOf(body) };
    const requestId = `request-${this.#requests++}`;
    const context = { gateway: this.#gateway, now: systemClock.wall(), requestId };
    const outcome = await Promise.race([answerEc2(request, context), abandoned(signal)]);
    if (outcome.kind === 'hang') return abandoned(signal);
    if (call !== undefined && signal?.aborted === false) {
      call.release = this.#clock.hold();
      const leave = await this.#reading.enter();
      // The call may have been aborted meanwhile.
      if (this.#inFlight.get(signal) === call) call.leave = leave;
      else leave();
    }
    if (outcome.kind === 'drop') throw connectionReset();
    return { response: responseOf(outcome) };
  }
}

function responseOf({ status, headers, body, cutAt }: HttpAnswer): object {
  const whole = Buffer.from(body);
  const pieces = cutAt === undefined ? Readable.from([whole], { objectMode: false }) : cut(whole, cutAt);
  return { statusCode: status, headers, body: pieces };
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

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}
