// Sets delete-on-termination on interfaces created for a node, so they are deleted with its instance.
// Housekeeping: it has the lowest priority, and its failures never keep addresses from pods.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { policyOf } from '../../providers/contract/failure-policy.ts';
import type { PermittedNode } from '../../providers/gate/mutation-permission.ts';
import type { Caller } from '../../providers/contract/priority.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { InstancePort } from '../../providers/contract/cloud.ts';
import type { Outcome, CallTiming } from '../../providers/contract/operations.ts';
import { descriptionPrefix } from '../../providers/orphans/ownership-tags.ts';
import type { TaskRuntime } from '../../runtime/task-group.ts';
import { randomWait } from '../../runtime/backoff.ts';
import { retry } from '../../runtime/retry.ts';
import { LazySet } from '../../runtime/lazy-collections.ts';

export interface KeptNode
  extends Pick<InstancePort, 'instanceId' | 'implementation' | 'applyAnswer'>,
    PermittedNode {
  tell(event: HousekeepingFailure): void;
}

export interface HousekeepingFailure {
  readonly kind: 'housekeepingFailure';
  readonly interfaceId: string;
  readonly failure: CloudFailure;
}

const caller: Caller = { priority: 'housekeeping' };
const policy = { base: 2000, cap: 300_000 };

const none: readonly string[] = [];

export class DeleteOnTermination {
  readonly #node: KeptNode;
  readonly #runtime: TaskRuntime;
  readonly #timing: Pick<CallTiming, 'consistencyWindow'>;
  /** Attachments already handled. Some cloud emulators accept the call and never show its effect. */
  readonly #seenTo = new LazySet<string>();
  /** Attachments of the instance at the last step, while any call is in flight. */
  #known: readonly string[] = none;
  #callsInFlight = 0;

  constructor(node: KeptNode, runtime: TaskRuntime, timing: Pick<CallTiming, 'consistencyWindow'>) {
    this.#node = node;
    this.#runtime = runtime;
    this.#timing = timing;
  }

  /** Starts the missing calls if permitted; returns the interfaces that need one and for which none started. */
  step(interfaces: readonly NetworkInterface[]): readonly string[] {
    const unset = interfaces.flatMap(({ id, description, attachment }) => {
      if (attachment === undefined || attachment.deleteOnTermination || attachment.state !== 'attached')
        return [];
      const isOurs = description.startsWith(descriptionPrefix) && !this.#seenTo.has(attachment.id);
      return isOurs ? [{ id, attachmentId: attachment.id }] : [];
    });
    const mayBegin = this.#node.refusal('allocate') === undefined;
    const isIdle = this.#callsInFlight === 0 && !(mayBegin && unset.length > 0);
    this.#known = isIdle ? none : interfaces.flatMap(({ attachment }) => attachment?.id ?? []);
    if (!mayBegin) return unset.map(({ id }) => id);
    for (const { id, attachmentId } of unset) {
      this.#seenTo.add(attachmentId);
      this.#runtime.tasks.beginTask(() => this.#set(id, attachmentId));
    }
    return [];
  }

  async #set(interfaceId: string, attachmentId: string): Promise<void> {
    this.#callsInFlight++;
    await this.#call(interfaceId, attachmentId).finally(() => this.#callsInFlight--);
  }

  async #call(interfaceId: string, attachmentId: string): Promise<void> {
    const node = this.#node;
    const { clock, random, tasks } = this.#runtime;
    const { instanceId, implementation } = node;
    const startedAt = clock.monotonic();
    const { closing: signal, deadline } = tasks;
    const operation = { kind: 'setDeleteOnTermination', instanceId, interfaceId, attachmentId } as const;
    const attempt = async (tries: number): Promise<Outcome | undefined> => {
      if (tries > 1 && !this.#known.includes(attachmentId)) return undefined;
      await implementation.admit(['setDeleteOnTermination'], { caller, signal });
      return implementation.perform(operation, { caller, signal: deadline });
    };
    const outcome = await retry({ clock, signal }, attempt, (result, tries) => {
      if (result === undefined || result.kind === 'done') return undefined;
      const { retry: next } = policyOf(result.failure);
      if (next === 'oncePermitted') {
        // Starts again once it is permitted.
        this.#seenTo.delete(attachmentId);
        return undefined;
      }
      node.tell({ kind: 'housekeepingFailure', interfaceId, failure: result.failure });
      // An interface older than a consistency window that the cloud does not know is gone.
      const isLate = clock.monotonic() >= startedAt + this.#timing.consistencyWindow;
      const isFinal = next === 'never' || (result.failure.kind === 'notYetVisible' && isLate);
      return isFinal ? undefined : randomWait(policy, tries, random);
    });
    if (outcome?.kind === 'done') node.applyAnswer(outcome.answer);
  }
}
