// The gate in front of EC2. Every call passes it: immediately before sending it checks lease and permission
// again, then applies a timeout and records the call. EC2's answers adjust the rate limiter.
import { type Clock } from '../../runtime/clock.ts';
import type { CallContext } from '../contract/allocation-implementation.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { ConcurrencyLimiter } from '../rate-limit/concurrency-limit.ts';
import type { Priority } from '../contract/priority.ts';
import { fencedTimeoutOf } from '../contract/call-timing.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { DeniedActions } from '../gate/denied-actions.ts';
import { type MutationPermission, pauseWords } from '../gate/mutation-permission.ts';
import {
  type Ec2Action,
  type Ec2Api,
  Ec2CallError,
  type Ec2Input,
  type Ec2Output,
  type ListInput,
  type Sending,
} from './ec2-api.ts';
import { failureOf } from './errors.ts';

export interface Ec2ClientOptions {
  readonly api: Ec2Api;
  readonly rateLimiter: RateLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly clock: Clock;
  /** How long to wait for an answer, in ms. Calls that take something away have their own limit. */
  readonly timeout: number;
  /** Whether this process leads at this moment. A process that does not lead changes nothing. */
  readonly leads: () => boolean;
  /** Whether a call that takes something away and may last `ms` can still end within our own lease, and no watch is silent. */
  readonly isInSafeLeaseWindow: (ms: number) => boolean;
  readonly permission: Pick<MutationPermission, 'refusal' | 'refusalToGoOn'>;
  readonly onCall: (call: FinishedCall) => void;
  /** Called if calls of these actions had to wait for the rate limits, with the time in ms. */
  readonly onWait: (actions: readonly Ec2Action[], ms: number) => void;
}

export interface FinishedCall {
  readonly action: Ec2Action;
  /** Undefined if the call succeeded. */
  readonly failure: CloudFailure | undefined;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** From sending to the answer, in ms. */
  readonly duration: number;
}

export type WriteResult<A extends Ec2Action> =
  | { readonly kind: 'answered'; readonly output: Ec2Output<A> }
  | { readonly kind: 'failed'; readonly failure: CloudFailure }
  | { readonly kind: 'ambiguous'; readonly failure: CloudFailure };

/** Actions that take something away. */
const fenced: ReadonlySet<Ec2Action> = new Set([
  'UnassignPrivateIpAddresses',
  'DetachNetworkInterface',
  'DeleteNetworkInterface',
]);

/**
 * Actions that no address waits for, each with what a call of it changes. Denials of other actions are not remembered
 * here: plans of allocations avoid what was refused.
 */
const housekeeping: { readonly [A in Ec2Action]?: (input: Ec2Input<A>) => string } = {
  UnassignPrivateIpAddresses: ({ NetworkInterfaceId }) => NetworkInterfaceId,
  DetachNetworkInterface: ({ AttachmentId }) => AttachmentId,
  DeleteNetworkInterface: ({ NetworkInterfaceId }) => NetworkInterfaceId,
  ModifyNetworkInterfaceAttribute: ({ NetworkInterfaceId }) => NetworkInterfaceId,
  AssociateAddress: ({ NetworkInterfaceId }) => NetworkInterfaceId,
};

export type ReadAction = {
  [A in Ec2Action]: Ec2Input<A> extends ListInput ? (A extends `Describe${string}` ? A : never) : never;
}[Ec2Action];

export class Ec2Client {
  readonly #options: Ec2ClientOptions;
  readonly #denied: DeniedActions;
  #inFlight = 0;

