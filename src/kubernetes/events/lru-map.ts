// A bounded map that evicts the least recently used entry.

export class LruMap<K, V> {
  readonly #map = new Map<K, V>();
  readonly #limit: number;
  readonly #onForget: (value: V) => void;

  constructor(limit: number, onForget: (value: V) => void = () => undefined) {
    this.#limit = limit;
    this.#onForget = onForget;
  }

  /** The value, marked as used now. */
  get(key: K): V | undefined {
    const value = this.#map.get(key);
    if (value === undefined) return undefined;
    this.#map.delete(key);
    this.#map.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    for (const [oldest, forgotten] of this.#map) {
      if (this.#map.size <= this.#limit) return;
      this.#map.delete(oldest);
      this.#onForget(forgotten);
    }
  }

  delete(key: K): void {
    this.#map.delete(key);
  }

  values(): IterableIterator<V> {
    return this.#map.values();
  }
}
