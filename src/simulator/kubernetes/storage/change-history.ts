// Recent changes of one collection, for resumed watches and lists of a past state. Drops the oldest first,
// and then reports a gap instead of hiding it.
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { Change } from './change.ts';

export class ChangeHistory {
  readonly #limit: number;
  #changes: Change[] = [];
  #floor: number;

  /** Keeps between `limit` and twice `limit` recent changes, none before revision `floor`. */
  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  /** Changes after this revision are complete; earlier ones are not. */
  get floor(): number {
    return this.#floor;
  }

  add(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length < this.#limit * 2) return;
    const forgotten = this.#changes.slice(0, -this.#limit);
    this.#floor = forgotten.at(-1)?.revision ?? this.#floor;
    this.#changes = this.#changes.slice(-this.#limit);
  }

  forgetUntil(revision: number): void {
    this.#floor = Math.max(this.#floor, revision);
    this.#changes = this.#changes.filter((change) => change.revision > this.#floor);
  }

  /** The changes after a revision, oldest first; undefined if some were dropped. */
  after(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    return this.#changes.slice(this.#changes.findLastIndex((change) => change.revision <= revision) + 1);
  }

  /**
   * The changes to undo to restore the state at a revision: each changed key with its object then, or undefined if
   * there was none. Undefined if that revision was dropped.
   */
  undoneTo(revision: number): ReadonlyMap<string, KubernetesObject | undefined> | undefined {
    const changes = this.after(revision);
    if (changes === undefined) return undefined;
    return new Map(changes.toReversed().map((change) => [change.key, change.previous]));
  }
}
