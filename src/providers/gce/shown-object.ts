// Looks into answers of which nothing is known.

export type Shown = Readonly<Record<string, unknown>>;

/** Without any member if it is no object. */
export function shownObject(value: unknown): Shown {
  return typeof value === 'object' && value !== null ? (value as Shown) : {};
}

/** The objects of a list; undefined if it is no list of objects. */
export function shownList(value: unknown): readonly Shown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const isEach = items.every((item) => typeof item === 'object' && item !== null);
  return isEach ? items.map(shownObject) : undefined;
}

/** The first of `values` that is a text, and not empty. */
export function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') as string | undefined;
}
