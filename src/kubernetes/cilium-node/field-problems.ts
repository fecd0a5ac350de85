// Describes an invalid field of an object: where it is, what it holds and what is accepted.

export interface FieldProblem {
  /** In kubectl notation: `spec.ipam.pools.requested[0].needed.ipv4-addrs`. */
  readonly field: string;
  readonly problem: string;
}

export type FieldPath = readonly (string | number)[];

/** Maximum problems kept per object; a last entry counts the rest. */
const maxProblems = 20;

/** Collects the problems of one object, bounded. */
export class FieldProblems {
  readonly #list: FieldProblem[] = [];
  #more = 0;

  add(path: FieldPath, found: unknown, accepted: string): void {
    this.addProblem(path, () => `found ${describe(found)} where ${accepted} is accepted`);
  }

  /** Adds a problem in the caller's own words. */
  addProblem(path: FieldPath, problem: () => string): void {
    if (this.#list.length < maxProblems) this.#list.push({ field: fieldText(path), problem: problem() });
    else this.#more++;
  }

  get list(): readonly FieldProblem[] {
    if (this.#list.length === 0) return none;
    if (this.#more === 0) return this.#list;
    return [...this.#list, { field: '', problem: `and ${this.#more} more` }];
  }
}

/** Shared: nearly every object is valid. */
const none: readonly FieldProblem[] = Object.freeze([]);

function fieldText(path: FieldPath): string {
  return path.map((part, index) => segmentText(part, index === 0)).join('');
}

function segmentText(part: string | number, isFirst: boolean): string {
  if (typeof part === 'number') return `[${part}]`;
  if (!/^[\w-]{1,80}$/.test(part)) return `[${describe(part)}]`;
  return isFirst ? part : `.${part}`;
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  // Only the start: the value may be a megabyte.
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, 100) : value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
