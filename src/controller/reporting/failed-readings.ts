// Logs failed reads of the cloud, and keeps the reason for the nodes that wait for them. A missing permission
// lasts until a user grants it, so repeats of the same denial are logged at debug level.
import { type NodeCondition, failureCondition } from '../../node/conditions/node-condition.ts';
import type { Logger } from '../../observability/logger.ts';
import { CloudError, type CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { failureFields } from './failure-fields.ts';

interface FailedReading {
  readonly failure: CloudFailure | undefined;
  /** Consecutive failures. */
  readonly times: number;
}

export class FailedReadings {
  readonly #log: Logger;
  /** By what could not be read; the most recent failure is last. */
  readonly #failed = new Map<string, FailedReading>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Why something is not read: a failure that a retry cannot fix at once, or one that repeated. */
  get condition(): NodeCondition | undefined {
    const lasting = [...this.#failed.values()].filter(
      ({ failure, times }) => times > 1 || failure?.kind === 'notAuthorized',
    );
    const failure = lasting.at(-1)?.failure;
    return failure && failureCondition(failure);
  }

  /** `message`: what could not be read, in constant words. */
  report(message: string, error: unknown, details: Readonly<Record<string, unknown>> = {}): void {
    const failure = error instanceof CloudError ? error.failure : undefined;
    const isKnown = this.#isKnown(message, failure);
    const times = (this.#failed.get(message)?.times ?? 0) + 1;
    this.#failed.delete(message);
    this.#failed.set(message, { failure, times });
    const why = failure === undefined ? { error } : failureFields(failure);
    this.#log[isKnown ? 'debug' : 'warn'](message, { ...details, ...why });
  }

  #isKnown(message: string, failure: CloudFailure | undefined): boolean {
    const before = this.#failed.get(message)?.failure;
    return failure?.permission !== undefined && before?.permission === failure.permission;
  }

  /** After a successful read the next denial is logged again. */
  succeeded(message: string): void {
    this.#failed.delete(message);
  }
}
