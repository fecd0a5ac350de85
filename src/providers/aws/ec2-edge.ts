// The gate in front of EC2. Every call passes here: it is checked once more against our lease and what may be done at all
// immediately before it is sent, gets a time-out, and is accounted for; what EC2 answers teaches the call budget.
import { type Clock } from '../../scheduling/clock.ts';
import type { CallContext } from '../allocation-implementation.ts';
import type { CallBudget } from '../call-budget.ts';
import type { InFlight } from '../in-flight.ts';
import type { Urgency } from '../urgency.ts';
import { CloudError, type CloudFailure } from '../cloud-failure.ts';
import { fencedTimeoutOf } from '../fenced-timeout.ts';
import { type MutationPermission, stopWords } from '../mutation-permission.ts';
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

export interface Ec2EdgeOptions {
  readonly api: Ec2Api;
  readonly budget: CallBudget;
  readonly places: InFlight;
  readonly clock: Clock;
  /** How long an answer is waited for, in ms; calls that take something away have a limit of their own. */
  readonly timeout: number;
  /** Whether this process leads at this very moment: who does not changes nothing. */
  readonly leads: () => boolean;
  /** Whether a call that takes something away and may last `ms` can still end within our own lease. */
  readonly mayTakeAway: (ms: number) => boolean;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly onCall: (call: FinishedCall) => void;
  /** Told how long calls of these actions waited for the rate limits, in ms, if they had to. */
  readonly onWait: (actions: readonly Ec2Action[], ms: number) => void;
}

export interface FinishedCall {
  readonly action: Ec2Action;
  /** Undefined when the call succeeded. */
  readonly failure: CloudFailure | undefined;
  /** Of HTTP; undefined without an answer. */
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

export type ReadAction = {
  [A in Ec2Action]: Ec2Input<A> extends ListInput ? (A extends `Describe${string}` ? A : never) : never;
}[Ec2Action];

export class Ec2Edge {
  readonly #options: Ec2EdgeOptions;
  #inFlight = 0;

  constructor(options: Ec2EdgeOptions) {
    this.#options = options;
  }

  /** Requests sent and not answered yet. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Waits until the rate limits allow one call of each action, taken together; the result gives them back. */
  async admit(
    actions: readonly Ec2Action[],
    context: CallContext,
  ): Promise<(unsent?: readonly Ec2Action[]) => void> {
    const { budget, clock, onWait } = this.#options;
    const since = clock.monotonic();
    const giveBack = await budget.tokens(actions, context);
    const waited = clock.monotonic() - since;
    if (waited >= 1) onWait(actions, waited);
    return giveBack;
  }

  reconsider(): void {
    this.#options.budget.reconsider();
    this.#options.places.reconsider();
  }

  /** About how long one call of each action would wait for the rate limits, in ms. */
  expectedWait(actions: readonly Ec2Action[], urgency: Urgency): number {
    return this.#options.budget.expectedWait(actions, urgency);
  }

