// The listeners of a collection's changes. Listeners of one name are indexed by it: with a thousand agents
// watching their own objects, a change reaches only the one concerned.
import type { Change } from './change.ts';

export type ChangeListener = (change: Change) => void;

export class ChangeFeed {
  readonly #everything = new Set<ChangeListener>();
  readonly #byKey = new Map<string, Set<ChangeListener>>();

  /** Follows one key, or all. The returned function unsubscribes and is idempotent. */
  follow(key: string | undefined, listener: ChangeListener): () => void {
    if (key === undefined) {
      this.#everything.add(listener);
      return () => this.#everything.delete(listener);
    }
    const followers = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, followers.add(listener));
    return () => {
      followers.delete(listener);
      if (followers.size === 0 && this.#byKey.get(key) === followers) this.#byKey.delete(key);
    };
  }

  publish(change: Change): void {
    for (const listener of [...this.#everything, ...(this.#byKey.get(change.key) ?? [])]) listener(change);
  }
}
