// Logs failed reads of the cloud and answers that cannot be parsed in full, and keeps the reason for the nodes that wait
// for them. A missing permission lasts until a user grants it, so repeats of the same denial are logged at debug level.
import { type NodeCondition, failureCondition } from '../../node/conditions/node-condition.ts';
import type { Logger } from '../../observability/logger.ts';
import { CloudError, type CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { UnreadablePart } from '../../providers/contract/infrastructure.ts';
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
  /** The last reported parts that cannot be parsed, as text. */
  #unreadable = '';

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

  /** Why the last read of this failed; undefined if it did not. */
  problemOf(message: string): string | undefined {
    const failed = this.#failed.get(message);
    if (failed === undefined) return undefined;
    return failed.failure === undefined ? 'see the log' : failureCondition(failed.failure).message;
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

  /** Logs which parts of the network cannot be parsed, once while they stay the same. */
  reportSkipped(problems: readonly UnreadablePart[]): void {
    const text = JSON.stringify(problems);
    if (text === this.#unreadable || problems.length === 0) return;
    this.#unreadable = text;
    this.#log.warn('parts of the network cannot be parsed and are skipped', { problems });
  }
}
