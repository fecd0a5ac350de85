// Tracks assignments whose answer was lost. An assignment has no client token, so a repeat may assign twice.
// Its interface is frozen until the lost call can no longer take effect unseen. What refreshes show meanwhile
// is its result.
import type { InstancePort } from '../../providers/contract/cloud.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import { type CallTiming, mayTakeEffectFor } from '../../providers/contract/operations.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { TaskRuntime } from '../../runtime/task-group.ts';
import { LazySet } from '../../runtime/lazy-collections.ts';
import type { Assignment, Growth, LostAssignment } from './growth.ts';
import { subnetAddressesUsed } from './planned-step.ts';

/** The node whose interfaces they concern. */
export interface LosingNode extends Pick<InstancePort, 'invalidate' | 'refresh'> {
  readonly growth: Growth;
}

export class LostAssignments {
  readonly #node: LosingNode;
  readonly #runtime: Pick<TaskRuntime, 'clock' | 'tasks'>;
  readonly #timing: CallTiming;
  /** Addresses and prefixes named by answers, kept while an assignment that was in flight then may be lost. */
  readonly #answered = new LazySet<string>();
  #inFlight = 0;

  constructor(node: LosingNode, runtime: Pick<TaskRuntime, 'clock' | 'tasks'>, timing: CallTiming) {
    this.#node = node;
    this.#runtime = runtime;
    this.#timing = timing;
  }

  /** An assignment is about to be sent. Call `ended` after everything about it was reported. */
  sent(): void {
    this.#inFlight++;
  }

  ended(): void {
    this.#inFlight--;
    this.#forget();
  }

  /** An answer named these addresses or prefixes, so no lost assignment brought them. */
  answered(holdings: Iterable<string>): void {
    for (const holding of holdings) this.#answered.add(holding);
  }

  /** The answer to this assignment was lost. `before`: the result of `shownOn` when it was sent. */
  answerLost(step: Assignment, before: ReadonlySet<string>): void {
    const now = this.#runtime.clock.monotonic();
    this.#node.growth.lost.add({ step, before, openUntil: now + mayTakeEffectFor(this.#timing) });
    this.#node.invalidate(now);
  }

  /**
   * A former leader may have assigned an IPv6 prefix, or attached an interface with one, and no read shows it yet. Unlike
   * addresses that are too many, a second one would never go.
   */
  mayBeFormers(openUntil: number): void {
    const step = { kind: 'allocateIpv6Prefix', interfaceId: '', subnetId: '', count: 1 } as const;
    this.#node.growth.lost.add({ step, before: new Set(), openUntil });
  }

  /** Looks for the results of those that can no longer take effect unseen. */
  step(now: number): Requeue {
    for (const lost of this.#node.growth.lost) {
      if (lost.openUntil === undefined || lost.openUntil > now) continue;
      lost.openUntil = undefined;
      this.#runtime.tasks.beginTask(() => this.#find(lost));
    }
    return requeueAt(
      [...this.#node.growth.lost].map(({ openUntil = now }) => openUntil),
      now,
    );
  }

  /** Only a refresh that starts now resolves it, not an earlier one. */
  async #find(lost: LostAssignment): Promise<void> {
    await raceAbort(this.#node.refresh(), this.#runtime.tasks.closing);
    this.#node.growth.lost.delete(lost);
    this.#forget();
  }

  /** Addresses that lost assignments may have brought or may still bring, and that no read has shown. */
  unseen(view: InstanceView): number {
    let sum = 0;
    // Several lost assignments on one interface cannot be distinguished: what they brought counts once for all.
    const groups = Map.groupBy(this.#node.growth.lost, ({ step }) => `${step.kind} ${step.interfaceId}`);
    for (const group of groups.values()) {
      const [{ step } = { step: undefined }] = group;
      if (step === undefined) continue;
      const isNew = (holding: string): boolean => group.some(({ before }) => !before.has(holding));
      const brought = shownOn(view, step).filter((each) => isNew(each) && !this.#answered.has(each));
      const asked = group.reduce((count, other) => count + other.step.count, 0);
      sum += subnetAddressesUsed({ ...step, count: Math.max(0, asked - brought.length) });
    }
    return sum;
  }

  /**
   * Everything known now predates the next assignment. If it was released since, that assignment may bring it
   * again.
   */
  #forget(): void {
    if (this.#inFlight === 0 && this.#node.growth.lost.size === 0) this.#answered.clear();
  }
}

const broughtBy = {
  allocateIPs: 'addresses',
  allocatePrefixes: 'prefixes',
  allocateIpv6Prefix: 'ipv6Prefixes',
} as const satisfies Record<Assignment['kind'], keyof NetworkInterface>;

/** Addresses of the requested kind that the interface of an assignment has. */
export function shownOn(view: InstanceView | undefined, step: Assignment): readonly string[] {
  const shown = view?.interfaces.find(({ id }) => id === step.interfaceId);
  return shown?.[broughtBy[step.kind]] ?? [];
}
