// Ranges of numbers that are left out, merged and in order. Pure.

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

export class ExcludedRanges {
  #ranges: readonly Range[] = [];

  /** From the first to the last, both included. */
  add(from: bigint, to: bigint): void {
    const merged: Range[] = [];
    for (const range of [...this.#ranges, { from, to }].toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
      const last = merged.at(-1);
      if (last === undefined || range.from > last.to + 1n) merged.push(range);
      else if (range.to > last.to) merged[merged.length - 1] = { from: last.from, to: range.to };
    }
    this.#ranges = merged;
  }

  /** How many numbers. */
  get size(): bigint {
    return this.#ranges.reduce((sum, { from, to }) => sum + to - from + 1n, 0n);
  }

  has(value: bigint): boolean {
    return this.next(value) !== value;
  }

  /** The number itself, or the first one behind its range. */
  next(value: bigint): bigint {
    const range = this.#ranges.find(({ from, to }) => from <= value && value <= to);
    return range === undefined ? value : range.to + 1n;
  }
}
