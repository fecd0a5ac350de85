// The way of every request into a cloud, whatever its protocol: authorise, throttle, accept, faults, delay, effect, and
// then the answer, unless a fault loses, delays or garbles it. It has no sockets; HTTP and in-process callers share it.
import { sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { CallCounters } from './call-counters.ts';
import type { Exchange } from './exchange.ts';
import { type Fault, Faults, type Garbling } from './faults.ts';
import { drawLatency, type LatencySettings } from './latency.ts';
import type { PacedClock } from './paced-clock.ts';

/** A request as far as every protocol has it. */
export interface Call {
  /** The action that is called, as faults and counters name it. */
  readonly name: string;
  /** The parameters that faults match. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The part of a protocol. It throws its refusals; a refusal has changed nothing. */
export interface Protocol<C extends Call, Output, Refusal extends Error> {
  /** Refuses a caller that may not do this, before anything is counted against a limit. */
  authorise(call: C): void;
  /** Takes what the call costs from the limits, or refuses. */
  limits(call: C): void;
  /** Validates the call and returns it as it is run. */
  accept(call: C): C;
  /** The effect, at one moment. `failure`: an accepted operation fails in the end. */
  run(call: C, failure: OperationFailure | undefined): Output;
  /** An accepted call that is never run. */
  abandon?(call: C): void;
  /** The refusal for a caller of a throttled call, or of one that meets an error. */
  refusalOfFault(fault: Extract<Fault, { kind: 'throttle' | 'error' }>, call: C): Refusal;
  /** A refusal that this protocol tells; undefined for a bug of the model. */
  refusalOf(error: unknown, call: C): Refusal | undefined;
  isThrottled(refusal: Refusal): boolean;
  /** An answer that is wrong in this way. */
  garble(form: Garbling, output: Output): Exchange<Output, Refusal>;
  /** The mean latency of a call in ms, and what the length of its answer adds. */
  meanLatency(name: string): number;
  lengthLatency(output: Output): number;
}

export type OperationFailure = Extract<Fault, { kind: 'failed' }>;

export interface FrontDoorOptions<C extends Call, Output, Refusal extends Error> {
  readonly protocol: Protocol<C, Output, Refusal>;
  readonly clock: PacedClock;
  readonly random: Random;
  readonly latency: LatencySettings;
}

const never = new AbortController().signal;
/** Share of the call's normal latency after which a refused call is answered. */
const refusalShare = 0.1;

export class FrontDoor<C extends Call, Output, Refusal extends Error> {
  readonly faults: Faults;
  readonly counters = new CallCounters();
  latency: LatencySettings;
  readonly #protocol: Protocol<C, Output, Refusal>;
  readonly #clock: PacedClock;
  readonly #latencies: Random;
  #acting: C | undefined;

  constructor({ protocol, clock, random, latency }: FrontDoorOptions<C, Output, Refusal>) {
    this.#protocol = protocol;
    this.#clock = clock;
    this.latency = latency;
    this.faults = new Faults(random.fork('faults'));
    this.#latencies = random.fork('latencies');
  }

  /** The call behind a change, for change listeners; undefined otherwise. */
  get acting(): C | undefined {
    return this.#acting;
  }

  /** Every outcome as a value; rejects only for a bug of the model. */
  async exchange(call: C): Promise<Exchange<Output, Refusal>> {
    this.counters.add(call.name, 'calls');
    try {
      const exchange = await this.#exchange(call);
      if (exchange.kind === 'lost' || exchange.kind === 'garbled') this.counters.add(call.name, 'lost');
      else {
        const { name: action, parameters } = call;
        this.counters.answered({ action, parameters, at: this.#clock.wall() });
      }
      return exchange;
    } catch (error) {
      const refusal = this.#protocol.refusalOf(error, call);
      if (refusal === undefined) throw error;
      this.counters.add(call.name, this.#protocol.isThrottled(refusal) ? 'throttled' : 'refused');
      return { kind: 'refused', refusal };
    }
  }

  async #exchange(call: C): Promise<Exchange<Output, Refusal>> {
    const mean = this.#protocol.meanLatency(call.name);
    const delay = drawLatency(mean, this.latency, this.#latencies);
    let admitted: { readonly call: C; readonly faults: readonly Fault[] };
    try {
      admitted = this.#admit(call);
    } catch (error) {
      await this.#wait(delay * refusalShare);
      throw error;
    }
    const before = delay * this.#latencies.next();
    await this.#wait(before + slowness(admitted.faults));
    return this.#perform(admitted.call, admitted.faults, delay - before);
  }

  #admit(call: C): { readonly call: C; readonly faults: readonly Fault[] } {
    this.#protocol.authorise(call);
    this.#protocol.limits(call);
    const accepted = this.#protocol.accept(call);
    const faults = this.faults.meet(accepted.name, accepted.parameters);
    for (const fault of faults) {
      if (fault.kind === 'throttle' || fault.kind === 'error') {
        this.#protocol.abandon?.(accepted);
        throw this.#protocol.refusalOfFault(fault, accepted);
      }
    }
    return { call: accepted, faults };
  }

  /** Applies the effect, then answers `rest` ms later, unless a fault interferes. */
  async #perform(call: C, faults: readonly Fault[], rest: number): Promise<Exchange<Output, Refusal>> {
    const fault = faults.find(({ kind }) => kind === 'lost' || kind === 'garbled');
    const failure = faults.find((each): each is OperationFailure => each.kind === 'failed');
    if (fault?.kind === 'lost' && fault.effect !== 'before') return this.#lose(fault, call);
    const output = this.#run(call, failure);
    await this.#wait(rest + this.#protocol.lengthLatency(output) * this.latency.scale);
    if (fault?.kind === 'lost') return { kind: 'lost', connection: fault.connection };
    if (fault?.kind === 'garbled') return this.#protocol.garble(fault.form, output);
    return { kind: 'answered', output };
  }

  #run(call: C, failure?: OperationFailure): Output {
    this.#acting = call;
    try {
      return this.#protocol.run(call, failure);
    } finally {
      this.#acting = undefined;
    }
  }

  /** Loses the answer before any effect; a late request takes effect after the caller gave up. */
  #lose(fault: Extract<Fault, { kind: 'lost' }>, call: C): Exchange<Output, Refusal> {
    if (fault.effect === 'late') {
      this.#clock.schedule(fault.delayMs, () => {
        try {
          this.#run(call);
        } catch (error) {
          // No client waits for this refusal.
          if (this.#protocol.refusalOf(error, call) === undefined) throw error;
          this.counters.add(call.name, 'refused');
        }
      });
    } else {
      this.#protocol.abandon?.(call);
    }
    return { kind: 'lost', connection: fault.effect === 'late' ? 'hang' : fault.connection };
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await sleep(this.#clock, ms, never);
  }
}

function slowness(faults: readonly Fault[]): number {
  return faults.reduce((ms, fault) => ms + (fault.kind === 'slow' ? fault.ms : 0), 0);
}
