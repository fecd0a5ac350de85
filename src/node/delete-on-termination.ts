// Sees to it that interfaces made for a node go when its instance goes. Housekeeping: it waits behind everything else,
// and its failures never keep addresses from pods.
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import { type BackoffPolicy, backOff } from '../scheduling/exponential-backoff.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';

export interface DeleteOnTerminationDeps {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  readonly permission: Pick<MutationPermission, 'refusal'>;
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

  /** Begins what these interfaces lack, if it may; returns those that lack it and for which nothing was begun. */
  evaluate(interfaces: readonly NetworkInterface[]): readonly string[] {
    const lacking = interfaces.flatMap(({ id, description, attachment }) => {
      if (attachment === undefined || attachment.deleteOnTermination || attachment.state !== 'attached')
        return [];
      const isOurs = description.startsWith(descriptionPrefix) && !this.#seenTo.has(attachment.id);
      return isOurs ? [{ id, attachmentId: attachment.id }] : [];
    });
    if (this.#deps.permission.refusal('give') !== undefined) return lacking.map(({ id }) => id);
    for (const { id, attachmentId } of lacking) {
      this.#seenTo.add(attachmentId);
      const running = this.#set(id, attachmentId)
        .catch((error: unknown) => {
          if (!this.#closing.signal.aborted) this.#deps.onBug(error);
        })
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
    return [];
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
      if (outcome.failure.kind === 'stopped') {
        // To be begun anew when it may be.
        this.#seenTo.delete(attachmentId);
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
