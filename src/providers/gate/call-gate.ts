// The gate in front of a cloud. Every call passes it: immediately before sending it checks lease and permission again,
// then applies a timeout and records the call. The cloud's answers adjust the rate limiter.
import type { Clock } from '../../runtime/clock.ts';
import { settledSoonAfterAbort } from '../../runtime/race-abort.ts';
import type { CallContext } from '../contract/cloud.ts';
import { fencedTimeoutOf } from '../contract/operations.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { ConcurrencyLimiter } from '../rate-limit/concurrency-limiter.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import { CallError, type CloudCall, type Sending } from './cloud-call.ts';
import { answeredChange, type AnswerReading, type ChangeEnd, type ChangeListener } from './settled-change.ts';
import { DeniedActions } from './denied-actions.ts';
import { type MutationPermission, pauseWords } from './mutation-permission.ts';

export interface CallGateOptions {
  readonly rateLimiter: RateLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly clock: Clock;
  /** How long to wait for an answer, in ms. Calls that take something away have their own limit. */
  readonly timeout: number;
  readonly fence: LeaseFence;
  readonly permission: Pick<MutationPermission, 'refusal' | 'refusalToGoOn'>;
  /** Reads the cloud's codes. Client codes of the gate are Stopped, Fenced, Ended and Timeout. */
  readonly failureOf: (call: CloudCall, error: CallError) => CloudFailure;
  readonly listener: CallListener;
}

/** The lease of this process, as changes meet it right before they are sent. */
export interface LeaseFence {
  /** Whether this process leads at this moment. A process that does not lead changes nothing. */
  readonly leads: () => boolean;
  /** Whether a call that takes something away and may last `ms` can still end within our own lease, and no watch is silent. */
  readonly isInSafeLeaseWindow: (ms: number) => boolean;
}

export interface CallListener {
  readonly onCall: (call: FinishedCall) => void;
  /** Called if these calls had to wait for the rate limits, with the time in ms. */
  readonly onWait: (calls: readonly CloudCall[], ms: number) => void;
  readonly audit?: ChangeListener | undefined;
}

export interface FinishedCall {
  readonly action: string;
  /** Undefined if the call succeeded. */
  readonly failure: CloudFailure | undefined;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** From sending to the answer, in ms. */
  readonly duration: number;
}

export type WriteResult<T> =
  | { readonly kind: 'answered'; readonly output: T }
  | { readonly kind: 'failed'; readonly failure: CloudFailure }
  | { readonly kind: 'ambiguous'; readonly failure: CloudFailure };

/** A change that the cloud goes on with. */
export interface Followed<T> {
  readonly followed: Promise<T>;
  read(end: T): ChangeEnd;
}

type NotAnswered = Exclude<WriteResult<never>, { readonly kind: 'answered' }>;

export interface ReadResult<T> {
  /** When the request was sent, in monotonic ms. */
  readonly startedAt: number;
  readonly output: T;
}

/**
 * Sends one request and parses its answer. It neither retries nor waits for rate limits. Rejects with a CallError, or
 * with what `onSend` threw.
 */
export type Send<T> = (sending: Sending) => Promise<T>;

/** How long after its end a request that does not settle still holds its slot, in ms. */
const abandonedAfter = 1000;

/** The result of a call that left its slot again: its token was void. */
const noToken = Symbol('no token');

export class CallGate {
  readonly #options: CallGateOptions;
  readonly #denied: DeniedActions;
  /** The limits that calls spend from. */
  readonly limits: Pick<RateLimiter, 'expectedWait' | 'limitsOf' | 'refund' | 'remaining'>;
  #inFlight = 0;

  constructor(options: CallGateOptions) {
    this.#options = options;
    this.#denied = new DeniedActions(options.clock);
    this.limits = options.rateLimiter;
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Waits until the rate limits admit these calls together. The returned function refunds the tokens. */
  async admit(
    calls: readonly CloudCall[],
    context: CallContext,
  ): Promise<(unsent?: readonly CloudCall[]) => void> {
    const { rateLimiter, clock, listener } = this.#options;
    const since = clock.monotonic();
    const refund = await rateLimiter.tokens(calls, context);
    const waited = clock.monotonic() - since;
    if (waited >= 1) listener.onWait(calls, waited);
    return refund;
  }

  reconsider(): void {
    this.#options.rateLimiter.reconsider();
    this.#options.concurrency.reconsider();
  }

  /** Waits for the rate limits and reads. Rejects with a CloudError. */
  async read<T>(call: CloudCall, context: CallContext, send: Send<T>): Promise<ReadResult<T>> {
    await this.admit([call], context);
    return this.#send(call, context, send);
  }

  /**
   * Sends an admitted call once. A housekeeping call whose denial is known is not sent: the denial is its answer.
   */
  async write<T>(
    call: CloudCall,
    context: CallContext,
    send: Send<T>,
    reading?: AnswerReading<T>,
  ): Promise<WriteResult<T>> {
    const { name, housekeepingOf } = call;
    const attempt =
      housekeepingOf === undefined ? undefined : this.#denied.beginAttempt(name, housekeepingOf);
    if (attempt?.known !== undefined) {
      this.#options.rateLimiter.refund([call]);
      return { kind: 'failed', failure: attempt.known };
    }
    try {
      const { output } = await this.#send(call, context, send);
      attempt?.granted();
      this.#options.listener.audit?.changed(answeredChange(call, context, output, reading));
      return { kind: 'answered', output };
    } catch (error) {
      if (!isOfCall(error)) throw error;
      attempt?.failed(error.failure);
      return this.#failed(call, context, error);
    } finally {
      attempt?.end();
    }
  }

  #failed(call: CloudCall, context: CallContext, { cause, failure }: FailedCall): NotAnswered {
    const end = { kind: cause.result === 'noAnswer' ? 'ambiguous' : 'failed', failure } as const;
    if (cause.result !== 'notSent') this.#options.listener.audit?.changed({ call, context, end });
    return end;
  }

