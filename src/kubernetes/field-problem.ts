// How we say that a field of an object is wrong: where, what is there, and what would be accepted.

export interface FieldProblem {
  /** As kubectl users write it: `spec.ipam.pools.requested[0].needed.ipv4-addrs`. */
  readonly field: string;
  readonly problem: string;
}

export type FieldPath = readonly (string | number)[];

/** No more problems of one object are kept; the last then says how many there are besides. */
const mostProblems = 20;

export function fieldProblem(path: FieldPath, found: unknown, accepted: string): FieldProblem {
  return { field: fieldText(path), problem: `found ${describe(found)} where ${accepted} is accepted` };
}

/** Collects what is wrong with one object, bounded however much it is. */
export class FieldProblems {
  readonly #list: FieldProblem[] = [];
  #more = 0;

  add(path: FieldPath, found: unknown, accepted: string): void {
    if (this.#list.length < mostProblems) this.#list.push(fieldProblem(path, found, accepted));
    else this.#more++;
  }

  get list(): readonly FieldProblem[] {
    if (this.#list.length === 0) return none;
    if (this.#more === 0) return this.#list;
    return [...this.#list, { field: '', problem: `and ${this.#more} more` }];
  }
}

/** One for all: nearly every object is in order. */
const none: readonly FieldProblem[] = Object.freeze([]);

function fieldText(path: FieldPath): string {
  return path.map((part, index) => segmentText(part, index === 0)).join('');
}

function segmentText(part: string | number, isFirst: boolean): string {
  if (typeof part === 'number') return `[${part}]`;
  if (!/^[\w-]+$/.test(part)) return `[${JSON.stringify(part)}]`;
  return isFirst ? part : `.${part}`;
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
