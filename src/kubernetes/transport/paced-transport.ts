// Holds requests back to a rate, for whoever wants the API server spared. The start of a watch counts as one request.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { KubernetesTransport, StreamAnswer, TransportAnswer, TransportRequest } from './transport.ts';

export interface Pace {
  /** Requests a second in the long run. */
  readonly perSecond: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

export class PacedTransport implements KubernetesTransport {
  readonly #inner: KubernetesTransport;
  readonly #clock: Clock;
  /** Ms that one request costs. */
  readonly #cost: number;
  readonly #allowance: number;
  /** When the bucket is full again, in monotonic ms, if nothing more is sent. */
  #fullAt = -Infinity;

  constructor(inner: KubernetesTransport, clock: Clock, { perSecond, burst }: Pace) {
    this.#inner = inner;
    this.#clock = clock;
    this.#cost = 1000 / perSecond;
    this.#allowance = burst * this.#cost;
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    await this.#turn(signal);
    return this.#inner.send(request, signal);
  }

  async stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer> {
    await this.#turn(signal);
    return this.#inner.stream(request, signal);
  }

  /** In the order of calls. */
  async #turn(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    this.#fullAt = Math.max(this.#fullAt, now) + this.#cost;
    const wait = this.#fullAt - this.#allowance - now;
    if (wait > 0) await sleep(this.#clock, wait, signal);
  }
}
