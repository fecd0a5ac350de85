// A set of small integers that returns a random member in constant time, however full it is.
import type { Random } from '../../runtime/random.ts';

export class PickSet {
  readonly #members: Int32Array;
  /** Index of each number in `#members`, or -1. */
  readonly #places: Int32Array;
  #size = 0;

  /** Holds numbers of [0, below). */
  constructor(below: number) {
    this.#members = new Int32Array(below);
    this.#places = new Int32Array(below).fill(-1);
  }

  get size(): number {
    return this.#size;
  }

  has(member: number): boolean {
    return (this.#places[member] ?? -1) >= 0;
  }

  /** Adds `member` to the set or removes it. */
  set(member: number, belongs: boolean): void {
    if (belongs === this.has(member)) return;
    if (belongs) this.#add(member);
    else this.#remove(member);
  }

  /** A uniformly random member; the set must not be empty. */
  pick(random: Random): number {
    const member = this.#members[random.integer(this.#size)];
    if (member === undefined || this.#size === 0) throw new RangeError('cannot pick from an empty set');
    return member;
  }

  #add(member: number): void {
    this.#members[this.#size] = member;
    this.#places[member] = this.#size;
    this.#size += 1;
  }

  #remove(member: number): void {
    const place = this.#places[member] ?? 0;
    const last = this.#members[this.#size - 1] ?? 0;
    this.#members[place] = last;
    this.#places[last] = place;
    this.#places[member] = -1;
    this.#size -= 1;
  }
}
