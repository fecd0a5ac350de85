// Sets delete-on-termination on interfaces created for a node, so they are deleted with its instance.
// Housekeeping: it has the lowest priority, and its failures never keep addresses from pods.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { InstancePort } from '../../providers/contract/instance-port.ts';
import { descriptionPrefix } from '../../providers/orphans/ownership-tags.ts';
import type { TaskGroup } from '../../runtime/task-group.ts';
import type { BackoffPolicy } from '../../runtime/exponential-backoff.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { LazySet } from '../../runtime/lazy-collections.ts';
import type { CallTiming } from '../../providers/contract/call-timing.ts';

export interface DeleteOnTerminationDeps {
  readonly node: Pick<InstancePort, 'instanceId' | 'implementation' | 'applyAnswer'>;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: Pick<CallTiming, 'consistencyWindow'>;
  readonly tasks: TaskGroup;
  readonly onFailure: (interfaceId: string, failure: CloudFailure) => void;
}

const policy: BackoffPolicy = { base: 2000, cap: 300_000 };

/** Failures after which the same call cannot succeed. */
const permanent: ReadonlySet<CloudFailure['kind']> = new Set(['invalid', 'instanceGone']);

const none: readonly string[] = [];

export class DeleteOnTermination {
  readonly #deps: DeleteOnTerminationDeps;
  /** Attachments already handled. Some cloud emulators accept the call and never show its effect. */
  readonly #seenTo = new LazySet<string>();
  /** Attachments of the instance at the last step, while any call is in flight. */
  #known: readonly string[] = none;
  #callsInFlight = 0;

  constructor(deps: DeleteOnTerminationDeps) {
    this.#deps = deps;
  }

  /** Starts the missing calls if permitted; returns the interfaces that need one and for which none started. */
  step(interfaces: readonly NetworkInterface[]): readonly string[] {
    const unset = interfaces.flatMap(({ id, description, attachment }) => {
      if (attachment === undefined || attachment.deleteOnTermination || attachment.state !== 'attached')
        return [];
      const isOurs = description.startsWith(descriptionPrefix) && !this.#seenTo.has(attachment.id);
      return isOurs ? [{ id, attachmentId: attachment.id }] : [];
    });
    const mayBegin = this.#deps.permission.refusal('allocate') === undefined;
    const isIdle = this.#callsInFlight === 0 && !(mayBegin && unset.length > 0);
    this.#known = isIdle ? none : interfaces.flatMap(({ attachment }) => attachment?.id ?? []);
    if (!mayBegin) return unset.map(({ id }) => id);
    for (const { id, attachmentId } of unset) {
      this.#seenTo.add(attachmentId);
      this.#deps.tasks.begin(() => this.#set(id, attachmentId));
    }
    return [];
  }

  async #set(interfaceId: string, attachmentId: string): Promise<void> {
    this.#callsInFlight++;
    await this.#call(interfaceId, attachmentId).finally(() => this.#callsInFlight--);
  }

  async #call(interfaceId: string, attachmentId: string): Promise<void> {
    const { node, clock, timing, onFailure } = this.#deps;
    const { instanceId, implementation } = node;
    const startedAt = clock.monotonic();
    const { closing: signal, deadline } = this.#deps.tasks;
    const priority = (): 'housekeeping' => 'housekeeping';
    const backoff = new Backoff(policy, this.#deps);
    for (;;) {
      await implementation.admit(['setDeleteOnTermination'], { priority, signal });
      const operation = { kind: 'setDeleteOnTermination', instanceId, interfaceId, attachmentId } as const;
      const outcome = await implementation.perform(operation, { priority, signal: deadline });
      if (outcome.kind === 'done') {
        node.applyAnswer(outcome.answer);
        return;
      }
      if (outcome.failure.kind === 'stopped') {
        // Starts again once it is permitted.
        this.#seenTo.delete(attachmentId);
        return;
      }
      onFailure(interfaceId, outcome.failure);
      // An interface older than a consistency window that the cloud does not know is gone.
      const isLate = clock.monotonic() >= startedAt + timing.consistencyWindow;
      if (permanent.has(outcome.failure.kind) || (outcome.failure.kind === 'notYetVisible' && isLate)) return;
      await sleep(clock, backoff.fail(), signal);
      if (!this.#known.includes(attachmentId)) return;
    }
  }
}
