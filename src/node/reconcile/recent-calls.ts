// Remembers the last calls of one node and what the cloud answered, for people who ask why the node lacks something.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { Operation, OperationKind, Outcome } from '../../providers/contract/operations.ts';

export interface RecentCall {
  readonly operation: OperationKind;
  /** The interface or, for a new one, the subnet. */
  readonly resource: string;
  /** When it ended, in monotonic ms. */
  readonly endedAt: number;
  /** `unanswered`: it may have taken effect, or may still do so. */
  readonly outcome: 'done' | 'refused' | 'unanswered';
  readonly failure?: Pick<CloudFailure, 'action' | 'code' | 'message' | 'requestId'>;
}

const kept = 10;
/** Bounds memory: thousands of nodes may be refused the same. */
const maxMessage = 300;

const none: readonly RecentCall[] = [];

export class RecentCalls {
  #list = none;

  /** Oldest first. */
  get list(): readonly RecentCall[] {
    return this.#list;
  }

  note(operation: Operation, outcome: Outcome, now: number): void {
    const call = recentCall(operation, outcome, now);
    if (call !== undefined) this.#list = [...this.#list.slice(1 - kept), call];
  }
}

/** Undefined if nothing was sent. */
function recentCall(operation: Operation, outcome: Outcome, endedAt: number): RecentCall | undefined {
  const { kind } = operation;
  const resource = kind === 'createInterface' ? operation.subnetId : operation.interfaceId;
  if (outcome.kind === 'done') return { operation: kind, resource, endedAt, outcome: 'done' };
  const { action, code, message, requestId, kind: why } = outcome.failure;
  if (why === 'fenced' || why === 'stopped') return undefined;
  return {
    operation: kind,
    resource,
    endedAt,
    outcome: outcome.kind === 'failed' ? 'refused' : 'unanswered',
    failure: { action, code, message: message.slice(0, maxMessage), requestId },
  };
}
