// Tells of readings of the cloud that failed. What is not permitted stays so until somebody acts: the same denial of the same
// reading is told aloud once.
import type { Logger } from '../observability/logger.ts';
import { CloudError } from '../providers/cloud-failure.ts';
import { told } from './told-failure.ts';

export class FailedReadings {
  readonly #log: Logger;
  /** By what could not be read: the permission that it was told to lack last. */
  readonly #lacking = new Map<string, string | undefined>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `message`: what could not be read, in the same words each time. */
  tell(message: string, error: unknown, details: Readonly<Record<string, unknown>> = {}): void {
    const failure = error instanceof CloudError ? error.failure : undefined;
    const permission = failure?.permission;
    const isKnown = permission !== undefined && this.#lacking.get(message) === permission;
    this.#lacking.set(message, permission);
    const why = failure === undefined ? { error } : told(failure);
    this.#log[isKnown ? 'debug' : 'warn'](message, { ...details, ...why });
  }

  /** It was read: the next denial is news. */
  succeeded(message: string): void {
    this.#lacking.delete(message);
  }
}
