// Refreshes the instance of a node where its state is unclear, and where a new interface is still awaited.
import type { InstanceView } from '../../providers/contract/facts.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { TaskGroup } from '../../runtime/task-group.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeState } from './node-state.ts';

const subject = 'refresh';

export class InstanceRefresh {
  readonly #context: NodeContext;
  readonly #state: NodeState;
  readonly #tasks: TaskGroup;

  constructor(context: NodeContext, state: NodeState, tasks: TaskGroup) {
    this.#context = context;
    this.#state = state;
    this.#tasks = tasks;
  }

  step(view: InstanceView | undefined, now: number): Requeue {
    if (view === undefined) return {};
    if (view.awaited.size > 0) this.#refreshAwaited(view);
    const { network } = this.#context.cloud;
    const tasks = this.#tasks;
    const due = view.read ? view.refreshDue : network.covers(this.#state.instanceId) ? undefined : 0;
    if (due === undefined || this.#isChangingByUs(view)) return {};
    // While a refresh is in flight, it is unknown what it will leave unconfirmed.
    if (due <= now && !tasks.isAbout(subject))
      tasks.beginTask(() => raceAbort(this.#state.refresh(), tasks.closing), subject);
    return requeueAt([due], now);
  }

  /** Our own call ends with what the change brings. */
  #isChangingByUs({ interfaces }: InstanceView): boolean {
    const growing = this.#state.growth.interfaces;
    return interfaces.some(({ id, condition }) => condition === 'changing' && growing.has(id));
  }

  /** A new interface supplies the node only once a read shows it attached. */
  #refreshAwaited({ awaited }: InstanceView): void {
    const newest = Math.max(...[...awaited.values()].map(({ since }) => since));
    this.#context.cloud.instances.refreshAwaited(this.#state.instanceId, newest);
  }
}
