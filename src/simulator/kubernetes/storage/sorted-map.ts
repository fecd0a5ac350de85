// A map iterated in key order, as lists show it. Compares UTF-16 units, which for object names equals byte order.

export class SortedMap<Value> implements Iterable<readonly [string, Value]> {
  readonly #values = new Map<string, Value>();
  readonly #keys: string[] = [];

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#firstNotBefore(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#firstNotBefore(key), 1);
  }

  *[Symbol.iterator](): Generator<readonly [string, Value]> {
    for (const key of this.#keys) yield [key, this.#values.get(key) as Value];
  }

  #firstNotBefore(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