  /** Reads page after page. Rejects with a CloudError. `begunAt` is when the page was asked for, in monotonic ms. */
  async *pages<A extends ReadAction>(
    action: A,
    input: Ec2Input<A>,
    context: CallContext,
  ): AsyncGenerator<{ begunAt: number; output: Ec2Output<A> }> {
    const met = new Set<string>();
    let token: string | undefined;
    do {
      await this.admit([action], context);
      const asked = token === undefined ? input : { ...input, NextToken: token };
      const { begunAt, output } = await this.#send(action, asked, context).catch((error: unknown) => {
        throw error instanceof Ec2CallError
          ? new CloudError(failureOf(action, error), { cause: error })
          : error;
      });
      yield { begunAt, output };
      const { NextToken: next = '' } = output as ListInput;
      if (met.has(next)) throw unreadable(action, 'the same page token came twice');
      met.add(next);
      token = next === '' ? undefined : next;
    } while (token !== undefined);
  }

  /** Sends a call that changes something, once. */
  async write<A extends Ec2Action>(
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
  ): Promise<{ begunAt: number; output: Ec2Output<A> }> {
    const call = this.#begin(action, context);
    try {
      context.signal.throwIfAborted();
      const output = await this.#sendInPlace(action, input, { call, context });
      if (call.sentAt === undefined) throw new Error(`${action} was answered and never sent`);
      this.#report(action, call.sentAt, undefined);
      return { begunAt: call.sentAt, output };
    } catch (error) {
      // What was never sent took nothing of the cloud's rate limits.
      const isUnsent = call.sentAt === undefined || wasNotSent(error);
      if (isUnsent) this.#options.budget.giveBack([action]);
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
    { call, context, error }: { call: BegunCall; context: CallContext; error: unknown },
  ): unknown {
    if (!call.sending.signal.aborted || wasNotSent(error)) return error;
    const how = { isSent: call.sentAt !== undefined, ended: context.signal.aborted };
    return givenUp(action, how, { timeout: this.#timeoutOf(action), cause: error });
  }

  /** No place is held while a token is waited for: who finds its own void leaves its place again. */
  async #sendInPlace<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    { call, context }: { readonly call: BegunCall; readonly context: CallContext },
  ): Promise<Ec2Output<A>> {
    const { api, budget, places, clock, onWait } = this.#options;
    const request = { ...context, signal: call.sending.signal };
    const send = async (): Promise<Ec2Output<A>> => {
      // Credentials may be long in coming.
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
      budget.isVoid(action) ? Promise.resolve(undefined) : send();
    const output = await places.run(request, sendUnlessVoid);
    if (output !== undefined) return output;
    const since = clock.monotonic();
    await budget.renew(action, request);
    onWait([action], clock.monotonic() - since);
    return places.run(request, send);
  }

  /** The gate stands behind every wait: what was true before one need not be true any more. */
  #begin(action: Ec2Action, context: CallContext): BegunCall {
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
        if (context.begun !== true) this.#passPermission(action);
        this.#passFence(action, timeout);
      }
      call.sentAt = clock.monotonic();
      this.#options.budget.sent(action);
      wait();
      this.#inFlight++;
    };
    const onConnected = (): void => {
      if (!isRead(action)) this.#passFence(action, timeout);
    };
    const call: BegunCall = {
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

  #passPermission(action: Ec2Action): void {
    const reason = this.#options.permission.refusal(fenced.has(action) ? 'takeAway' : 'give');
    if (reason !== undefined) throw notSent(action, 'Stopped', stopWords[reason]);
  }

  #passFence(action: Ec2Action, timeout: number): void {
    const { leads, mayTakeAway } = this.#options;
    if (!leads()) throw notSent(action, 'Fenced', 'another process may lead by now');
    if (fenced.has(action) && !mayTakeAway(timeout)) {
      const why = 'our lease ends too soon, or began too recently, to take anything away';
      throw notSent(action, 'Fenced', why);
    }
  }

  /** Before the call leaves its place: whoever gets that is to know it. */
  #learn(action: Ec2Action, sentAt: number | undefined, error: Ec2CallError | undefined): void {
    if (sentAt === undefined || (error !== undefined && error.status === undefined)) return;
    const throttled = error !== undefined && failureOf(action, error).kind === 'throttled';
    this.#options.budget.answered({ action, sentAt, throttled, retryAfter: error?.retryAfter });
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

interface BegunCall {
  /** From now on it has the time that a call has. */
  readonly wait: () => void;
  /** In monotonic ms; undefined until it is sent. */
  sentAt: number | undefined;
  readonly sending: Sending;
  readonly end: () => void;
}

/** An answer that came and does not hold what it must. */
export function unreadable(action: Ec2Action, problem: string): CloudError {
  return new CloudError({
    kind: 'unreadable',
    action,
    code: 'UnreadableAnswer',
    message: problem,
    requestId: undefined,
  });
}

/** Nobody waits for the answer any more: it took too long, or whoever asked was told to end. */
function givenUp(
  action: Ec2Action,
  { isSent, ended }: { readonly isSent: boolean; readonly ended: boolean },
  { timeout, cause }: { readonly timeout: number; readonly cause: unknown },
): Ec2CallError {
  const code = ended ? 'Ended' : 'Timeout';
  if (!isSent) {
    const why = ended ? 'Headwater is ending' : `there were no credentials within ${timeout / 1000} s`;
    return new Ec2CallError(
      { result: 'notSent', code, message: `${action} was not sent: ${why}` },
      { cause },
    );
  }
  const message = ended
    ? `the answer to ${action} was not waited for: Headwater is ending`
    : `no answer to ${action} within ${timeout / 1000} s`;
  return new Ec2CallError({ result: 'noAnswer', code, message }, { cause });
}