  /** Reports how a change ends that the cloud had accepted. */
  ended(context: CallContext, end: ChangeEnd): void {
    this.#options.listener.audit?.changed({ context, end });
  }

  /** Reports the end of a change that the cloud had accepted. A wait for it that is given up leaves it unclear. */
  async reportEnd<T>(context: CallContext, action: string, end: Followed<T>): Promise<T> {
    try {
      const ended = await end.followed;
      this.ended(context, end.read(ended));
      return ended;
    } catch (error) {
      this.ended(context, { kind: 'ambiguous', failure: notFollowed(action) });
      throw error;
    }
  }

  /** Rejects with the CloudError of a failed call. */
  async #send<T>(call: CloudCall, context: CallContext, send: Send<T>): Promise<ReadResult<T>> {
    const started = this.#beginCall(call, context);
    try {
      context.signal.throwIfAborted();
      const output = await this.#sendInPlace({ call, started, context }, send);
      if (started.sentAt === undefined) throw new Error(`${call.name} was answered and never sent`);
      this.#report(call, started.sentAt, undefined);
      return { startedAt: started.sentAt, output };
    } catch (error) {
      // A call that was never sent used no rate limit of the cloud.
      if (started.sentAt === undefined) this.#options.rateLimiter.refund([call]);
      else if (wasNotSent(error)) this.#options.rateLimiter.notReached(call);
      if (started.sentAt === undefined && context.signal.aborted) throw context.signal.reason;
      const known = this.#errorOf({ call, started, context }, error);
      if (isOfCall(known)) this.#report(call, started.sentAt, known);
      throw known;
    } finally {
      started.end();
    }
  }

  #errorOf({ call, started, context }: Passing, error: unknown): unknown {
    if (!started.sending.signal.aborted || wasNotSent(error)) return error;
    const how = { isSent: started.sentAt !== undefined, ended: context.signal.aborted };
    return this.#classified(call, givenUp(call, how, { timeout: this.#timeoutOf(call), cause: error }));
  }

  /** A failure of the call by its kind. Other errors stay as they are. */
  #classified(call: CloudCall, error: unknown): unknown {
    if (!(error instanceof CallError)) return error;
    return new CloudError(this.#options.failureOf(call, error), { cause: error });
  }

  /** Holds no slot while waiting for a token: a call that finds its own token void leaves its slot again. */
  async #sendInPlace<T>({ call, started, context }: Passing, send: Send<T>): Promise<T> {
    const { rateLimiter, concurrency, clock, listener } = this.#options;
    const request = { ...context, signal: started.sending.signal };
    const sendNow = async (): Promise<T> => {
      // Credentials may arrive late.
      started.wait();
      try {
        const { signal } = started.sending;
        const output = await settledSoonAfterAbort(send(started.sending), {
          clock,
          signal,
          grace: abandonedAfter,
        });
        this.#learnLimits(call, started.sentAt, undefined);
        return output;
      } catch (error) {
        const known = this.#classified(call, error);
        if (isOfCall(known)) this.#learnLimits(call, started.sentAt, known);
        throw known;
      }
    };
    const sendUnlessVoid = (): Promise<T | typeof noToken> =>
      rateLimiter.isVoid(call) ? Promise.resolve(noToken) : sendNow();
    const output = await concurrency.run(request, sendUnlessVoid);
    if (output !== noToken) return output;
    const since = clock.monotonic();
    await rateLimiter.renew(call, request);
    listener.onWait([call], clock.monotonic() - since);
    return concurrency.run(request, sendNow);
  }

  /** The gate comes after every wait: what was true before a wait may have changed. */
  #beginCall(call: CloudCall, context: CallContext): StartedCall {
    const { clock } = this.#options;
    const timeout = this.#timeoutOf(call);
    const giveUp = new AbortController();
    const stopWaiting = (): void => giveUp.abort();
    context.signal.addEventListener('abort', stopWaiting, { once: true });
    let cancel: (() => void) | undefined;
    const wait = (): void => {
      cancel?.();
      cancel = clock.schedule(timeout, stopWaiting);
    };
    const onSend = (): void => {
      // The request may be about to leave late, after the call was given up.
      giveUp.signal.throwIfAborted();
      if (call.effect !== 'reads') {
        this.#passPermission(call, context.inFlight === true);
        this.#passFence(call, timeout);
      }
      started.sentAt = clock.monotonic();
      this.#options.rateLimiter.sent(call);
      wait();
      this.#inFlight++;
    };
    const onConnected = (): void => {
      giveUp.signal.throwIfAborted();
      if (call.effect !== 'reads') this.#passFence(call, timeout);
    };
    const started: StartedCall = {
      sentAt: undefined,
      wait,
      sending: { signal: giveUp.signal, onSend, onConnected },
      end: () => {
        cancel?.();
        context.signal.removeEventListener('abort', stopWaiting);
        if (started.sentAt !== undefined) this.#inFlight--;
      },
    };
    return started;
  }

  #timeoutOf({ effect }: CloudCall): number {
    const { timeout } = this.#options;
    return effect === 'takesAway' ? fencedTimeoutOf(timeout) : timeout;
  }

  #passPermission(call: CloudCall, isStarted: boolean): void {
    const { permission } = this.#options;
    const activity = call.effect === 'takesAway' ? 'release' : 'allocate';
    const reason = isStarted ? permission.refusalToGoOn(activity) : permission.refusal(activity);
    if (reason !== undefined) throw notSent(call, 'Stopped', pauseWords[reason]);
  }

  #passFence(call: CloudCall, timeout: number): void {
    const { leads, isInSafeLeaseWindow } = this.#options.fence;
    if (!leads()) throw notSent(call, 'Fenced', 'another process may lead by now');
    if (call.effect === 'takesAway' && !isInSafeLeaseWindow(timeout)) {
      const why =
        'our lease ends too soon or began too recently, or a watch is silent, to take anything away';
      throw notSent(call, 'Fenced', why);
    }
  }

  /** Runs before the call leaves its slot, so the next call in it uses the new limits. */
  #learnLimits(call: CloudCall, sentAt: number | undefined, error: FailedCall | undefined): void {
    const { status, limit, retryAfter } = error?.cause ?? answered;
    if (sentAt === undefined || status === undefined) return;
    const throttled = error?.failure.kind === 'throttled';
    this.#options.rateLimiter.answered({ call, sentAt, throttled, limit, retryAfter });
  }

  #report(call: CloudCall, sentAt: number | undefined, error: FailedCall | undefined): void {
    const { clock, listener } = this.#options;
    const now = clock.monotonic();
    const { status } = error?.cause ?? answered;
    listener.onCall({ action: call.name, failure: error?.failure, status, duration: now - (sentAt ?? now) });
  }
}

