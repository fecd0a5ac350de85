// Logs failed reads of the cloud and answers that cannot be parsed in full, and keeps the reason for the nodes that wait
// for them. A denial lasts until a person acts, so repeats of the same one are logged at debug level.
import { failureCondition } from '../../node/conditions/call-condition.ts';
import type { NodeCondition } from '../../node/conditions/node-condition.ts';
import type { Logger } from '../../observability/logger.ts';
import { CloudError, type CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { isWorthReporting, policyOf } from '../../providers/contract/failure-policy.ts';
import type { UnclearItems } from '../../providers/contract/cloud.ts';
import type { UnreadablePart } from '../../providers/contract/infrastructure.ts';
import { failureFields } from './failure-fields.ts';

interface FailedReading {
  readonly failure: CloudFailure | undefined;
  /** Consecutive failures. */
  readonly times: number;
}

interface FailureLine {
  readonly before: FailedReading | undefined;
  readonly reading: FailedReading;
  readonly error: unknown;
  readonly details: Readonly<Record<string, unknown>>;
}

export class FailedReadings {
  readonly #log: Logger;
  /** By what could not be read; the most recent failure is last. */
  readonly #failed = new Map<string, FailedReading>();
  /** The same for reads of single instances. */
  readonly #instances = new Map<string, FailedReading>();
  /** The same for instances that listings of others leave out. */
  #unlisted: ReadonlyMap<string, FailedReading> = new Map();
  /** The last reported parts that cannot be parsed, as text. */
  #unreadable = '';
  /** The last reported problem of items that nobody can tell what they are. */
  #unclear = '';

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Why an instance, or something that it needs, is not read: a failure that a retry cannot fix at once, or a repeated one. */
  unreadBecause(instanceId: string): NodeCondition | undefined {
    const own = lastingIn(this.#instances.get(instanceId));
    const all = [...this.#failed.values()].flatMap((reading) => lastingIn(reading) ?? []).at(-1);
    // If all nodes have the same cause, all get the same text.
    const failure = all !== undefined && all.code === own?.code ? all : (own ?? all);
    return failure && failureCondition(failure);
  }

  /** Whether the cloud answered the last read of the instance, and refused it. */
  isReadRefused(instanceId: string): boolean {
    const failure = this.#instances.get(instanceId)?.failure;
    return failure !== undefined && policyOf(failure).refuses !== 'nothing';
  }

  /** Why the last read of this failed; undefined if it did not. */
  problemOf(message: string): string | undefined {
    const failed = this.#failed.get(message);
    if (failed === undefined) return undefined;
    return failed.failure === undefined ? 'see the log' : failureCondition(failed.failure).message;
  }

  /** `message`: what could not be read, in constant words. */
  report(message: string, error: unknown, details: Readonly<Record<string, unknown>> = {}): void {
    const before = this.#failed.get(message);
    const reading = readingAfter(before, error);
    this.#failed.delete(message);
    this.#failed.set(message, reading);
    this.#logFailure(message, { before, reading, error, details });
  }

  /** These instances could not be read. */
  reportInstances(message: string, error: unknown, instanceIds: readonly string[]): void {
    const [first = ''] = instanceIds;
    const before = this.#instances.get(first);
    const reading = readingAfter(before, error);
    for (const instanceId of instanceIds)
      this.#instances.set(instanceId, readingAfter(this.#instances.get(instanceId), error));
    this.#logFailure(message, { before, reading, error, details: { instanceIds } });
  }

  instancesRead(instanceIds: readonly string[]): void {
    for (const instanceId of instanceIds) this.#instances.delete(instanceId);
  }

  /** A listing could not read these instances. Returns those for which that, or its end, is news. */
  listed(unread: ReadonlyMap<string, CloudError>): ReadonlySet<string> {
    const before = this.#unlisted;
    this.#unlisted = new Map(
      [...unread].map(([instanceId, error]) => [instanceId, readingAfter(before.get(instanceId), error)]),
    );
    return new Set([...before.keys(), ...unread.keys()]);
  }

  /** A single listing may fail; each further one tells people. */
  unlistedBecause(instanceId: string): NodeCondition | undefined {
    const reading = this.#unlisted.get(instanceId);
    if (reading?.failure === undefined || reading.times < 2) return undefined;
    const { reason, message } = failureCondition(reading.failure);
    return { reason, message: `the cloud no longer shows the instance, which keeps what it has: ${message}` };
  }

  /** Forgets the instances that are served no longer. */
  keepInstances(isServed: (instanceId: string) => boolean): void {
    for (const instanceId of this.#instances.keys())
      if (!isServed(instanceId)) this.#instances.delete(instanceId);
  }

  #logFailure(message: string, said: FailureLine): void {
    const { before, reading, error, details } = said;
    const { failure } = reading;
    const why = failure === undefined ? { error } : failureFields(failure);
    this.#log[isSameDenial(before?.failure, failure) ? 'debug' : 'warn'](message, { ...details, ...why });
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

  /** Reports the items that an answer leaves out, once while it is the same: a page of a large list comes again and again. */
  reportUnclear(items: UnclearItems | undefined): void {
    if (items === undefined || items.problem === this.#unclear) return;
    this.#unclear = items.problem;
    this.#log.warn('items of an answer cannot be understood and are left out', { ...items });
  }
}

function lastingIn(reading: FailedReading | undefined): CloudFailure | undefined {
  if (reading?.failure === undefined) return undefined;
  const { failure, times } = reading;
  return isWorthReporting(failure, times) ? failure : undefined;
}

function readingAfter(before: FailedReading | undefined, error: unknown): FailedReading {
  return {
    failure: error instanceof CloudError ? error.failure : undefined,
    times: (before?.times ?? 0) + 1,
  };
}

function isSameDenial(before: CloudFailure | undefined, now: CloudFailure | undefined): boolean {
  if (now?.kind !== 'notAuthorized' || before?.kind !== now.kind) return false;
  return before.code === now.code && before.permission === now.permission;
}
