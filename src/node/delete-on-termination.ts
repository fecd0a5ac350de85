// Sees to it that interfaces made for a node go when its instance goes. Housekeeping: it waits behind everything else,
// and its failures never keep addresses from pods.
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import type { BackoffPolicy } from '../scheduling/exponential-backoff.ts';
import { FailureStreak } from '../scheduling/failure-streak.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import { SeldomSet } from '../memory/seldom-filled.ts';
import type { CallTiming } from './call-timing.ts';

export interface DeleteOnTerminationDeps {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: Pick<CallTiming, 'consistencyWindow'>;
  readonly fold: (answer: Answer) => void;
  readonly onFailure: (interfaceId: string, failure: CloudFailure) => void;
  readonly onBug: (error: unknown) => void;
}

const policy: BackoffPolicy = { base: 2000, cap: 300_000 };

/** Failures after which the same call cannot succeed. */
const hopeless: ReadonlySet<CloudFailure['kind']> = new Set(['invalid', 'instanceGone']);

/** What we write as the description of the interfaces that we create, before the id of the instance. */
export const descriptionPrefix = 'Cilium-CNI (';

const none: readonly string[] = [];

export class DeleteOnTermination {
  readonly #deps: DeleteOnTerminationDeps;
  /** Attachments that were seen to. Some EC2 look-alikes accept the call and never show its effect. */
  readonly #seenTo = new SeldomSet<string>();
  /** Attachments that the instance has, as far as was known the last time, while anything is under way. */
  #known: readonly string[] = none;
  readonly #work: BegunWork;

  constructor(deps: DeleteOnTerminationDeps) {
    this.#deps = deps;
    this.#work = new BegunWork(deps);
  }

  /** Begins what these interfaces lack, if it may; returns those that lack it and for which nothing was begun. */
  evaluate(interfaces: readonly NetworkInterface[]): readonly string[] {
    const lacking = interfaces.flatMap(({ id, description, attachment }) => {
      if (attachment === undefined || attachment.deleteOnTermination || attachment.state !== 'attached')
        return [];
      const isOurs = description.startsWith(descriptionPrefix) && !this.#seenTo.has(attachment.id);
      return isOurs ? [{ id, attachmentId: attachment.id }] : [];
    });
    const mayBegin = this.#deps.permission.refusal('give') === undefined;
    const isIdle = this.#work.isIdle && !(mayBegin && lacking.length > 0);
    this.#known = isIdle ? none : interfaces.flatMap(({ attachment }) => attachment?.id ?? []);
    if (!mayBegin) return lacking.map(({ id }) => id);
    for (const { id, attachmentId } of lacking) {
      this.#seenTo.add(attachmentId);
      this.#work.begin(() => this.#set(id, attachmentId));
    }
    return [];
  }

  /** No call begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  async #set(interfaceId: string, attachmentId: string): Promise<void> {
    const { instanceId, implementation, clock, timing, fold, onFailure } = this.#deps;
    const begunAt = clock.monotonic();
    const { closing: signal, deadline } = this.#work;
    const urgency = (): 'housekeeping' => 'housekeeping';
    const streak = new FailureStreak(policy, this.#deps);
    for (;;) {
      await implementation.admit(['setDeleteOnTermination'], { urgency, signal });
      const operation = { kind: 'setDeleteOnTermination', instanceId, interfaceId, attachmentId } as const;
      const outcome = await implementation.perform(operation, { urgency, signal: deadline });
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
      // What has been there for longer than a consistency window, and is not known, is gone.
      const isLate = clock.monotonic() >= begunAt + timing.consistencyWindow;
      if (hopeless.has(outcome.failure.kind) || (outcome.failure.kind === 'notYetVisible' && isLate)) return;
      await sleep(clock, streak.fail(), signal);
      if (!this.#known.includes(attachmentId)) return;
    }
  }
}
