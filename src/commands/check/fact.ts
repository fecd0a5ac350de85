// Data that was read, or why it could not be.

export type Fact<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'unknown'; readonly problem: string };

export function known<T>(value: T): Fact<T> {
  return { kind: 'known', value };
}

export function unknown(problem: string): Extract<Fact<never>, { kind: 'unknown' }> {
  return { kind: 'unknown', problem };
}

/** The value; `otherwise` if it is not known. */
export function valueOf<T>(fact: Fact<T>, otherwise: T): T {
  return fact.kind === 'known' ? fact.value : otherwise;
}

/** The same of each of several things. */
export function mapped<T, U>(fact: Fact<readonly T[]>, of: (value: T) => U): Fact<readonly U[]> {
  return fact.kind === 'known' ? known(fact.value.map(of)) : fact;
}