  constructor(options: Ec2ClientOptions) {
    this.#options = options;
    this.#denied = new DeniedActions(options.clock);
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Waits until the rate limits admit one call of each action together. The returned function refunds the tokens. */
  async admit(
    actions: readonly Ec2Action[],
    context: CallContext,
  ): Promise<(unsent?: readonly Ec2Action[]) => void> {
    const { rateLimiter, clock, onWait } = this.#options;
    const since = clock.monotonic();
    const refund = await rateLimiter.tokens(actions, context);
    const waited = clock.monotonic() - since;
    if (waited >= 1) onWait(actions, waited);
    return refund;
  }

  reconsider(): void {
    this.#options.rateLimiter.reconsider();
    this.#options.concurrency.reconsider();
  }

  /** Expected wait for the rate limits for one call of each action, in ms. */
  expectedWait(actions: readonly Ec2Action[], priority: Priority): number {
    return this.#options.rateLimiter.expectedWait(actions, priority);
  }

  /** Reads page by page. Rejects with a CloudError. `startedAt` is when the page was requested, in monotonic ms. */
  async *pages<A extends ReadAction>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): AsyncGenerator<{ startedAt: number; output: Ec2Output<A> }> {
    const met = new Set<string>();
    let token: string | undefined;
    do {
      await this.admit([action], context);
      const asked = token === undefined ? input : { ...input, NextToken: token };
      const { startedAt, output } = await this.#send(action, asked, context).catch((error: unknown) => {
        throw error instanceof Ec2CallError
          ? new CloudError(failureOf(action, error), { cause: error })
          : error;
      });
      yield { startedAt, output };
      const { NextToken: next = '' } = output as ListInput;
      if (met.has(next)) throw endless(action);
      met.add(next);
      token = next === '' ? undefined : next;
    } while (token !== undefined);
  }

  /** Sends a mutating call once. A housekeeping call whose denial is known is not sent: the denial is its answer. */
  async write<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): Promise<WriteResult<A>> {
    const changedBy = housekeeping[action];
    if (changedBy === undefined) return this.#write(action, input, context);
    const attempt = this.#denied.try(action, changedBy(input));
    if (attempt.known !== undefined) {
      this.#options.rateLimiter.refund([action]);
      return { kind: 'failed', failure: attempt.known };
    }
    try {
      const result = await this.#write(action, input, context);
      if (result.kind === 'answered') attempt.granted();
      else attempt.failed(result.failure);
      return result;
    } finally {
      attempt.end();
    }
  }

  async #write<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): Promise<WriteResult<A>> {
    try {
      const { output } = await this.#send(action, input, context);
      return { kind: 'answered', output };
    } catch (error) {
      if (!(error instanceof Ec2CallError)) throw error;
      const failure = failureOf(action, error);
      return { kind: error.result === 'noAnswer' ? 'ambiguous' : 'failed', failure };
    }
  }

  async #send<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): Promise<{ startedAt: number; output: Ec2Output<A> }> {
    const call = this.#begin(action, context);
    try {
      context.signal.throwIfAborted();
      const output = await this.#sendInPlace(action, input, { call, context });
      if (call.sentAt === undefined) throw new Error(`${action} was answered and never sent`);
      this.#report(action, call.sentAt, undefined);
      return { startedAt: call.sentAt, output };
    } catch (error) {
      // A call that was never sent used no rate limit of the cloud.
      const isUnsent = call.sentAt === undefined || wasNotSent(error);
      if (isUnsent) this.#options.rateLimiter.refund([action]);
      if (call.sentAt === undefined && context.signal.aborted) throw context.signal.reason;
      const known = this.#errorOf(action, { call, context, error });
      if (known instanceof Ec2CallError) this.#report(action, call.sentAt, known);
      throw known;
    } finally {
      call.end();
    }
  }

  #errorOf(
    action: Ec2Action,
    { call, context, error }: { call: StartedCall; context: CallContext; error: unknown },
  ): unknown {
    if (!call.sending.signal.aborted || wasNotSent(error)) return error;
    const how = { isSent: call.sentAt !== undefined, ended: context.signal.aborted };
    return givenUp(action, how, { timeout: this.#timeoutOf(action), cause: error });
  }

  /** Holds no slot while waiting for a token: a call that finds its own token void leaves its slot again. */
  async #sendInPlace<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    { call, context }: { readonly call: StartedCall; readonly context: CallContext },
  ): Promise<Ec2Output<A>> {
    const { api, rateLimiter, concurrency, clock, onWait } = this.#options;
    const request = { ...context, signal: call.sending.signal };
    const send = async (): Promise<Ec2Output<A>> => {
      // Credentials may arrive late.
      call.wait();
      try {
        const output = await api.send(action, input, call.sending);
        this.#learn(action, call.sentAt, undefined);
        return output;
      } catch (error) {
        if (error instanceof Ec2CallError) this.#learn(action, call.sentAt, error);
        throw error;
      }
    };
    const sendUnlessVoid = (): Promise<Ec2Output<A> | undefined> =>
      rateLimiter.isVoid(action) ? Promise.resolve(undefined) : send();
    const output = await concurrency.run(request, sendUnlessVoid);
    if (output !== undefined) return output;
    const since = clock.monotonic();
    await rateLimiter.renew(action, request);
    onWait([action], clock.monotonic() - since);
    return concurrency.run(request, send);
  }

  /** The gate comes after every wait: what was true before a wait may have changed. */
  #begin(action: Ec2Action, context: CallContext): StartedCall {
    const { clock } = this.#options;
    const timeout = this.#timeoutOf(action);
    const giveUp = new AbortController();
    const stopWaiting = (): void => giveUp.abort();
    context.signal.addEventListener('abort', stopWaiting, { once: true });
    let cancel = (): void => undefined;
    const wait = (): void => {
      cancel();
      cancel = clock.schedule(timeout, stopWaiting);
    };
    const onSend = (): void => {
      if (!isRead(action)) {
        this.#passPermission(action, context.inFlight === true);
        this.#passFence(action, timeout);
      }
      call.sentAt = clock.monotonic();
      this.#options.rateLimiter.sent(action);
      wait();
      this.#inFlight++;
    };
    const onConnected = (): void => {
      if (!isRead(action)) this.#passFence(action, timeout);
    };
    const call: StartedCall = {
      sentAt: undefined,
      wait,
      sending: { signal: giveUp.signal, onSend, onConnected },
      end: () => {
        cancel();
        context.signal.removeEventListener('abort', stopWaiting);
        if (call.sentAt !== undefined) this.#inFlight--;
      },
    };
    return call;
  }

  #timeoutOf(action: Ec2Action): number {
    const { timeout } = this.#options;
    return fenced.has(action) ? fencedTimeoutOf(timeout) : timeout;
  }

  #passPermission(action: Ec2Action, isStarted: boolean): void {
    const { permission } = this.#options;
    const activity = fenced.has(action) ? 'release' : 'allocate';
    const reason = isStarted ? permission.refusalToGoOn(activity) : permission.refusal(activity);
    if (reason !== undefined) throw notSent(action, 'Stopped', pauseWords[reason]);
  }

  #passFence(action: Ec2Action, timeout: number): void {
    const { leads, isInSafeLeaseWindow } = this.#options;
    if (!leads()) throw notSent(action, 'Fenced', 'another process may lead by now');
    if (fenced.has(action) && !isInSafeLeaseWindow(timeout)) {
      const why =
        'our lease ends too soon or began too recently, or a watch is silent, to take anything away';
      throw notSent(action, 'Fenced', why);
    }
  }

  /** Runs before the call leaves its slot, so the next call in it uses the new limits. */
  #learn(action: Ec2Action, sentAt: number | undefined, error: Ec2CallError | undefined): void {
    if (sentAt === undefined || (error !== undefined && error.status === undefined)) return;
    const throttled = error !== undefined && failureOf(action, error).kind === 'throttled';
    this.#options.rateLimiter.answered({ action, sentAt, throttled, retryAfter: error?.retryAfter });
  }

  #report(action: Ec2Action, sentAt: number | undefined, error: Ec2CallError | undefined): void {
    const { clock, onCall } = this.#options;
    const now = clock.monotonic();
    const failure = error === undefined ? undefined : failureOf(action, error);
    const status = error === undefined ? 200 : error.status;
    onCall({ action, failure, status, duration: now - (sentAt ?? now) });
  }
}

