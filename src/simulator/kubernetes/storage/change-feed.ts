// Who wants to hear of a collection's changes. Listeners that follow one name are found by that name, so that a
// thousand agents each watching their own object cost a change nothing but the one of them that it concerns.
import type { Change } from './change.ts';

export type ChangeListener = (change: Change) => void;

export class ChangeFeed {
  readonly #everything = new Set<ChangeListener>();
  readonly #byKey = new Map<string, Set<ChangeListener>>();

  /** Follows one key, or all. The returned function ends it and may be called twice. */
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
