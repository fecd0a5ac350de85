// Instances as an answer of a cloud describes them. One in a form of its own keeps no other from being read.
import { unreadable } from '../contract/cloud-failure.ts';
import { askedInstances, type Instance } from '../contract/facts.ts';
import type { ObservedPage } from '../contract/cloud.ts';
import { refuseUnrequested } from './plausible.ts';

/** `id`: undefined for one that does not name itself. */
export type Described =
  | Pick<Instance, 'id' | 'state'>
  | { readonly id: string | undefined; readonly problem: string };

const action = 'DescribeInstances';

export class DescribedInstances {
  readonly #instances = new Map<string, Instance>();
  /** The fault of each instance that is shown and cannot be read. */
  readonly #odd = new Map<string, string>();
  /** The fault of the first that does not name itself: it may be any that is not shown. */
  readonly #nameless: string | undefined;

  constructor(described: readonly Described[]) {
    for (const each of described) {
      if (each.id === undefined) this.#nameless ??= 'problem' in each ? each.problem : '';
      else if ('problem' in each) this.#odd.set(each.id, each.problem);
      else if ((this.#instances.get(each.id)?.state ?? each.state) !== each.state)
        this.#odd.set(each.id, `${each.id} is shown twice, in two states`);
      else this.#instances.set(each.id, { id: each.id, state: each.state, managed: true });
    }
    for (const id of this.#odd.keys()) this.#instances.delete(id);
  }

  /** Whether they can be read or not. */
  get ids(): ReadonlySet<string> {
    return new Set([...this.#instances.keys(), ...this.#odd.keys()]);
  }

  stateOf(id: string): Instance['state'] | undefined {
    return this.#instances.get(id)?.state;
  }

  /** Why nothing follows about the instance; undefined if it is shown, or is not there. */
  problemWith(id: string): string | undefined {
    return this.#odd.get(id) ?? (this.#instances.has(id) ? undefined : this.#nameless);
  }

  /**
   * The answer about those that were asked for. Throws a CloudError if it is about others, too. `managed`: of what is not
   * shown.
   */
  answerFor(asked: readonly string[], managed: boolean): Pick<ObservedPage, 'observations' | 'failed'> {
    refuseUnrequested(action, asked, [...this.ids], (id) => id);
    const read = asked.filter((id) => this.problemWith(id) === undefined);
    return {
      observations: askedInstances(read, this.#instances, managed),
      failed: asked.flatMap((instanceId) => {
        const problem = this.problemWith(instanceId);
        return problem === undefined ? [] : { instanceId, error: unreadable(action, problem) };
      }),
    };
  }
}
