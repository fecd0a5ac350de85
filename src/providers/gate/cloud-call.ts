// A call to a cloud, as the gate sees it, and how it may end.
import type { CloudFailureKind } from '../contract/cloud-failure.ts';
import type { LimitedCall, LimitKey } from '../rate-limit/limit-key.ts';

export type CallEffect =
  | 'reads'
  /** Gives a node something. */
  | 'adds'
  /** Unassigns, detaches or deletes. It is sent only if it can end within our own lease. */
  | 'takesAway';

export interface CloudCall extends LimitedCall {
  /** The cloud's name for it: in metrics, logs and failures. */
  readonly name: string;
  readonly effect: CallEffect;
  /**
   * Set for calls that no address waits for: what the call changes. Their denials are remembered here. Plans of
   * allocations avoid what was refused, so the denials of other calls are not.
   */
  readonly housekeepingOf?: string;
}

/** How a cloud's client reports the sending of one request. */
export interface Sending {
  /** Ends the wait for the answer. */
  readonly signal: AbortSignal;
  /** Called immediately before the request leaves. If it throws, the request does not leave. */
  readonly onSend: () => void;
  /** Called once there is a connection; nothing waits after that. If it throws, the request does not leave. */
  readonly onConnected?: () => void;
}

/** Why a call ended without a usable answer. */
export type CallResult =
  /** The cloud refused; nothing happened. */
  | 'refused'
  /** The request never left. */
  | 'notSent'
  /** The call was sent, and no answer says whether it took effect. */
  | 'noAnswer';

/** Codes of ours, for calls that are not sent and for answers that cannot be parsed. */
export const ownCodes = {
  UnreadableAnswer: 'unreadable',
  Fenced: 'fenced',
  Stopped: 'stopped',
} as const satisfies Readonly<Record<string, CloudFailureKind>>;

/** The details of a denial in an answer, beside its message. */
export interface Denial {
  /** The missing permission. */
  readonly permission: string | undefined;
  /** The kind of the policy that denies it. */
  readonly policy: string | undefined;
  /** Whether that policy denies it explicitly; else none allows it. */
  readonly isExplicit: boolean;
  /** The part that only the cloud can decode. */
  readonly encoded: string | undefined;
}

export class CallError extends Error {
  readonly result: CallResult;
  /** The cloud's code, or a client code for a request that never reached it. */
  readonly code: string;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The back-off that the cloud asks for, in ms; undefined if it asks for none. */
  readonly retryAfter: number | undefined;
  /** The limit that throttled the call, if the answer says so. */
  readonly limit: LimitKey | undefined;
  /** Undefined if the answer says nothing beside its message. */
  readonly denial: Denial | undefined;

  constructor(
    what: Pick<CallError, 'result' | 'code' | 'message'> &
      Partial<Pick<CallError, 'status' | 'requestId' | 'retryAfter' | 'limit' | 'denial'>>,
    options?: ErrorOptions,
  ) {
    super(what.message, options);
    this.name = 'CallError';
    this.result = what.result;
    this.code = what.code;
    this.status = what.status;
    this.requestId = what.requestId;
    this.retryAfter = what.retryAfter;
    this.limit = what.limit;
    this.denial = what.denial;
  }
}

/** Converts errors of Node.js to ours. `mayHaveLeft`: whether the request may have arrived. */
export function callErrorOf(error: unknown, mayHaveLeft: boolean): CallError {
  if (error instanceof CallError) return error;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return new CallError(
    {
      result: mayHaveLeft ? 'noAnswer' : 'notSent',
      code: typeof code === 'string' ? code : 'NoAnswer',
      message: messageOf(error),
    },
    { cause: error },
  );
}

export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : String(error);
}
