// Parses tag maps as cilium-operator does, from a flag, a variable or the cilium-config ConfigMap.
import { objectIn, textsAt } from '../runtime/json.ts';

export type Tags = Readonly<Record<string, string>>;

/**
 * Parses `key=value,key=value`, the same separated by spaces as Cilium's chart writes lists, or a JSON object of
 * strings; undefined otherwise. A comma without a following `key=` belongs to the value before it, as in the operator:
 * `zones=a,b,team=net` has two keys. A space belongs to its key or value unless every word is a pair. If only some
 * words are pairs, the text is ambiguous and rejected.
 */
export function parseTags(text: string): Tags | undefined {
  return /^[[{]/.test(text) ? parseTexts(text) : parsePairs(text);
}

/** A JSON object of texts, of which each has a name; undefined if the text is none. */
export function parseTexts(text: string): Tags | undefined {
  const object = objectIn(text);
  const isTexts =
    object !== undefined &&
    Object.entries(object).every(([name, value]) => name !== '' && typeof value === 'string');
  return isTexts ? textsAt(object) : undefined;
}

function parsePairs(text: string): Tags | undefined {
  const pairs: [key: string, value: string][] = [];
  for (const segment of text.split(',').flatMap(wordsOrWhole)) {
    const equals = segment.indexOf('=');
    const last = pairs.at(-1);
    if (isTwoFold(segment)) return undefined;
    if (equals > 0) pairs.push([segment.slice(0, equals).trim(), segment.slice(equals + 1).trim()]);
    else if (equals === 0 || (last === undefined && segment !== '')) return undefined;
    else if (last !== undefined && segment !== '') last[1] += `,${segment}`;
  }
  return Object.fromEntries(pairs);
}

/** The single words if every one is a pair, else the whole. */
function wordsOrWhole(segment: string): readonly string[] {
  const words = segment.trim().split(/\s+/);
  return words.every((word) => word.indexOf('=') > 0) ? words : [segment.trim()];
}

/** Whether more than one of its words may start a pair. */
function isTwoFold(segment: string): boolean {
  return segment.split(/\s+/).filter((word) => word.includes('=')).length > 1;
}
