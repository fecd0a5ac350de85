// A change in a cloud as the gate reports it: once its call has an answer, or none will come; and once more at the end of what
// the cloud goes on with after it accepted the call.
import type { CallContext } from '../contract/cloud.ts';
import type { Outcome } from '../contract/operations.ts';
import type { CloudCall } from './cloud-call.ts';

export interface ChangeListener {
  /** Learns of each change that was sent, once it has an answer or none will come. Does not throw. */
  changed(change: SettledChange): void;
}

export interface SettledChange {
  /** Undefined at the end of a change whose call has left the gate before. */
  readonly call?: CloudCall;
  readonly context: CallContext;
  /** `accepted`: the cloud works on. */
  readonly end: 'accepted' | ChangeEnd;
  /** The cloud's name for the call; a failure has its own. */
  readonly requestId?: string | undefined;
}

export type ChangeEnd =
  | Outcome
  /** Where the answer has no names for it: the addresses that were added, if any. */
  | { readonly kind: 'done'; readonly addresses: readonly string[] };

/** Reads the answer to a change for its listener. */
export interface AnswerReading<T> {
  requestId(output: T): string | undefined;
  /** Undefined where the cloud works on: `ended` reports the rest. */
  outcome?(output: T): Outcome;
}

export function answeredChange<T>(
  call: CloudCall,
  context: CallContext,
  output: T,
  reading: AnswerReading<T> | undefined,
): SettledChange {
  const end = reading?.outcome?.(output) ?? 'accepted';
  return { call, context, end, requestId: reading?.requestId(output) };
}
