// Maps of tags as cilium-operator reads them from a flag, a variable or the cilium-config ConfigMap.

export type Tags = Readonly<Record<string, string>>;

/**
 * Reads `key=value,key=value`, or a JSON object of texts; undefined when it is neither. A comma that no `key=` follows
 * belongs to the value before it, as with the operator: `zones=a,b,team=net` has two keys.
 */
export function parseTags(text: string): Tags | undefined {
  return /^[[{]/.test(text) ? parseObject(text) : parsePairs(text);
}

function parseObject(text: string): Tags | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined; // what is no JSON is no map either, and that is all the caller asks
  }
  if (Array.isArray(parsed)) return undefined;
  const entries = Object.entries(parsed as object);
  return entries.every((entry): entry is [string, string] => entry[0] !== '' && typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : undefined;
}

function parsePairs(text: string): Tags | undefined {
  const pairs: [key: string, value: string][] = [];
  for (const segment of text.split(',').map((each) => each.trim())) {
    const equals = segment.indexOf('=');
    const last = pairs.at(-1);
    if (equals > 0) pairs.push([segment.slice(0, equals).trim(), segment.slice(equals + 1).trim()]);
    else if (equals === 0 || (last === undefined && segment !== '')) return undefined;
    else if (last !== undefined && segment !== '') last[1] += `,${segment}`;
  }
  return Object.fromEntries(pairs);
}
