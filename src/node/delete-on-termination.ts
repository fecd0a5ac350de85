// Sees to it that interfaces made for a node go when its instance goes. Housekeeping: it waits behind everything else,
// and its failures never keep addresses from pods.
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import { type BackoffPolicy, backOff } from '../scheduling/exponential-backoff.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';

export interface DeleteOnTerminationDeps {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
  readonly fold: (answer: Answer) => void;
  readonly onFailure: (interfaceId: string, failure: CloudFailure) => void;
  readonly onBug: (error: unknown) => void;
}

const policy: BackoffPolicy = { base: 2000, cap: 300_000 };

/** What we write as the description of the interfaces that we create, before the id of the instance. */
export const descriptionPrefix = 'Cilium-CNI (';

export class DeleteOnTermination {
  readonly #deps: DeleteOnTerminationDeps;
  /** Attachments that were seen to. Some EC2 look-alikes accept the call and never show its effect. */
  readonly #seenTo = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  /** No call begins any more. */
  readonly #closing = new AbortController();
  /** Calls that were begun must end. */
  readonly #deadline = new AbortController();

  constructor(deps: DeleteOnTerminationDeps) {
    this.#deps = deps;
  }

  /** Begins what these interfaces lack. */
  evaluate(interfaces: readonly NetworkInterface[]): void {
    for (const { id, description, attachment } of interfaces) {
      if (attachment === undefined || attachment.deleteOnTermination || attachment.state !== 'attached')
        continue;
      if (!description.startsWith(descriptionPrefix) || this.#seenTo.has(attachment.id)) continue;
      this.#seenTo.add(attachment.id);
      const running = this.#set(id, attachment.id)
        .catch((error: unknown) => {
          if (!this.#closing.signal.aborted) this.#deps.onBug(error);
        })
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  /** No call begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#closing.abort();
    const cut = (): void => this.#deadline.abort();
    if (deadline.aborted) cut();
    deadline.addEventListener('abort', cut, { once: true });
    await Promise.all(this.#running);
    deadline.removeEventListener('abort', cut);
  }

  async #set(interfaceId: string, attachmentId: string): Promise<void> {
    const { instanceId, implementation, clock, random, fold, onFailure } = this.#deps;
    const { signal } = this.#closing;
    const urgency = (): 'housekeeping' => 'housekeeping';
    let backoff: ReturnType<typeof backOff> | undefined;
    for (;;) {
      await implementation.admit(['setDeleteOnTermination'], { urgency, signal });
      const operation = { kind: 'setDeleteOnTermination', instanceId, interfaceId, attachmentId } as const;
      const outcome = await implementation.perform(operation, { urgency, signal: this.#deadline.signal });
      if (outcome.kind === 'done') {
        fold(outcome.answer);
        return;
      }
      onFailure(interfaceId, outcome.failure);
      if (outcome.failure.kind === 'invalid' || outcome.failure.kind === 'instanceGone') return;
      const now = clock.monotonic();
      backoff = backOff(backoff, policy, now, random);
      await sleep(clock, backoff.until - now, signal);
    }
  }
}
