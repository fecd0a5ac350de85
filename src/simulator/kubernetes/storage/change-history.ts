// The last changes of one collection, for watches that resume and lists of a past state. It forgets the oldest first,
// and then says so rather than leave a gap.
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { Change } from './change.ts';

export class ChangeHistory {
  readonly #limit: number;
  #changes: Change[] = [];
  #floor: number;

  /** Remembers at least the last `limit` changes and less than twice as many, none before revision `floor`. */
  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  /** What happened after this revision is remembered without a gap; what happened before is not. */
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

  /** The changes after a revision, oldest first; undefined when some of them are forgotten. */
  after(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    return this.#changes.slice(this.#changes.findLastIndex((change) => change.revision <= revision) + 1);
  }

  /**
   * What has to be undone to see the state at a revision: each changed key with its object then, or undefined where
   * there was none. Undefined when that revision is forgotten.
   */
  undoneTo(revision: number): ReadonlyMap<string, KubernetesObject | undefined> | undefined {
    const changes = this.after(revision);
    if (changes === undefined) return undefined;
    return new Map(changes.toReversed().map((change) => [change.key, change.previous]));
  }
}