interface StartedCall {
  /** Starts the timeout of the call. */
  readonly wait: () => void;
  /** In monotonic ms; undefined until it is sent. */
  sentAt: number | undefined;
  readonly sending: Sending;
  readonly end: () => void;
}

/** A call on its way through the gate. */
interface Passing {
  readonly call: CloudCall;
  readonly started: StartedCall;
  readonly context: CallContext;
}

/** A classified failure of a call. */
type FailedCall = CloudError & { readonly cause: CallError };

const answered: Pick<CallError, 'status' | 'limit' | 'retryAfter'> = {
  status: 200,
  limit: undefined,
  retryAfter: undefined,
};

function isOfCall(error: unknown): error is FailedCall {
  return error instanceof CloudError && error.cause instanceof CallError;
}

function wasNotSent(error: unknown): boolean {
  return isOfCall(error) && error.cause.result === 'notSent';
}

function notSent({ name }: CloudCall, code: string, why: string): CallError {
  return new CallError({ result: 'notSent', code, message: `${name} was not sent: ${why}` });
}

/** The error for an answer that came too late, or that has no caller left because of a shutdown. */
function givenUp(
  { name }: CloudCall,
  { isSent, ended }: { readonly isSent: boolean; readonly ended: boolean },
  { timeout, cause }: { readonly timeout: number; readonly cause: unknown },
): CallError {
  const code = ended ? 'Ended' : 'Timeout';
  if (!isSent) {
    const why = ended ? 'Headwater is shutting down' : `there were no credentials within ${timeout / 1000} s`;
    return new CallError({ result: 'notSent', code, message: `${name} was not sent: ${why}` }, { cause });
  }
  const message = ended
    ? `no answer to ${name} before Headwater shut down`
    : `no answer to ${name} within ${timeout / 1000} s`;
  return new CallError({ result: 'noAnswer', code, message }, { cause });
}

function notFollowed(action: string): CloudFailure {
  const message = 'Headwater shut down before the cloud ended the change';
  return { kind: 'unknown', action, code: 'Ended', message, requestId: undefined };
}