function wasNotSent(error: unknown): boolean {
  return error instanceof Ec2CallError && error.result === 'notSent';
}

function isRead(action: Ec2Action): boolean {
  return action.startsWith('Describe');
}

function notSent(action: Ec2Action, code: string, why: string): Ec2CallError {
  return new Ec2CallError({ result: 'notSent', code, message: `${action} was not sent: ${why}` });
}

interface StartedCall {
  /** Starts the timeout of the call. */
  readonly wait: () => void;
  /** In monotonic ms; undefined until it is sent. */
  sentAt: number | undefined;
  readonly sending: Sending;
  readonly end: () => void;
}

/** The error for an answer that lacks what it must contain. */
export function unreadable(action: Ec2Action, problem: string): CloudError {
  return new CloudError({
    kind: 'unreadable',
    action,
    code: 'UnreadableAnswer',
    message: problem,
    requestId: undefined,
  });
}

/** Each page is valid, but the listing never ends. Reading on costs calls, so it backs off like any other failure. */
function endless(action: Ec2Action): CloudError {
  const message = 'the same page token came twice';
  return new CloudError({ kind: 'unknown', action, code: 'EndlessPages', message, requestId: undefined });
}

/** The error for an answer that came too late, or that has no caller left because of a shutdown. */
function givenUp(
  action: Ec2Action,
  { isSent, ended }: { readonly isSent: boolean; readonly ended: boolean },
  { timeout, cause }: { readonly timeout: number; readonly cause: unknown },
): Ec2CallError {
  const code = ended ? 'Ended' : 'Timeout';
  if (!isSent) {
    const why = ended ? 'Headwater is shutting down' : `there were no credentials within ${timeout / 1000} s`;
    return new Ec2CallError(
      { result: 'notSent', code, message: `${action} was not sent: ${why}` },
      { cause },
    );
  }
  const message = ended
    ? `no answer to ${action} before Headwater shut down`
    : `no answer to ${action} within ${timeout / 1000} s`;
  return new Ec2CallError({ result: 'noAnswer', code, message }, { cause });
}
