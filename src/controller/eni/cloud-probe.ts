// Probes the cloud once for readiness on a process that reads nothing else: a standby, or a leader without
// CiliumNodes. Wrong credentials show before a rollout stops the process that still works.
import { failureCondition } from '../../node/conditions/call-condition.ts';
import { type NodeCondition, presentable } from '../../node/conditions/node-condition.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AllocationImplementation } from '../../providers/contract/cloud.ts';
import { CloudError } from '../../providers/contract/cloud-failure.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { aborted } from '../../runtime/race-abort.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Random } from '../../runtime/random.ts';
import { failureFields } from '../reporting/failure-fields.ts';

export interface CloudProbeDeps {
  readonly implementation: Pick<AllocationImplementation, 'reach'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called once per reason why the cloud does not answer. */
  readonly report: (condition: NodeCondition) => void;
}

const backoffPolicy = { base: 1000, cap: 30_000 };

export class CloudProbe {
  readonly #deps: CloudProbeDeps;
  readonly #asked = Promise.withResolvers<void>();
  #isReached = false;
  #condition: NodeCondition | undefined;

  constructor(deps: CloudProbeDeps) {
    this.#deps = deps;
  }

  /** Whether the cloud has answered since the process started. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** Why the cloud does not answer; undefined before the first failure and after the first answer. */
  get problem(): string | undefined {
    return this.#condition?.message;
  }

  /** Starts the probe. Call it when no other read will show whether the cloud answers. */
  beginProbing(): void {
    this.#asked.resolve();
  }

  /** After `beginProbing()`, asks until the cloud answers once or `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { implementation, clock } = this.#deps;
    await Promise.race([this.#asked.promise, aborted(signal)]);
    const backoff = new Backoff(backoffPolicy, this.#deps);
    while (!this.#isReached && !signal.aborted) {
      try {
        await implementation.reach({ caller: { priority: 'normal' }, signal });
        this.#isReached = true;
        this.#condition = undefined;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof CloudError)) throw error;
        this.#note(error);
        await sleep(clock, backoff.fail(), signal).catch(() => undefined);
      }
    }
  }

  #note({ failure }: CloudError): void {
    const { log, report } = this.#deps;
    const condition = presentable(failureCondition(failure));
    const isNews = condition.message !== this.#condition?.message;
    this.#condition = condition;
    // The reason has the message of the cloud already.
    const { message: _, ...fields } = failureFields(failure);
    log[isNews ? 'warn' : 'debug']('cannot reach the cloud', {
      reason: condition.reason,
      why: condition.message,
      ...fields,
    });
    if (isNews) report(condition);
  }
}
