// Shortens lists of names for people.
import { counted } from '../status/words.ts';

/** Names shown of a list. */
const maxNamed = 3;

/** Such as `3 CiliumNodes (a, b, c)`. `named`: names, or what has one. */
export function countedNames(named: readonly (string | { readonly name: string })[], noun: string): string {
  const more = named.length - maxNamed;
  const shown = named.slice(0, maxNamed).map((each) => (typeof each === 'string' ? each : each.name));
  return `${counted(named.length, noun)} (${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
}
