// Shortens lists of names for people.

/** Names shown of a list. */
const maxNamed = 3;

/** Such as `3 CiliumNodes (a, b, c)`. */
export function countedNames(names: readonly string[], noun: string): string {
  const more = names.length - maxNamed;
  const shown = names.slice(0, maxNamed).join(', ');
  return `${names.length} ${noun}${names.length === 1 ? '' : 's'} (${shown}${more > 0 ? ` and ${more} more` : ''})`;
}
